import type { StoredTask, TaskClaim } from '../core/ports/stored-tasks.ts';
import { defined } from '../core/read-options.ts';
import { messageOf, ToolcribError, toolError } from '../core/tool-error.ts';
import { oneAtATime } from '../system/clock.ts';
import { expiredResult, type RunTaskPorts, runTask } from './run-task.ts';

/** Options for running tasks. */
export interface RunTasksOptions {
  /** Maximum number of tasks at once; default `tasks.concurrency`. */
  readonly concurrency?: number;
  /** Only tasks of these profiles; default all. */
  readonly profiles?: readonly string[];
  /** Only tasks of these sources; default all sources of the crib. */
  readonly sources?: readonly string[];
  /** True for a worker: it also runs tasks that only workers may run. */
  readonly isWorker?: boolean;
  /** Only this task. */
  readonly task?: string;
}

/** The crib as the runner sees it. */
export interface TaskRunnerPorts extends RunTaskPorts {
  /** The sources whose tools this process can call now. */
  readySources(): readonly string[];
  /** Runs `work` now and then. */
  poll(work: () => Promise<void>): { look(): Promise<void>; stop(): void };
}

/** Runs tasks until it is stopped. */
export interface TaskRunner {
  /** Number of tasks that are running. */
  count(): number;
  /** Claims no more tasks. Resolves when the running ones have ended. */
  stop(): Promise<void>;
  /** Ends the running tasks. Those that may run again are left to other processes. */
  abort(): void;
}

const EXPIRE_EVERY_MS = 5000;
/** While this many ends wait for the store, no more tasks are claimed. */
const MOST_STORING = 64;
const STOPPING = toolError('cancelled', 'The process that ran the background call stops.');

/** Claims tasks and runs them. While the end of one is being stored, the next one runs. */
export function runTasks(options: RunTasksOptions, ports: TaskRunnerPorts): TaskRunner {
  const { tasks } = ports;
  let isStopped = false;
  const attempt = attemptWith(ports.warn);
  const expire = createExpiry(ports);
  const claimMore = async (): Promise<void> => {
    for (;;) {
      const limit = running.room(options.concurrency ?? ports.settings().concurrency);
      if (isStopped || limit <= 0) return;
      const claimed = await tasks.claim({ ...claimOf(options, ports), limit });
      for (const task of claimed) running.begin(task);
      if (claimed.length < limit) return;
    }
  };
  const fill = oneAtATime(() => attempt(claimMore));
  // Calls that end in the same turn are replaced by one claim.
  const running = createRunning(ports, { isStopped: () => isStopped, onRoom: inNextTurn(() => void fill()) });

  const polling = ports.poll(async () => {
    await attempt(running.cancelRequested);
    if (!isStopped) await attempt(expire);
    await fill();
  });
  const stopListening = tasks.onChange((id) => void (running.has(id) ? attempt(running.cancelRequested) : fill()));
  void polling.look();
  return {
    count: running.count,
    async stop() {
      isStopped = true;
      await fill(); // a claim that is under way may still begin tasks
      await running.ended();
      polling.stop();
      stopListening();
    },
    abort() {
      isStopped = true;
      running.abort();
    },
  };
}

interface RunnerState {
  isStopped(): boolean;
  /** Called when a call has ended, so that another one can run. */
  onRoom(): void;
}

/** The tasks that a process runs. */
function createRunning(ports: TaskRunnerPorts, { isStopped, onRoom }: RunnerState) {
  /** The tasks that have no result yet. */
  const calling = new Map<string, AbortController>();
  /** All tasks of this process, until their ends are stored. */
  const running = new Set<Promise<void>>();
  let isAborted = false;
  return {
    count: () => running.size,
    /** The number of tasks that can begin now. */
    room: (most: number) => Math.min(most - calling.size, most + MOST_STORING - running.size),
    has: (id: string) => calling.has(id),
    begin(task: StoredTask): void {
      const controller = new AbortController();
      calling.set(task.id, controller);
      // Without a request to cancel this task, only the end of the process ends it.
      const isStopping = () => isAborted || (isStopped() && !controller.signal.aborted);
      const onAnswered = () => {
        if (calling.get(task.id) === controller && calling.delete(task.id)) onRoom();
      };
      const ended = runTask(task, ports, { signal: controller.signal, isStopping, onAnswered })
        .catch((cause) => ports.warn(`The background call ${task.id} failed: ${messageOf(cause)}`))
        .finally(() => {
          running.delete(ended);
          onAnswered();
        });
      running.add(ended);
      if (isAborted) controller.abort(STOPPING);
    },
    /** Ends the calls whose end was requested. */
    async cancelRequested(): Promise<void> {
      if (calling.size === 0) return;
      for (const [id, by] of await ports.tasks.cancelled([...calling.keys()]))
        calling.get(id)?.abort(toolError('cancelled', `The background call was cancelled by ${by}.`));
    },
    abort(): void {
      isAborted = true;
      for (const controller of calling.values()) controller.abort(STOPPING);
    },
    async ended(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Returns a function that runs `work` in the next turn of the event loop, once for all requests of this turn. */
function inNextTurn(work: () => void): () => void {
  let isRequested = false;
  return () => {
    if (isRequested) return;
    isRequested = true;
    setImmediate(() => {
      isRequested = false;
      work();
    });
  };
}

/** Runs work that may fail. A store that is not available is tried again at the next poll. */
function attemptWith(warn: (message: string) => void): (work: () => Promise<void>) => Promise<void> {
  return async (work) => {
    try {
      await work();
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) warn(`Polling the background calls failed: ${messageOf(cause)}`);
    }
  };
}

function claimOf(
  { profiles, sources, isWorker = false, task }: RunTasksOptions,
  ports: TaskRunnerPorts,
): Omit<TaskClaim, 'limit'> {
  const ready = ports.readySources();
  return {
    isWorker,
    sources: sources === undefined ? ready : ready.filter((source) => sources.includes(source)),
    ...defined({ profiles, task }),
  };
}

/** Ends tasks that did not begin in time, now and then. */
function createExpiry(ports: TaskRunnerPorts): () => Promise<void> {
  const { tasks, clock } = ports;
  let expiredAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.now() - expiredAt < EXPIRE_EVERY_MS) return;
    expiredAt = clock.now();
    for (const task of await tasks.expire(expiredResult)) await endUnrun(task, ports);
  };
}

/** Records the end of a task that never ran, and tells its webhook. */
async function endUnrun(task: StoredTask, ports: TaskRunnerPorts): Promise<void> {
  const result = expiredResult(task);
  ports.announce(task, result);
  const chest = await ports.openAgain(task).catch(() => undefined); // a chest can only be opened while its profile exists
  await chest?.refuse(task, result.error);
}
