import type { JsonSchema, MaybePromise } from './json.ts';
import type { ToolCall } from './tool-call.ts';
import type { ToolResult } from './tool-result.ts';
import type { Run, ToolSpec } from './tool-spec.ts';

/** Runs calls of one kind: the only place that does I/O. It may throw, and honours `call.signal` to the end. */
export interface Executor {
  readonly kind: string;
  /** What a run of this kind looks like; checked when a spec is loaded. */
  readonly runSchema: JsonSchema;
  /** What is wrong with a run that its schema cannot say, such as a placeholder that no argument fills; checked when a spec is loaded. */
  check?(run: Run, spec: ToolSpec): readonly string[];
  execute(call: ToolCall, run: Run): MaybePromise<ToolResult>;
  close?(): Promise<void>;
}
