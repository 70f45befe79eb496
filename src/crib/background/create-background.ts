import { LIBRARY_DOOR } from '../../approvals/ask-callback.ts';
import { parkedCallOf } from '../../approvals/parked-results.ts';
import type { Recheck } from '../../core/caller.ts';
import type { CribContext } from '../../core/ports/crib-context.ts';
import type { StoredTask } from '../../core/ports/stored-tasks.ts';
import { TASK_DOOR } from '../../core/ports/task-states.ts';
import { defined } from '../../core/read-options.ts';
import { messageOf, ToolcribError, toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult } from '../../core/tool-result.ts';
import { createRecheck } from '../../identity/identify.ts';
import { idleClock, laterClock, systemClock } from '../../system/clock.ts';
import { createWebhook, readWebhook, type Webhook } from '../../system/fetch/webhook.ts';
import { type CribTasks, type CribTasksPorts, createTasks } from '../../tasks/crib-tasks.ts';
import type { RunTaskPorts, TaskChest } from '../../tasks/run-task.ts';
import { type RunTasksOptions, runTasks, type TaskRunner } from '../../tasks/task-runner.ts';
import { ENTER, type EnterableChest } from '../chest.ts';
import type { Crib } from '../crib.ts';
import type { Engine } from '../engine.ts';
import { openAgain } from '../open.ts';
import { noteTaskRunner } from '../running-server.ts';
import { withdraw } from './answer-here.ts';
import type { Scheduling } from './scheduling.ts';

/** The background calls of a crib. */
export interface Background {
  readonly tasks: CribTasks;
  runTasks(options?: RunTasksOptions): TaskRunner;
  /** Claims no more tasks. */
  stop(): void;
  /** Resolves when the ends of all running tasks are stored. */
  close(): Promise<void>;
}

type Opening = Pick<Crib, 'open' | 'openAll'> & Pick<Scheduling, 'startSchedules'>;

export function createBackground(engine: Engine, context: CribContext, opening: Opening): Background {
  const { store, redact } = context;
  const { profiles, poller } = engine;
  const runners = new Set<TaskRunner>();
  const stopping = new Set<Promise<void>>();
  const { announce, close: closeWebhooks } = createAnnounce(engine, context);
  engine.onLostTask(announce);
  const recheck = createRecheck({ ...engine, keys: store?.keys, calendar: laterClock });
  const openChest: OpenChest = (made) => openAgain(opening, profiles(), made) as Promise<EnterableChest>; // every chest of a crib can be entered
  const asTaskChest = async (made: Parameters<OpenChest>[0]) => toTaskChest(await openChest(made));

  const run = createRun(engine, context, { openAgain: asTaskChest, recheck, announce });
  const start = (options: RunTasksOptions = {}): TaskRunner => {
    const runner = run(options);
    const stopSchedules = opening.startSchedules();
    return { ...runner, stop: async () => void (await Promise.all([runner.stop(), stopSchedules()])) };
  };
  const keep = (runner: TaskRunner): TaskRunner => {
    runners.add(runner);
    return runner;
  };
  runLibraryTasks(engine, context, () => keep(start()));
  engine.onFollowed(({ id, ended }) => {
    const runner = keep(run({ task: id, concurrency: 1 }));
    void ended.then(async () => {
      await runner.stop();
      runners.delete(runner);
    });
  });
  return {
    tasks: createTasks({
      store,
      redact,
      openAgain: asTaskChest,
      submitAgain: createSubmitAgain(openChest, recheck),
      parkedResult: async (id) => store && (await parkedCallOf(id, { approvals: store.approvals, redact }))?.result,
      poll: poller.subscribe,
    }),
    runTasks: (options) => keep(withNote(start(options), context)),
    stop() {
      for (const runner of runners) stopping.add(runner.stop());
    },
    async close() {
      await Promise.all(stopping);
      await closeWebhooks();
    },
  };
}

type OwnPorts = Pick<RunTaskPorts, 'openAgain' | 'recheck' | 'announce'>;

/** Creates the function that runs tasks. */
function createRun(engine: Engine, context: CribContext, own: OwnPorts): (options: RunTasksOptions) => TaskRunner {
  const { store, redact } = context;
  const { poller, warn, taskSettings: settings } = engine;
  return (options) => {
    if (store === undefined) throw new ToolcribError('not_available', 'Background calls need a store.');
    return runTasks(options, {
      tasks: store.tasks,
      settings,
      ...own,
      mayBeListedLater: ({ source }) => mayBeListedLater(source, engine, context),
      readySources: () =>
        engine
          .sources()
          .filter(({ name, state }) => HAS_TOOLS.includes(state) && !engine.isElsewhere(name))
          .map(({ name }) => name),
      poll: poller.subscribe,
      clock: systemClock,
      calendar: laterClock,
      redact,
      announceBatch: async (batch) => void (await store.approvals.sealBatch(batch)),
      withdrawBatch: (batch) => withdraw({ batch }, store.approvals),
      warn,
    });
  };
}

