import type { Bundle } from './bundle.ts';
import type { Clock } from './ports.ts';
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
  /** How long its start may take before the others go on without it; 10 s if absent. */
  readonly startTimeoutMs?: number;
  start(context: SourceContext): Promise<LiveSource>;
}

export interface SourceContext {
  readonly clock: Clock;
  readonly services: Readonly<Record<string, unknown>>;
  /** Aborts when the crib closes. */
  readonly signal: AbortSignal;
  /** Reports what the source had to leave out. */
  warn(message: string): void;
  /** For sources that remember which of their specs were found good. */
  readonly admission?: Admission;
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
  /** `starting` while it learns its first list in the background. */
  readonly state: 'ready' | 'down' | 'failed' | 'starting';
  readonly reason?: string;
}
