import { LIBRARY_DOOR, SERVER_DOORS } from '../../approvals/ask-callback.ts';
import type { ApprovalPoller } from '../../approvals/poller.ts';
import { startCallTimer } from '../../core/begun-runs.ts';
import type { Extension, Next } from '../../core/extension.ts';
import { canonicalJson, isRecord } from '../../core/json.ts';
import type { Store } from '../../core/ports/store.ts';
import type {
  CallJournal,
  Journal,
  JournalStart,
  ScriptWait,
  WrittenEntries,
} from '../../core/ports/stored-journals.ts';
import type { StoredTask, TaskRun } from '../../core/ports/stored-tasks.ts';
import { defined } from '../../core/read-options.ts';
import type { Redact } from '../../core/redact-result.ts';
import { FACTS, type ToolCall } from '../../core/tool-call.ts';
import { messageOf, ToolcribError, toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult } from '../../core/tool-result.ts';
import { RUN } from '../../core/tool-spec.ts';
import { traitsOf } from '../../kinds/index.ts';
import { argumentsHash, definitionHash } from '../../specs/hashes.ts';
import { oneAtATime, systemClock } from '../../system/clock.ts';
import type { KeepTask } from '../../tasks/keep-task.ts';
import { answerBatch, waitingForBatch, withdraw } from './answer-here.ts';
import { toTaskCall } from './hand-over.ts';

/** Its row in the order of extensions. */
export const WAITING_SCRIPTS = {
  name: 'scripts',
  priority: 782,
  reason: 'a script that waited goes on where it was; the same call sent again waits for its result',
} as const;

type ScriptStore = Pick<Store, 'tasks' | 'approvals' | 'journals'>;

/** A task that a call in this process waits for. */
export interface FollowedTask {
  readonly id: string;
  /** Resolves when the call no longer waits. */
  readonly ended: Promise<void>;
}

/** The crib as the gate sees it. */
export interface WaitingScriptsPorts {
  readonly store: ScriptStore | undefined;
  readonly poller: Pick<ApprovalPoller, 'subscribe' | 'watch'>;
  keepTask: KeepTask;
  /** Runs a task in this process, if no other one does. */
  runHere(task: FollowedTask): void;
  redact: Redact;
  warn(message: string): void;
}

type Ports = WaitingScriptsPorts & { readonly store: ScriptStore };

/** The gate that gives scripts their journals, and stores those that wait as tasks. */
export function waitingScripts(ports: WaitingScriptsPorts): Extension {
  const { store } = ports;
  return {
    ...WAITING_SCRIPTS,
    unsafeOrder: true,
    applies: (spec) => store !== undefined && traitsOf(spec[RUN].kind).keepsJournal === true,
    // A script inside another call cannot wait: only the outermost call is stored.
    wrap: (call, next) =>
      store === undefined || call.parent !== undefined || call.hasOwnContext
        ? next(call)
        : runScript(call, next, { ...ports, store }),
  };
}

async function runScript(call: ToolCall, next: Next, ports: Ports): Promise<ToolResult> {
  const { task } = call[FACTS];
  try {
    if (task !== undefined) return await runTask(call, next, { ...ports, task });
    const found = await findTask(call, ports.store);
    if (found !== undefined) return await followScript(found, call, ports);
    if (!call.mayPark && call.approvalId === undefined) return await next(call);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    const message = `"${call.spec.name}" cannot be called while the store with its journal is not available. Call it again later.`;
    return failed(toolError('unavailable', message, { retryable: true, cause }));
  }
  const journal = journalOf(ports);
  call[FACTS].journal = journal;
  const result = await next(call);
  return result.status === 'waiting' && journal.wait !== undefined ? park(call, journal.wait, ports) : result;
}

function journalOf({ store, redact }: Ports): CallJournal {
  return {
    redact,
    async request(approvalId) {
      const found = await store.approvals.get(approvalId);
      return found && { state: found.state, ...defined(found, ['batch']) };
    },
  };
}

/** Runs a script that is a task, from where it was. */
async function runTask(call: ToolCall, next: Next, ports: Ports & { readonly task: TaskRun }): Promise<ToolResult> {
  const { journals, tasks } = ports.store;
  const { id } = call;
  const saved = await journals.get(id);
  const isWhole = saved === undefined ? (await tasks.get(id))?.batch === undefined : isComplete(saved);
  if (!isWhole) return failed(toolError('unknown_outcome', NOT_WHOLE));
  const stored = {
    begin: (start: JournalStart) => journals.begin(id, start),
    put: (written: WrittenEntries) => journals.put(id, written),
    drop: () => journals.drop(id),
  };
  const journal: CallJournal = { ...journalOf(ports), ...defined({ saved }), stored };
  const facts = call[FACTS];
  facts.journal = journal;
  if (saved?.approval !== undefined) facts.granted = saved.approval;
  const result = await next(call);
  if (journal.wait !== undefined) ports.task.wait = journal.wait;
  return result;
}

const NOT_WHOLE =
  'The outcome of the script is unknown: it cannot be continued, because rows of its journal are missing or were changed in the store. Check which of its calls took effect before you start it again.';

/** True if the store has every row: without one of them a replay would make a call again. */
function isComplete({ entries, waits, isDropped }: Journal): boolean {
  if (isDropped === true) return true;
  const isInPlace = entries.every(
    (entry, place) => isRecord(entry) && entry.index === place && typeof entry.name === 'string',
  );
  return isInPlace && (waits === 0 || entries.some(({ approvalId }) => approvalId !== undefined));
}

