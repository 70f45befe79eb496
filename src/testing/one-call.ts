import { ok } from 'node:assert/strict';
import type { Executor } from '../core/executor.ts';
import { freezeJson, isJson, type JsonObject, type MaybePromise } from '../core/json.ts';
import { messageOf, TOOL_ERROR_CODES, toolError } from '../core/tool-error.ts';
import { type DoneResult, failed, isContent, type ToolResult } from '../core/tool-result.ts';
import { createRun, type Run, type ToolSpec } from '../core/tool-spec.ts';
import { type TestCall, testCall } from './test-call.ts';

/** Timeout of each step of a contract test. */
const PATIENCE_MS = 20_000;

/** Runs a test with its own executor, and always closes it. */
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

/** A running call. */
export interface StartedCall {
  readonly call: TestCall;
  readonly result: Promise<ToolResult>;
}

/** Starts a call like a crib: with frozen arguments and a sealed run. `prepare` gets the call before the executor. */
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

/** Makes a call and waits for its result. */
export function callOnce(executor: Executor, given: ContractCase): Promise<ToolResult> {
  return startCall(executor, given).result;
}

/** The result of a call; as in a crib, a thrown error is a failure. Rejects if the result breaks the contract. */
export async function settle(executor: Executor, call: TestCall, run: Run): Promise<ToolResult> {
  let result: ToolResult;
  try {
    result = await executor.execute(call, run);
  } catch (cause) {
    ok(cause instanceof Error, `The executor threw something that is not an Error: ${String(cause)}`);
    result = failed(toolError('tool_error', messageOf(cause, ''), { cause }));
  }
  requireResult(result);
  return result;
}

function requireResult(result: ToolResult): void {
  ok(typeof result === 'object' && result !== null, 'The executor returned something that is not a ToolResult.');
  const { ok: isOk, status } = result;
  ok(
    (status === 'done') === isOk && ['done', 'failed', 'waiting'].includes(status),
    `The status of the result is not valid: ${status}.`,
  );
  if (status === 'waiting') return;
  const { content = [], data } = result;
  ok(Array.isArray(content) && content.every(isContent), 'The content of the result is not a list of content parts.');
  ok(data === undefined || isJson(data), 'The data of the result is not JSON.');
  if (status !== 'failed') return;
  const { code, message, retryable } = result.error;
  ok(TOOL_ERROR_CODES.includes(code), `Unknown error code: ${code}.`);
  ok(typeof message === 'string' && message !== '', 'The error has no message.');
  ok(typeof retryable === 'boolean', 'retryable of the error is not a boolean.');
}

/** Shorter texts of a run are ignored: they reveal nothing. */
const TELLING_LENGTH = 8;

/** Throws if the text contains a forbidden text, or a text of the run that is not among the arguments. */
export function sayNothing(text: string, unspeakable: readonly string[], given?: ContractCase): void {
  const ofRun = given === undefined ? [] : textsIn(given.run);
  const ofInput = given === undefined ? [] : textsIn(given.input ?? {});
  const telling = ofRun.filter((part) => part.length >= TELLING_LENGTH && !ofInput.includes(part));
  const told = [...unspeakable, ...telling].find((part) => text.includes(part));
  ok(told === undefined, 'A message reveals how the tool runs, or a secret.');
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Rejects with the message `otherwise` if the promise does not settle in time. */
export function within<T>(work: Promise<T>, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), PATIENCE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A tool and the arguments of a call. */
export interface ContractCase {
  readonly run: Run;
  /** The arguments. Default: none. */
  readonly input?: JsonObject;
  /** Further members of the spec, such as the input schema. */
  readonly spec?: Partial<ToolSpec>;
}

/** A call that succeeds. */
export interface WorkingCase extends ContractCase {
  /** Throws if the result is wrong. */
  expect(result: DoneResult): MaybePromise<void>;
}

/** A call that fails. */
export interface FailingCase extends ContractCase {
  /** Throws if it is the wrong failure. Default: any failure is accepted. */
  expect?(result: Exclude<ToolResult, DoneResult>): MaybePromise<void>;
}

/** A call that hangs until it is aborted. */
export interface HangingCase extends ContractCase {
  /** Resolves when the work of the newest call has started. */
  begun(): Promise<void>;
  /** True if the work left nothing behind: no process, no socket, no file. It may wait for the cleanup. */
  isGone(): MaybePromise<boolean>;
}

/** An invalid run; `what` names the mistake in the test name. */
export interface BadRun {
  readonly what: string;
  readonly run: Run;
  readonly spec?: Partial<ToolSpec>;
}

/** The executor under test and its cases. Tests without a case are skipped. */
export interface ExecutorSubject {
  /** Creates a new executor for each test; the test closes it. */
  create(): MaybePromise<Executor>;
  /** At least two with different results, so that mixed-up calls are detected. */
  readonly works: readonly [WorkingCase, WorkingCase, ...WorkingCase[]];
  readonly fails?: readonly FailingCase[];
  readonly hangs?: HangingCase;
  /** A call whose result is larger than the executor reads. */
  readonly floods?: ContractCase;
  readonly badRuns: readonly BadRun[];
  /** Texts that no error may contain, such as secrets of a run. */
  readonly unspeakable?: readonly string[];
}
