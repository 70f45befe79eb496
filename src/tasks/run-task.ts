import type { Caller, Recheck } from '../core/caller.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { StoredTask, StoredTasks, TaskRun } from '../core/ports/stored-tasks.ts';
import { redactData, redactResult } from '../core/redact-result.ts';
import type { Progress } from '../core/tool-call.ts';
import { messageOf, ToolcribError, type ToolError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import type { TaskSettings } from './task-settings.ts';

/** A chest as tasks use it. */
export interface TaskChest {
  /** Makes the call of a task. */
  run(task: StoredTask, call: RunningCall): Promise<ToolResult>;
  /** Records the refusal of a task that does not run. */
  refuse(task: StoredTask, error: ToolError): Promise<ToolResult>;
}

/** The parts of a task's call that live in this process. */
interface RunningCall {
  readonly signal: AbortSignal;
  readonly run: TaskRun;
  onProgress(progress: Progress): void;
}

/** The crib as a running task sees it. */
export interface RunTaskPorts {
  readonly tasks: StoredTasks;
  settings(): TaskSettings;
  /** Opens the chest that the task was submitted in. Rejects with a `ToolcribError` if the caller may no longer open it. */
  openAgain(made: { readonly profile: string; readonly caller: Caller }): Promise<TaskChest>;
  readonly recheck: Recheck;
  /** True if the tool may be listed later: its source is not ready, or only another process has the tool. */
  mayBeListedLater(task: StoredTask): boolean;
  readonly clock: Clock;
  /** A clock that goes on while the machine sleeps. */
  readonly calendar: Pick<Clock, 'now'>;
  redact(text: string): string;
  /** Announces the approval requests of a batch that was sealed. */
  announceBatch(batch: string): Promise<void>;
  /** Withdraws the approval requests that a script waits for. */
  withdrawBatch(batch: string): Promise<void>;
  /** Tells the webhook of a task that it has ended. */
  announce(task: StoredTask, result: ToolResult): void;
  warn(message: string): void;
}

/** Runs a claimed task and stores what became of it. Resolves when that is stored, or owed to the store. */
export async function runTask(task: StoredTask, ports: RunTaskPorts, ending: OutsideEnd): Promise<void> {
  const run: TaskRun = { hasBegun: false };
  let result: ToolResult;
  try {
    result = await callTool(task, ports, { signal: ending.signal, run, onProgress: noting(task, ports) });
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    // The store did not answer before the call: it has not begun.
    result = failed(toolError('unavailable', messageOf(cause), { retryable: true, cause }));
  }
  ending.onAnswered();
  try {
    await settle(task, result, { ports, ending, run });
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause; // the end is written with the next heartbeat
  }
}

/** How a task may be ended from outside. */
export interface OutsideEnd {
  readonly signal: AbortSignal;
  /** True if this process stops; then a task that may run again is left to others. */
  isStopping(): boolean;
  /** Called when the call has its result, before that is stored. */
  onAnswered(): void;
}

async function callTool(task: StoredTask, ports: RunTaskPorts, running: RunningCall): Promise<ToolResult> {
  const { caller, profile } = task;
  let chest: TaskChest;
  try {
    chest = await ports.openAgain({ profile, caller });
  } catch (cause) {
    if (!(cause instanceof ToolcribError) || cause.code === 'store_unavailable') throw cause;
    const message = `"${task.tool}" cannot be run: the profile "${profile}" was removed, or the caller may no longer open it.`;
    return failed(toolError('denied', message, { cause }));
  }
  const cancelled = alreadyCancelled(task);
  if (cancelled !== undefined && task.batch !== undefined) await ports.withdrawBatch(task.batch);
  const refusal = (await whyNot(task, ports)) ?? cancelled;
  return refusal === undefined ? chest.run(task, running) : chest.refuse(task, refusal);
}

/** Its end was requested just before its last run was postponed or lost. */
function alreadyCancelled({ tool, cancelledBy }: StoredTask): ToolError | undefined {
  return cancelledBy === undefined ? undefined : cancelledResult(tool, cancelledBy).error;
}

/** The reason why the caller may no longer call, or must identify itself again. */
async function whyNot(
  { tool, caller, profile, identifiedAt }: StoredTask,
  { recheck, settings, calendar }: RunTaskPorts,
): Promise<ToolError | undefined> {
  const lost = await recheck(caller, profile);
  if (lost !== undefined)
    return toolError('denied', `"${tool}" was not run: its caller lost the right to call it, because ${lost}.`);
  const { maxIdentityMs } = settings();
  if (caller.credential?.kind !== 'token' || calendar.now() - identifiedAt <= maxIdentityMs) return undefined;
  const message = `"${tool}" was not run: its caller was identified by a token more than ${maxIdentityMs} ms ago, and a token cannot be confirmed (tasks.maxIdentityMs). Submit the call again with a new token.`;
  return toolError('unauthenticated', message);
}

const PROGRESS_MS = 1000;

/** Tells the progress to the followers in this process, and stores the latest one without secrets, at most once a second. */
function noting({ id }: StoredTask, { tasks, clock, redact }: RunTaskPorts): (progress: Progress) => void {
  let notedAt = Number.NEGATIVE_INFINITY;
  return (progress) => {
    tasks.tellProgress(id, progress);
    if (clock.now() - notedAt < PROGRESS_MS) return;
    notedAt = clock.now();
    tasks.noteProgress(id, redactData(progress, redact)).catch(() => undefined); // progress may be lost
  };
}

interface Settling {
  readonly ports: RunTaskPorts;
  readonly ending: OutsideEnd;
  readonly run: TaskRun;
}

/** Errors of a call whose approval was used by another call. */
const USED_UP: readonly ToolErrorCode[] = ['conflict', 'unknown_outcome'];
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

async function settle(task: StoredTask, result: ToolResult, { ports, ending, run }: Settling): Promise<void> {
  const { tasks } = ports;
  const { id, attempts, approvalId } = task;
  if (result.status === 'waiting' && result.waiting.for === 'approval') {
    const { wait } = run;
    const isWaiting = await tasks.await(id, result.waiting.id, wait);
    if (isWaiting && wait !== undefined) await ports.announceBatch(wait.batch);
    return;
  }
  const error = result.status === 'failed' ? result.error : undefined;
  if (ending.isStopping() && error?.code === 'cancelled')
    return run.hasBegun && !task.isRepeatable
      ? finish(task, stoppedResult(task), ports)
      : tasks.postpone(id, { pauseMs: 0, ...kept(approvalId) });
  if (error !== undefined && !run.hasBegun && !ending.signal.aborted) {
    const backoffMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempts, 10), LONGEST_PAUSE_MS);
    const pauseMs = Math.max(error.retryAfterMs ?? 0, backoffMs);
    // Another call of the same caller used the answer: request a new one.
    if (USED_UP.includes(error.code) && approvalId !== undefined) return tasks.postpone(id, { pauseMs: 0 });
    // This process cannot run it now. It or another one may later.
    const isLeft = error.code === 'unavailable' || (error.code === 'unknown_tool' && ports.mayBeListedLater(task));
    const isAwaited = task.call.isAwaited === true;
    if (!isAwaited && (error.retryable || isLeft)) return tasks.postpone(id, { pauseMs, ...kept(approvalId) });
  }
  await finish(task, result.status === 'waiting' ? cannotAsk(task) : result, ports);
}

