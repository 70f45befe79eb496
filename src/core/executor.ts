import type { JsonSchema, MaybePromise } from './json.ts';
import type { ToolCall } from './tool-call.ts';
import type { ToolError } from './tool-error.ts';
import type { ToolResult } from './tool-result.ts';
import type { Run, ToolSpec } from './tool-spec.ts';

/** Context for creating an executor that the configuration names by module. */
export interface ExecutorContext {
  /** The folder of the configuration. */
  readonly folder: string;
  /** Fills in `${secret:NAME}` for a text that is sent to this host; throws if a secret is not bound to the host. `$${` is a literal `${`. */
  fillSecrets(text: string, host: string): Promise<string>;
}

/** Messages for the operator about the tools of one kind on this machine. */
export interface ExecutorReview {
  /** Tools that do not work, or probably not as intended. */
  readonly problems: readonly string[];
  /** Tools that work differently than the operator may expect. */
  readonly notes: readonly string[];
}

/** Runs the calls of one kind; the only place that does I/O. It may throw, and must stop when `call.signal` aborts. */
export interface Executor {
  readonly kind: string;
  /** JSON Schema of a run of this kind; checked when a spec is loaded. */
  readonly runSchema: JsonSchema;
  /** A hint how to fix a run that the schema rejects, if the intention is clear. */
  cure?(run: Readonly<Record<string, unknown>>): string | undefined;
  /** Problems of a run that a schema cannot express, such as a placeholder without an argument; checked when a spec is loaded. */
  check?(run: Run, spec: ToolSpec): readonly string[];
  /** True if the run executes files of this machine. Such a spec is checked at every start, so that `check` can record them. */
  runsFiles?(run: Run, spec: ToolSpec): boolean;
  /** The reason why a call with these arguments would be refused. It runs before an approval is requested, and must not start or change anything. */
  precheck?(call: ToolCall, run: Run): MaybePromise<ToolError | undefined>;
  /** Checks all tools of this kind together, for `check` and at the start of a server. */
  review?(specs: readonly ToolSpec[]): MaybePromise<ExecutorReview>;
  execute(call: ToolCall, run: Run): MaybePromise<ToolResult>;
  close?(): Promise<void>;
  /** True if it replaces the executor of its kind. Only code can set it: `fakeExecutor` of `toolcrib/testing` does. */
  readonly [REPLACES]?: true;
}

/** The key that marks an executor as a replacement. A configuration cannot set it. */
export const REPLACES: unique symbol = Symbol('toolcrib.replaces');
