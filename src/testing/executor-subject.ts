import type { Executor } from '../core/executor.ts';
import type { JsonObject, MaybePromise } from '../core/json.ts';
import type { DoneResult, ToolResult } from '../core/tool-result.ts';
import type { Run, ToolSpec } from '../core/tool-spec.ts';

/** A tool and arguments to call it with. */
export interface ContractCase {
  readonly run: Run;
  /** The arguments; none if absent. */
  readonly input?: JsonObject;
  /** What else the tool's spec says, such as the schema of its arguments. */
  readonly spec?: Partial<ToolSpec>;
}

/** A call that succeeds. */
export interface WorkingCase extends ContractCase {
  /** Throws if this is not the answer. */
  expect(result: DoneResult): MaybePromise<void>;
}

/** A call that cannot succeed. */
export interface FailingCase extends ContractCase {
  /** What the failure is, if it must be a certain one. Throws if it is another. */
  expect?(result: Exclude<ToolResult, DoneResult>): MaybePromise<void>;
}

/** A call that would never end by itself. */
export interface HangingCase extends ContractCase {
  /** Resolves when the work of the newest call has begun. */
  begun(): Promise<void>;
  /** True if nothing of the work is left: no process, no socket, no file. It may wait for what others have to notice. */
  isGone(): MaybePromise<boolean>;
}

/** A run that must not be let in, and what is wrong with it, for the name of its test. */
export interface BadRun {
  readonly what: string;
  readonly run: Run;
  readonly spec?: Partial<ToolSpec>;
}

/** An executor to be tested, and what it can be tested with. Laws for which there is no case are left out. */
export interface ExecutorSubject {
  /** Makes one of its own for each test, which closes it. */
  create(): MaybePromise<Executor>;
  /** At least two, with different answers: that calls are mixed up shows only so. */
  readonly works: readonly [WorkingCase, WorkingCase, ...WorkingCase[]];
  readonly fails?: readonly FailingCase[];
  readonly hangs?: HangingCase;
  /** Answers with more than the executor reads. */
  readonly floods?: ContractCase;
  readonly badRuns: readonly BadRun[];
  /** Texts that no failure may repeat, such as the secrets that a run names. */
  readonly unspeakable?: readonly string[];
}
