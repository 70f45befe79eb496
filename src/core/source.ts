import type { Bundle } from './bundle.ts';
import type { Clock } from './ports/crib-context.ts';
import type { ToolSpec } from './tool-spec.ts';

/** A place where tools come from. Creating one does no work: the crib starts and closes it. */
export interface Source {
  readonly name: string;
  /** True if its claims about effects, policy, tags and category count. Otherwise they can only raise caution. */
  readonly trust?: boolean;
  /** True if the operator wrote its specs on this machine. A remote list is not local, even if trusted. */
  readonly isLocal?: boolean;
  /** The bundle of its tools: the source's name if absent, no bundle if `false`. */
  readonly bundle?: string | false;
  /** The kinds its specs may carry; any kind if absent. */
  readonly kinds?: readonly string[];
  /** Applies the operator's overrides after trust was applied: names, corrections, omissions. */
  adjust?(specs: readonly ToolSpec[]): readonly ToolSpec[];
  /** Messages about settings that match none of its tools: the specs that `adjust` returned, and the original names of those that it left out. */
  problems?(specs: readonly ToolSpec[], excluded: readonly string[]): readonly string[];
  /** Reads an entry of the store as a spec of this source; throws for an invalid one. It may take ownership of the entry. */
  readStored?(entry: unknown): ToolSpec;
  /** Start timeout; default 60 s. After 11 s the other sources continue without it, and it is `starting`. */
  readonly startTimeoutMs?: number;
  /** A text that changes if `start` would start something else. If it is unchanged, an edit keeps what is running. Absent: only this object matches. */
  connection?(): string;
  /** `stop`: an edit stops what is running at once. Absent: it answers until the edited entry has a list. */
  readonly onChange?: 'stop';
  /** False if what is running must stop after an edit, because a secret or host was removed. */
  mayStay?(): boolean;
  /** The reason why the current entry cannot be read. This source then still uses the previous entry. */
  readonly mistake?: string;
  /** `worker`: only workers start it. Other processes list its tools as a worker stored them, and hand their calls to workers. */
  readonly runOn?: 'worker';
  /** True if only workers start it and this process does not. */
  readonly isElsewhere?: true;
  /** True if it reads files next to the configuration without watching them: an edit there reloads it. */
  readonly isBeside?: boolean;
  /** Receives a spec that was not accepted, for sources whose specs name files of this machine. */
  onRefused?(spec: { readonly run: object }): void;
  /** Called when its settings take effect, even if an older source of this name keeps running. */
  onUse?(): void;
  start(context: SourceContext): Promise<LiveSource>;
}

export interface SourceContext {
  readonly clock: Clock;
  readonly services: Readonly<Record<string, unknown>>;
  /** Aborts when the crib closes. */
  readonly signal: AbortSignal;
  /** Reports what the source left out. */
  warn(message: string): void;
  /** Receives what the program of a source prints besides its answers. */
  onOutput?(source: string, printed: Uint8Array): void;
  /** For sources that cache which of their specs were valid. */
  readonly admission?: Admission;
  /** True if an older source answers until this one has a list of its own. A cached list does not count, and `takeOver` follows. */
  readonly isSuccessor?: boolean;
}

/** Validates the runs and schemas of specs. */
export interface Admission {
  /** A text that changes with the validation rules. */
  rules(): string;
  /** True if a spec is valid. */
  admits(spec: ToolSpec): boolean;
  /** True if a valid spec must be checked again at every start, because of the files that it runs. */
  isCheckedAnew(spec: ToolSpec): boolean;
}

/** A started source. */
export interface LiveSource {
  specs(): readonly ToolSpec[];
  /** The place where a spec was written, such as file and line; absent if unknown. */
  placeOf?(spec: ToolSpec): string | undefined;
  /** Resolves when the first list is available or has failed; absent if `start` waits for it. */
  readonly listed?: Promise<unknown>;
  /** Resolves when its program has started, failed to start, or is idle. Stopping it earlier could leave it half installed. Absent without such a program. */
  installed?(): Promise<unknown>;
  /** Called when it replaces an older source. */
  takeOver?(): void;
  /** Bundles of the source besides its own. Their tools are among its specs. */
  bundles?(): readonly Bundle[];
  onChange(listener: () => void): () => void;
  status(): SourceStatus;
  /** Reads everything again; `onChange` or the next `specs()` shows changes. */
  refresh?(): Promise<void>;
  /** The last output of its program besides its answers, for the operator. */
  output?(): string;
  close(): Promise<void>;
}

export interface SourceStatus {
  /** `starting`: the first list is pending, and the reason reports the progress. `stale`: an older connection answers for an edited entry. */
  readonly state: 'ready' | 'down' | 'failed' | 'starting' | 'stale';
  readonly reason?: string;
  /** Start of the `stale` state, in milliseconds since 1970. */
  readonly since?: number;
}

/** A source that every crib has, and its traits. */
interface BuiltInSource {
  readonly name: string;
  /** `tool`: its tools share no server, so each of them fails alone, whatever its kind says. */
  readonly failsWith?: 'tool';
}

/** The source of tools defined in code. */
export const CODE: BuiltInSource = { name: 'code', failsWith: 'tool' };
/** The source of specs written in the configuration. */
export const INLINE: BuiltInSource = { name: 'inline', failsWith: 'tool' };

/** The traits of a source by its name; a configured source has none, and a server may be behind its tools. */
export function sourceTraitsOf(source: string): Omit<BuiltInSource, 'name'> {
  return [CODE, INLINE].find(({ name }) => name === source) ?? {};
}
