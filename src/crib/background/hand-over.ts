import { callerOf } from '../../approvals/ask-callback.ts';
import type { ApprovalPoller } from '../../approvals/poller.ts';
import type { Call } from '../../call/call.ts';
import { beginRun, startCallTimer } from '../../core/begun-runs.ts';
import { type Extension, HAND_OVER_PRIORITY } from '../../core/extension.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Store } from '../../core/ports/store.ts';
import type { StoredTask, TaskCall } from '../../core/ports/stored-tasks.ts';
import { TASK_DOOR } from '../../core/ports/task-states.ts';
import { defined } from '../../core/read-options.ts';
import { FACTS, type ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, type ToolError, type ToolErrorCode, toolError } from '../../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../../core/tool-result.ts';
import { isElsewhere } from '../../core/tool-spec.ts';
import { oneAtATime, systemClock } from '../../system/clock.ts';
import type { KeepTask } from '../../tasks/keep-task.ts';
import { cancelledResult } from '../../tasks/run-task.ts';
import { workerCommand } from '../sources/worker-source.ts';
import { answerBatch, answerHere, withdraw } from './answer-here.ts';

/** Its row in the order of extensions. */
export const HAND_OVER = {
  name: 'workers',
  priority: HAND_OVER_PRIORITY,
  reason: 'hands calls of sources with runOn: worker to workers, which request approval and run them',
} as const;

/** The crib as the gate sees it. */
export interface HandOverPorts {
  readonly store: Pick<Store, 'tasks' | 'approvals'> | undefined;
  readonly poller: Pick<ApprovalPoller, 'subscribe' | 'watch'>;
  keepTask: KeepTask;
}

/** The gate that hands calls to workers. Only tools that this process cannot run pass it. */
export function handOver(ports: HandOverPorts): Extension {
  return {
    name: HAND_OVER.name,
    priority: HAND_OVER.priority,
    unsafeOrder: true,
    applies: isElsewhere,
    wrap: (call) => handOverCall(call, ports),
  };
}

/** A worker must begin a call in this time, or in the timeout of the call if that is shorter. */
const BEGIN_MS = 30_000;
/** The task outlives the wait by this time, so that the waiting process itself ends it. */
const SPARE_MS = 5000;
/** Number of tasks among which a task that waits for a given approval is searched. */
const SEARCHED_TASKS = 500;

async function handOverCall(call: ToolCall, { store, poller, keepTask }: HandOverPorts): Promise<ToolResult> {
  if (store === undefined || call.door === TASK_DOOR) return failed(noWorker(call, 'this process is not a worker'));
  if (call.hasOwnContext) return refuse('invalid_input', `${runsOnWorkers(call)}, so it cannot have "context".`);
  try {
    if (call.approvalId !== undefined) {
      const id = await findTask(call, call.approvalId, store);
      return id === undefined ? notThere(call) : await followTask(id, call, { store, poller });
    }
    const kept = await keepTask(call, {
      call: { ...toTaskCall(call), isAwaited: true },
      delayMs: 0,
      priority: 0,
      lifetimeMs: lifetimeOf(call),
    });
    return kept.status === 'waiting' ? await followTask(kept.waiting.id, call, { store, poller }) : kept;
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    const message = `${runsOnWorkers(call)}, but the store with its task is not available. Call it again later.`;
    return failed(toolError('unavailable', message, { retryable: true, cause }));
  }
}

/** The options of a call, for a task that makes the same call. */
export function toTaskCall(call: ToolCall): TaskCall {
  const { options } = (call as Call).origin; // the pipeline only passes Call objects
  return {
    ...defined(call, ['conversation', 'turn', 'timeZone', 'idempotencyKey', 'traceparent']),
    ...defined(options, ['timeoutMs', 'retries']),
    ...(call.takesWhole && { wholeResult: true }),
  };
}

function beginMsOf({ spec }: ToolCall): number {
  return Math.min(spec.policy.timeoutMs ?? BEGIN_MS, BEGIN_MS);
}

function lifetimeOf(call: ToolCall): number {
  return beginMsOf(call) + SPARE_MS;
}

/** The task of an earlier call that waits for this approval, or has used it. */
async function findTask(call: ToolCall, approvalId: string, { tasks }: Pick<Store, 'tasks'>) {
  const { caller, profile, spec } = call;
  const filter = { tool: spec.name, limit: SEARCHED_TASKS, ...(caller.id !== undefined && { callerId: caller.id }) };
  const listed = await tasks.list(filter);
  const found = listed.find(
    (task) => task.approvalId === approvalId && task.profile === profile && task.caller.id === caller.id,
  );
  const task = found && (await tasks.get(found.id));
  const given = call[FACTS].came ?? call.input;
  return task !== undefined && canonicalJson(task.arguments) === canonicalJson(given) ? task.id : undefined;
}

type Following = Required<Pick<HandOverPorts, 'poller'>> & { readonly store: Pick<Store, 'tasks' | 'approvals'> };

