import { hasBegun } from '../core/begun-runs.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import { type CallFacts, FACTS } from '../core/tool-call.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

type Listener = (reason: ToolError) => void;

/** The key that marks the end of the crib or its server as a reason. Its meaning for a call depends on how far the call is. */
const ENDING: unique symbol = Symbol('toolcrib.ending');

function ending(error: ToolError): ToolError {
  return Object.defineProperty(error, ENDING, { value: true, enumerable: false });
}

/** The reason for ending calls when the crib or its server closes; `explainEnd` adapts it to each call. */
export function cribClosed(): ToolError {
  return ending(toolError('cancelled', 'The crib was closed.'));
}

/** Adapts the end of the crib or its server to a call; returns other reasons unchanged. */
export function explainEnd(reason: ToolError, spec: ToolSpec, facts: CallFacts): ToolError {
  return ENDING in reason ? ending(endOf(spec, facts)) : reason;
}

/** The error for a call that ends with the crib or its server. */
function endOf({ name, effects }: ToolSpec, facts: CallFacts): ToolError {
  const closed = 'The crib was closed before';
  if (!hasBegun({ [FACTS]: facts }))
    return toolError('cancelled', `${closed} "${name}" began, so it was not run. Call it again.`, { retryable: true });
  if (effects.readOnly === true || effects.idempotent === true)
    return toolError('cancelled', `${closed} "${name}" returned. It can be called again.`, { retryable: true });
  const message = `${closed} "${name}" returned. It may have taken effect: check before you call again.`;
  return toolError('unknown_outcome', message);
}

/** An owner that can explain a reason for itself. */
interface Explaining {
  explain(reason: ToolError): ToolError;
}

/** The cancellation state of a call or a part of it. Signals and subscriptions are created lazily. */
export class Cancellation {
  readonly #parent: Cancellation | undefined;
  readonly #outside: AbortSignal | undefined;
  readonly #owner: Explaining | undefined;
  #reason: ToolError | undefined;
  #controller: AbortController | undefined;
  #listeners: Set<Listener> | undefined;
  #stopFollowing: (() => void) | undefined;

  /** Follows `parent` and an external signal. */
  constructor(parent: Cancellation | undefined, outside?: AbortSignal, owner?: Explaining) {
    this.#parent = parent;
    this.#outside = outside;
    this.#owner = owner;
  }

  get reason(): ToolError | undefined {
    if (this.#reason !== undefined) return this.#reason;
    if (this.#outside?.aborted) return cancelled();
    const inherited = this.#parent?.reason;
    return inherited === undefined ? undefined : this.#explain(inherited);
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    this.#controller = new AbortController();
    const { reason } = this;
    if (reason === undefined) this.#follow();
    else this.#controller.abort(abortError(reason));
    return this.#controller.signal;
  }

  abort(reason: ToolError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(abortError(reason));
    for (const listener of this.#listeners ?? []) listener(reason);
    this.release();
  }

  /** Aborts all current followers, but no later ones. */
  abortFollowers(reason: ToolError): void {
    for (const listener of [...(this.#listeners ?? [])]) listener(reason);
  }

  onAbort(listener: Listener): () => void {
    const { reason } = this;
    if (reason !== undefined) {
      // Deferred, so that the caller can store the returned function first.
      queueMicrotask(() => listener(reason));
      return () => {};
    }
    this.#follow();
    this.#listeners ??= new Set();
    const listeners = this.#listeners;
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Unsubscribes from the parent and the external signal, which may live much longer. */
  release(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    this.#listeners = undefined;
  }

  #explain(reason: ToolError): ToolError {
    return this.#owner === undefined ? reason : this.#owner.explain(reason);
  }

  #follow(): void {
    if (this.#stopFollowing !== undefined) return;
    const outside = this.#outside;
    const onOutsideAbort = () => this.abort(cancelled());
    outside?.addEventListener('abort', onOutsideAbort, { once: true });
    const stopParent = this.#parent?.onAbort((reason) => this.abort(this.#explain(reason)));
    this.#stopFollowing = () => {
      outside?.removeEventListener('abort', onOutsideAbort);
      stopParent?.();
    };
  }
}

function cancelled(): ToolError {
  return toolError('cancelled', 'The call was cancelled.');
}

function abortError(reason: ToolError): Error {
  const name = reason.code === 'timeout' ? 'TimeoutError' : 'AbortError';
  return Object.assign(new Error(reason.message), { name });
}

/** Counts running work, so that closing can wait for it. */
export interface InFlight {
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when no work is running, or after `limitMs`. */
  drained(limitMs: number): Promise<void>;
}

export function createInFlight(clock: Clock): InFlight {
  let count = 0;
  let onIdle: (() => void) | undefined;
  const leave = () => {
    count--;
    if (count === 0) onIdle?.();
  };
  return {
    track(work) {
      count++;
      work.then(leave, leave);
      return work;
    },
    drained(limitMs) {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const stopTimer = clock.setTimer(limitMs, resolve);
        onIdle = () => {
          stopTimer();
          resolve();
        };
      });
    },
  };
}
