import type { JsonSchema, MaybePromise } from './json.ts';
import type { ToolCall } from './tool-call.ts';
import type { ToolError } from './tool-error.ts';
import type { ToolResult } from './tool-result.ts';
import type { Run, ToolSpec } from './tool-spec.ts';

/** What the maker of an executor is given besides its options, where the configuration names it by module. */
export interface ExecutorContext {
  /** The folder of the configuration. */
  readonly folder: string;
  /** The text with its `${secret:NAME}` filled in, to be sent to this host; throws for a secret that is not bound to it. `$${` is a plain `${`. */
  fillSecrets(text: string, host: string): Promise<string>;
}

/** What the owner should know about the tools of one kind on this machine, in sentences. */
export interface ExecutorReview {
  /** What does not work, or is hardly meant. */
  readonly problems: readonly string[];
  /** What works otherwise than the owner may think. */
  readonly notes: readonly string[];
}

/** Runs calls of one kind: the only place that does I/O. It may throw, and honours `call.signal` to the end. */
export interface Executor {
  readonly kind: string;
  /** What a run of this kind looks like; checked when a spec is loaded. */
  readonly runSchema: JsonSchema;
  /** The cure for a run that its schema refuses, where it is clear what was meant. */
  cure?(run: Readonly<Record<string, unknown>>): string | undefined;
  /** What is wrong with a run that its schema cannot say, such as a placeholder that no argument fills; checked when a spec is loaded. */
  check?(run: Run, spec: ToolSpec): readonly string[];
  /** Why a call with these arguments would be refused. Asked before a person is: it starts nothing and changes nothing. */
  precheck?(call: ToolCall, run: Run): MaybePromise<ToolError | undefined>;
  /** Judges the tools of this kind together, for `check` and the start of a server. */
  review?(specs: readonly ToolSpec[]): MaybePromise<ExecutorReview>;
  execute(call: ToolCall, run: Run): MaybePromise<ToolResult>;
  close?(): Promise<void>;
  /** True if it takes the place of the executor of its kind, in code alone: `fakeExecutor` of `toolcrib/testing` says so. */
  readonly [REPLACES]?: true;
}

/** The key by which an executor says that it takes the place of another one. No configuration can write it. */
export const REPLACES: unique symbol = Symbol('toolcrib.replaces');
