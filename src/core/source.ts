import type { Bundle } from './bundle.ts';
import type { Clock } from './ports/crib-context.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Where specs come from. Cold: only the crib starts and closes it. */
export interface Source {
  readonly name: string;
  /** Lets what it says about effects, policy, tags and category stand; else it can only raise caution. */
  readonly trust?: boolean;
  /** True where the owner wrote its specs on this machine; a remote list is not local, whoever trusts it. */
  readonly isLocal?: boolean;
  /** The bundle its tools belong to: its own name if absent, none if `false`. */
  readonly bundle?: string | false;
  /** The kinds its specs may carry; any kind if absent. */
  readonly kinds?: readonly string[];
  /** The owner's last word about its specs, after trust was judged: names, corrections, what is left out. */
  adjust?(specs: readonly ToolSpec[]): readonly ToolSpec[];
  /** What the owner says about its specs and none of them is meant by, as sentences. */
  problems?(specs: readonly ToolSpec[]): readonly string[];
  /** An entry as a spec of this source, which lists what is kept in the store; throws for a bad one. Entries are taken over. */
  readStored?(entry: unknown): ToolSpec;
  /** How long its start may take; 60 s if absent. After 11 s the others go on without it, and it is `starting`. */
  readonly startTimeoutMs?: number;
  /** The same text as long as `start` would start the same: then an edit goes on with what runs. Absent: only this object. */
  connection?(): string;
  /** `stop`: an edit ends what runs at once. Absent: what runs answers until the edited entry has a list. */
  readonly onChange?: 'stop';
  /** False if what it started may not go on after an edit, because a secret or a host of it was taken away. */
  mayStay?(): boolean;
  /** Why the entry of now cannot be read; this source stands for the entry from before. */
  readonly mistake?: string;
  /** True if it reads what lies beside the configuration and does not watch that: an edit there reads it again. */
  readonly isBeside?: boolean;
  /** Called when its settings come into force, also over what an older source of this name has started. */
  onUse?(): void;
  start(context: SourceContext): Promise<LiveSource>;
}

export interface SourceContext {
  readonly clock: Clock;
  readonly services: Readonly<Record<string, unknown>>;
  /** Aborts when the crib closes. */
  readonly signal: AbortSignal;
  /** Reports what the source had to leave out. */
  warn(message: string): void;
  /** Takes what the program of a source prints besides its answers, as it comes. */
  onOutput?(source: string, printed: Uint8Array): void;
  /** For sources that remember which of their specs were found good. */
  readonly admission?: Admission;
  /** True where another one answers until this one has a list of its own: a list that was kept does not count, and `takeOver` follows. */
  readonly isSuccessor?: boolean;
}

/** How a crib judges what specs say about how they run, and their schemas. */
export interface Admission {
  /** Text that differs if the crib judges by other rules. */
  rules(): string;
  /** True for a spec about which there is nothing to complain. */
  admits(spec: ToolSpec): boolean;
}

/** A started source. */
export interface LiveSource {
  specs(): readonly ToolSpec[];
  /** Where one of its specs was written, such as file and line; absent where that cannot be told. */
  placeOf?(spec: ToolSpec): string | undefined;
  /** Resolves when its first list is there or could not be had; absent where `start` waited for that. */
  readonly listed?: Promise<unknown>;
  /** Resolves when its program has started, could not be started, or does nothing for a while: ending it before would leave it half installed. Absent where there is no such program. */
  installed?(): Promise<unknown>;
  /** Called on a successor that takes the place of the one before. */
  takeOver?(): void;
  /** Bundles it brings besides its home; the tools of each are among its specs. */
  bundles?(): readonly Bundle[];
  onChange(listener: () => void): () => void;
  status(): SourceStatus;
  /** Reads everything again; `onChange` or the next `specs()` shows the difference. */
  refresh?(): Promise<void>;
  /** The end of what its program says besides answering, for its owner. */
  output?(): string;
  close(): Promise<void>;
}

export interface SourceStatus {
  /** `starting` while it learns its first list and the others go on; the reason says how far it is; `stale` while an older connection answers for an edited entry. */
  readonly state: 'ready' | 'down' | 'failed' | 'starting' | 'stale';
  readonly reason?: string;
  /** Since when an older connection answers, in milliseconds since 1970. */
  readonly since?: number;
}