type OpenChest = (made: Pick<StoredTask, 'profile' | 'caller'>) => Promise<EnterableChest>;

/**
 * Submits the call of an ended task again, for the same caller, if that may still make it. A caller sends it with the
 * rights that it has now, which may be fewer than those of the task; an operator neither adds nor renews any.
 */
function createSubmitAgain(openChest: OpenChest, recheck: Recheck): CribTasksPorts['submitAgain'] {
  return async (task, { approve: _approve, ...by }, door) => {
    const { tool, profile, priority, notify, identifiedAt } = task;
    const caller = by.operator === true ? task.caller : by;
    const lost = await recheck(caller, profile);
    const chest = await openChest({ profile, caller }).catch(asRefusal);
    if ('status' in chest) return chest;
    const refusal = lost === undefined ? undefined : toolError('denied', `"${tool}" was not sent again: ${lost}.`);
    // The key would repeat the old result, and no caller waits for the new one.
    const { idempotencyKey: _key, isAwaited: _isAwaited, ...call } = task.call;
    const identified = caller === task.caller ? { identifiedAt } : {};
    const submission = { call, delayMs: 0, priority, resentFrom: task.id, ...identified, ...defined({ notify }) };
    const options = { ...call, ...defined({ door }) };
    return chest[ENTER]({ name: tool, input: task.arguments, options, submission, ...defined({ refusal }) });
  };
}

/** Notes for other processes of this machine that this one runs background calls. */
function withNote(runner: TaskRunner, context: CribContext): TaskRunner {
  const removeNote = noteTaskRunner(context);
  return {
    ...runner,
    stop() {
      removeNote();
      return runner.stop();
    },
  };
}

/** States of a source in which its tools can be called. */
const HAS_TOOLS: readonly string[] = ['ready', 'stale', 'down'];

/** True if a tool that is unknown here may be known later, or to another process that shares the store. */
function mayBeListedLater(source: string, { sources }: Engine, { sharedRates }: CribContext): boolean {
  const state = sources().find(({ name }) => name === source)?.state;
  return state !== 'ready' || (source === 'code' && sharedRates !== undefined);
}

function toTaskChest(chest: EnterableChest): TaskChest {
  const entering = ({ tool, arguments: input, call, id }: StoredTask) => {
    const { isAwaited: _isAwaited, ...options } = call;
    return { name: tool, input, options: { ...options, id, door: TASK_DOOR } };
  };
  return {
    run(task, { signal, run, onProgress }) {
      const { options, ...rest } = entering(task);
      const { approvalId } = task.batch === undefined ? task : {}; // of a batch, the journal names each approval
      const live = { park: true, signal, onProgress, ...(approvalId !== undefined && { approvalId }) };
      return chest[ENTER]({ ...rest, options: { ...options, ...live }, task: run });
    },
    refuse: (task, refusal) => chest[ENTER]({ ...entering(task), refusal }),
  };
}

function asRefusal(cause: unknown): ToolResult {
  if (!(cause instanceof ToolcribError)) throw cause;
  return failed(toolError('denied', messageOf(cause), { cause }));
}

/** Runs background calls of the library, starting with the first one, or at once if code names a store that may hold some. */
function runLibraryTasks({ onSubmitted }: Engine, { isStored, isNamedInCode }: CribContext, run: () => void): void {
  let hasBegun = false;
  const begin = (): void => {
    if (hasBegun) return;
    hasBegun = true;
    run();
  };
  onSubmitted(({ door }) => door === LIBRARY_DOOR && begin());
  if (isNamedInCode === true && isStored()) begin();
}

/** Tells the webhooks of the configuration about the ends of tasks. */
function createAnnounce({ taskSettings, warn }: Engine, { sign, redact }: CribContext) {
  const webhooks = new Map<string, Webhook>();
  const webhookOf = (name: string): Webhook | undefined => {
    const hook = readWebhook(taskSettings().webhooks[name], `tasks.webhooks.${name}`);
    if (hook === undefined) return undefined; // removed since the task was submitted
    const { url, secret } = hook;
    const key = JSON.stringify([url, secret]);
    const made =
      webhooks.get(key) ?? createWebhook({ url, sign: (text) => sign(secret, text), clock: idleClock, warn });
    webhooks.set(key, made);
    return made;
  };
  return {
    announce({ id, tool, profile, caller, notify, outcome, createdAt }: StoredTask, result: ToolResult): void {
      if (notify === undefined) return;
      const error =
        result.status === 'failed' ? { error: { code: result.error.code, message: redact(result.error.message) } } : {};
      const about = { id, tool, profile, outcome: outcome ?? result.status, createdAt, ...error };
      webhookOf(notify)?.send({ event: 'task', ...about, ...(caller.id !== undefined && { caller: caller.id }) });
    },
    async close(): Promise<void> {
      await Promise.all([...webhooks.values()].map((webhook) => webhook.close()));
    },
  };
}