function kept(approvalId: string | undefined): { readonly approvalId?: string } {
  return approvalId === undefined ? {} : { approvalId };
}

/** Stores the end of a task and tells its webhook. */
async function finish(task: StoredTask, ended: ToolResult, ports: RunTaskPorts): Promise<void> {
  const result = redactResult(ended, ports.redact);
  const outcome = result.status === 'failed' ? result.error.code : result.status;
  const end = { outcome, result, instead: notKept(task), bounds: ports.settings() };
  const isEnd = await ports.tasks.finish(task.id, end).catch((cause) => {
    if (cause instanceof ToolcribError) return true; // written with a later heartbeat
    throw cause;
  });
  if (isEnd) ports.announce({ ...task, state: 'done', outcome }, result);
}

function notKept({ tool }: StoredTask): FailedResult {
  const why = 'its result was too large to store (tasks.maxBytesPerCaller or maxTotalBytes)';
  return failed(toolError('too_large', `The background call of "${tool}" ended, but ${why}.`));
}

function cannotAsk({ tool, call }: StoredTask): FailedResult {
  const why = call.isAwaited === true ? 'a call that runs on a worker cannot give' : 'a background call cannot give';
  const cure = call.isAwaited === true ? 'Remove runOn: worker from its source.' : 'Call it directly.';
  return failed(toolError('unavailable', `"${tool}" asks its client for more input, which ${why}. ${cure}`));
}

/** The result of a task that did not begin in time. */
export function expiredResult({ tool, createdAt }: StoredTask): FailedResult {
  const since = new Date(createdAt).toISOString();
  return failed(
    toolError('timeout', `The background call of "${tool}" did not begin in time (submitted at ${since}).`),
  );
}

function stoppedResult({ tool }: StoredTask): FailedResult {
  const message = `The process that ran "${tool}" stopped before the call ended. Check whether it took effect before you submit it again.`;
  return failed(toolError('unknown_outcome', message));
}

/** The result of a task that was cancelled before it began. */
export function cancelledResult(tool: string, by: string): FailedResult {
  return failed(toolError('cancelled', `The background call of "${tool}" was cancelled by ${by} before it began.`));
}
