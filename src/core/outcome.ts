/** What a change did: which names it took, and which it refused and why. `ok` only if nothing was refused. */
export interface Outcome {
  readonly ok: boolean;
  readonly applied: readonly string[];
  readonly rejected: readonly Rejection[];
}

/** A name that a change refused. */
export interface Rejection {
  readonly name: string;
  readonly reason: string;
}

/** Makes an `Outcome`. */
export function outcome(applied: readonly string[], rejected: readonly Rejection[] = []): Outcome {
  return { ok: rejected.length === 0, applied, rejected };
}
