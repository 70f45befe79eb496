import type { Bundle } from './bundle.ts';
import type { Clock } from './ports.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Where specs come from. Cold: only the crib starts and closes it. */
export interface Source {
  readonly name: string;
  /** Lets what it says about effects, policy, tags and category stand; else it can only raise caution. */
  readonly trust?: boolean;
  /** The bundle its tools belong to: its own name if absent, none if `false`. */
  readonly bundle?: string | false;
  /** The kinds its specs may carry; any kind if absent. */
  readonly kinds?: readonly string[];
  /** The owner's last word about its specs, after trust was judged: names, corrections, what is left out. */
  adjust?(specs: readonly ToolSpec[]): readonly ToolSpec[];
  start(context: SourceContext): Promise<LiveSource>;
}

export interface SourceContext {
  readonly clock: Clock;
  readonly services: Readonly<Record<string, unknown>>;
  /** Aborts when the crib closes. */
  readonly signal: AbortSignal;
  /** Reports what the source had to leave out. */
  warn(message: string): void;
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
  close(): Promise<void>;
}

export interface SourceStatus {
  readonly state: 'ready' | 'down' | 'failed';
  readonly reason?: string;
}