/** Waits for the end of a task, or until it waits for an approval that no approver can give at once. */
async function followTask(id: string, call: ToolCall, ports: Following): Promise<ToolResult> {
  const { store, poller } = ports;
  const { tasks } = store;
  const { promise, resolve, reject } = Promise.withResolvers<ToolResult>();
  const cancel = () => tasks.cancel(id, callerOf(call), cancelledResult(call.spec.name, callerOf(call)));
  const end = async (result: ToolResult): Promise<void> => {
    resolve(result);
    await cancel().catch(() => undefined); // the task ends by its timeout
  };
  // A task that was parked earlier outlives this call.
  const isResumed = call.approvalId !== undefined;
  const endLate = isResumed ? async (result: ToolResult) => resolve(result) : end;
  /** Ends a task that no worker has. Resolves to false if one has it, or the store does not answer. */
  const endUnbegun = async (): Promise<boolean> => {
    try {
      const state = (await tasks.get(id))?.state;
      if (isResumed) return state === 'queued' || state === 'waiting';
      return state === 'queued' && (await cancel()) === 'cancelled';
    } catch (cause) {
      if (cause instanceof ToolcribError) return false;
      throw cause;
    }
  };
  const asked = new Set<string>();
  const look = oneAtATime(async () => {
    const task = await tasks.get(id);
    if (task === undefined) return resolve(refuse('unknown_outcome', `The task "${id}" was removed from the store.`));
    if (task.state === 'done') return resolve(await endOf(task, call, tasks));
    if (task.state === 'running') noteRunning(task, call);
    const { approvalId } = task;
    if (task.state !== 'waiting' || approvalId === undefined || asked.has(approvalId)) return;
    const ports = { approvals: store.approvals, poller };
    const [first = approvalId] = asked;
    const outcome = await (task.batch === undefined
      ? answerHere(approvalId, call, { ...ports, meant: call.approvalId ?? first })
      : answerBatch(task, call, ports));
    asked.add(approvalId);
    if (outcome === undefined) return;
    if (outcome.status === 'waiting') return resolve({ ...outcome, waiting: { ...outcome.waiting, callId: id } });
    await end(outcome);
    await withdraw(task, store.approvals);
  });
  // If the store does not answer, the next poll tries again.
  const attempt = () => look().catch((cause) => (cause instanceof ToolcribError ? undefined : reject(cause)));
  const polling = poller.subscribe(attempt);
  const stops = [
    polling.stop,
    tasks.onChange((changed) => [id, ''].includes(changed) && void attempt()),
    call.onAbort((reason) => void end(failed(reason))),
    ...startTimers(call, { endLate, endUnbegun }),
  ];
  void polling.look();
  return promise.finally(() => {
    for (const stop of stops) stop();
  });
}

/** The result of an ended task. One that no worker began has expired. */
async function endOf(task: StoredTask, call: ToolCall, tasks: Store['tasks']): Promise<ToolResult> {
  if (task.outcome === 'timeout' && task.startedAt === undefined) return failed(noWorker(call, notBegun(call)));
  const result = await tasks.result(task.id);
  return result ?? refuse('unknown_outcome', `The task "${task.id}" ended as ${task.outcome}, but its result is gone.`);
}

/** Passes the progress on. From now on the tool may have run. */
function noteRunning({ progress }: StoredTask, call: ToolCall): void {
  beginRun(call);
  if (progress !== undefined) call.report(progress);
}

interface Ending {
  endLate(result: ToolResult): Promise<void>;
  endUnbegun(): Promise<boolean>;
}

/** Ends the call if no worker begins it, or after its timeout. */
function startTimers(call: ToolCall, { endLate, endUnbegun }: Ending): readonly (() => void)[] {
  const { timeoutMs } = call.spec.policy;
  const beginMs = beginMsOf(call);
  const judge = async (otherwise: ToolError | undefined): Promise<void> => {
    const error = (await endUnbegun()) ? noWorker(call, notBegun(call)) : otherwise;
    if (error !== undefined) await endLate(failed(error));
  };
  const isOneTimer = timeoutMs !== undefined && timeoutMs <= beginMs;
  return [
    ...(isOneTimer ? [] : [timer(call, beginMs, () => void judge(undefined))]),
    ...(timeoutMs === undefined ? [] : [timer(call, timeoutMs, () => void judge(tooLate(call, timeoutMs)))]),
  ];
}

function timer(call: ToolCall, timeMs: number, onEnd: () => void): () => void {
  return startCallTimer(call, { clock: systemClock, timeMs, onEnd });
}

function runsOnWorkers({ spec }: ToolCall): string {
  return `"${spec.name}" runs on workers only (runOn: worker)`;
}

function notBegun(call: ToolCall): string {
  return `no worker began the call within ${beginMsOf(call)} ms`;
}

function noWorker(call: ToolCall, why: string): ToolError {
  const message = `${runsOnWorkers(call)}, and ${why}. Start a worker: ${workerCommand(call.spec.source)}`;
  return toolError('unavailable', message, { retryable: true });
}

function tooLate({ spec }: ToolCall, timeoutMs: number): ToolError {
  return toolError('timeout', `"${spec.name}" did not finish within ${timeoutMs} ms.`, { retryable: true });
}

function notThere({ approvalId }: ToolCall): FailedResult {
  return refuse('denied', `The approval "${approvalId}" was not found. Call without it to request one.`);
}

function refuse(code: ToolErrorCode, message: string): FailedResult {
  return failed(toolError(code, message));
}
