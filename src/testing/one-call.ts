import { ok } from 'node:assert/strict';
import type { Executor } from '../core/executor.ts';
import { freezeJson, isJson, type JsonObject, type MaybePromise } from '../core/json.ts';
import { messageOf, TOOL_ERROR_CODES, toolError } from '../core/tool-error.ts';
import { type DoneResult, failed, isContent, type ToolResult } from '../core/tool-result.ts';
import { createRun, type Run, type ToolSpec } from '../core/tool-spec.ts';
import { type TestCall, testCall } from './test-call.ts';

/** A law that has to wait longer than this is broken. */
const PATIENCE_MS = 20_000;

/** Runs a test with an executor of its own, which is closed whatever becomes of it. */
export async function withExecutor(
  subject: ExecutorSubject,
  test: (executor: Executor) => MaybePromise<void>,
): Promise<void> {
  const executor = await subject.create();
  try {
    await test(executor);
  } finally {
    await within(Promise.resolve(executor.close?.()), 'close() does not end.');
  }
}

/** A call on its way. */
export interface StartedCall {
  readonly call: TestCall;
  readonly result: Promise<ToolResult>;
}

/** Starts a call as a crib would: with frozen arguments and a sealed run. `prepare` sees it before the executor does. */
export function startCall(
  executor: Executor,
  given: ContractCase,
  prepare: (call: TestCall) => void = () => {},
): StartedCall {
  const input: JsonObject = freezeJson(structuredClone(given.input ?? {}));
  const call = testCall({ run: given.run, input, ...(given.spec !== undefined && { spec: given.spec }) });
  prepare(call);
  return { call, result: within(settle(executor, call, createRun(given.run)), 'The call does not end.') };
}

/** Calls and waits for the result. */
export function callOnce(executor: Executor, given: ContractCase): Promise<ToolResult> {
  return startCall(executor, given).result;
}

/** What becomes of a call: a throw is a failure, as in a crib. Rejects where what comes back breaks the contract. */
export async function settle(executor: Executor, call: TestCall, run: Run): Promise<ToolResult> {
  let result: ToolResult;
  try {
    result = await executor.execute(call, run);
  } catch (cause) {
    ok(cause instanceof Error, `It throws something that is no Error: ${String(cause)}`);
    result = failed(toolError('tool_error', messageOf(cause, ''), { cause }));
  }
  requireResult(result);
  return result;
}

function requireResult(result: ToolResult): void {
  ok(typeof result === 'object' && result !== null, 'It answers with something that is no ToolResult.');
  const { ok: isOk, status } = result;
  ok((status === 'done') === isOk && ['done', 'failed', 'waiting'].includes(status), `No result: status ${status}.`);
  if (status === 'waiting') return;
  const { content = [], data } = result;
  ok(Array.isArray(content) && content.every(isContent), 'The content of its answer is no list of content.');
  ok(data === undefined || isJson(data), 'The data of its answer is not JSON.');
  if (status !== 'failed') return;
  const { code, message, retryable } = result.error;
  ok(TOOL_ERROR_CODES.includes(code), `It fails with a code that nobody knows: ${code}.`);
  ok(typeof message === 'string' && message !== '', 'It fails without a message.');
  ok(typeof retryable === 'boolean', 'Its failure does not say whether it is retryable.');
}

/** Texts of a run that are too short to give anything away. */
const TELLING_LENGTH = 8;

/** Throws if a text repeats one of these, or a whole text of the run that is none of the arguments. */
export function sayNothing(text: string, unspeakable: readonly string[], given?: ContractCase): void {
  const ofRun = given === undefined ? [] : textsIn(given.run);
  const ofInput = given === undefined ? [] : textsIn(given.input ?? {});
  const telling = ofRun.filter((part) => part.length >= TELLING_LENGTH && !ofInput.includes(part));
  const told = [...unspeakable, ...telling].find((part) => text.includes(part));
  ok(told === undefined, 'A message tells how the tool runs, or a secret.');
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The same promise, or a rejection where it takes for ever. */
export function within<T>(work: Promise<T>, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), PATIENCE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

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