/** Stores a script that waits. */
async function park(call: ToolCall, wait: ScriptWait, { store, keepTask, warn }: Ports): Promise<ToolResult> {
  const { journal, batch, approvalId } = wait;
  if (journal === undefined) return failed(toolError('internal', 'The script has no journal.'));
  const submission = { call: toTaskCall(call), delayMs: 0, priority: 0 };
  const kept = await keepTask(call, submission, { ...wait, journal, binding: bindingOf(call) });
  if (kept.status !== 'waiting') {
    await withdraw({ batch }, store.approvals).catch(() => undefined); // then they expire
    return kept;
  }
  const asked = await store.approvals.sealBatch(batch).catch((cause) => {
    warn(`The approval requests of the script ${call.id} could not be announced: ${messageOf(cause)}`);
    return [];
  });
  const { waiting, ...rest } = waitingForBatch({ id: call.id, approvalId }, asked);
  const { callId, ...shown } = { ...waiting, expiresAt: asked.length === 0 ? wait.expiresAt : waiting.expiresAt };
  // Other doors report the id of the call themselves.
  return { ...rest, waiting: call.door === LIBRARY_DOOR ? { ...shown, ...defined({ callId }) } : shown };
}

/** The hash that is equal for the same script of the same caller. */
function bindingOf(call: ToolCall): string {
  const { caller, profile, spec, input } = call;
  return argumentsHash({ of: [caller.id ?? '', profile, spec.name, definitionHash(spec), input] });
}

/** The task of the same call that was sent before and has waited. */
async function findTask(call: ToolCall, store: ScriptStore): Promise<string | undefined> {
  const { approvalId } = call;
  if (approvalId === undefined) return call.mayPark ? store.journals.find(bindingOf(call)) : undefined;
  const approval = await store.approvals.get(approvalId);
  const batch = approval === undefined ? approvalId : approval.batch;
  const id = batch === undefined ? approval?.claim?.callId : batch.replace(/\.\d+$/, '');
  const task = id === undefined ? undefined : await store.tasks.get(id);
  return task !== undefined && isSame(task, call) ? task.id : undefined;
}

function isSame(task: StoredTask, call: ToolCall): boolean {
  const { caller, profile, spec } = call;
  const given = call[FACTS].came ?? call.input;
  return (
    task.batch !== undefined &&
    task.caller.id === caller.id &&
    task.profile === profile &&
    task.tool === spec.name &&
    canonicalJson(task.arguments) === canonicalJson(given)
  );
}

const USUAL_TIMEOUT_MS = 60_000;
/** Time to wait for a script beyond its own timeout. */
const GRACE_MS = 60_000;
const ASK_AGAIN_MS = 1000;

/** Waits for the end of a script, or until it waits for an answer that must come from somewhere else. */
async function followScript(id: string, call: ToolCall, ports: Ports): Promise<ToolResult> {
  const { store, poller } = ports;
  const { tasks, approvals, journals } = store;
  const { promise, resolve, reject } = Promise.withResolvers<ToolResult>();
  const progress = followProgress(id, call, tasks);
  const look = oneAtATime(async () => {
    const task = await tasks.get(id);
    progress.look(task);
    if (task?.state === 'waiting') {
      const outcome = await answerBatch(task, call, { approvals, poller });
      if (outcome !== undefined) resolve(outcome);
    } else if (task === undefined || task.state === 'done') {
      const result = await tasks.result(id);
      if (result !== undefined) await journals.handOver(id);
      call[FACTS].replayed = 'repeat';
      resolve(result ?? failed(toolError('unknown_outcome', GONE)));
    }
  });
  // If the store does not answer, the next poll tries again.
  const attempt = () => look().catch((cause) => (cause instanceof ToolcribError ? undefined : reject(cause)));
  const polling = poller.subscribe(attempt);
  const timeMs = (call.spec.policy.timeoutMs ?? USUAL_TIMEOUT_MS) + GRACE_MS;
  const stops = [
    polling.stop,
    progress.stop,
    tasks.onChange((changed) => [id, ''].includes(changed) && void attempt()),
    call.onAbort((reason) => resolve(failed(reason))),
    startCallTimer(call, { clock: systemClock, timeMs, onEnd: () => resolve(stillRunning(call, id)) }),
  ];
  const ended = Promise.allSettled([promise]).then(() => undefined);
  if (!SERVER_DOORS.includes(call.door)) ports.runHere({ id, ended });
  void polling.look();
  return promise.finally(() => {
    for (const stop of stops) stop();
  });
}

/** Reports what a task of this process says. Of a task of another process it reports the latest progress that is stored, if it is new. */
function followProgress(id: string, call: ToolCall, tasks: ScriptStore['tasks']) {
  let before: { readonly text: string | undefined } | undefined;
  let isHere = false;
  return {
    look(task: StoredTask | undefined): void {
      const text = JSON.stringify(task?.progress);
      // The first one may be of an earlier run of the script.
      if (before !== undefined && !isHere && text !== undefined && text !== before.text) call.report(JSON.parse(text));
      before = { text };
    },
    stop: tasks.onProgress((of, progress) => {
      if (of !== id) return;
      isHere = true;
      call.report(progress);
    }),
  };
}

const GONE = 'The result of the script is gone: it was not fetched in time.';

function stillRunning({ spec }: ToolCall, id: string): ToolResult {
  const message = `The script "${id}" of "${spec.name}" has not ended yet. Ask again for its result.`;
  return failed(toolError('conflict', message, { retryable: true, retryAfterMs: ASK_AGAIN_MS }));
}
