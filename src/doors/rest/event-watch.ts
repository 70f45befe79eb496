import { randomUUID } from 'node:crypto';
import { TASK_DOOR } from '../../core/ports/task-states.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import type { SourceReport } from '../../crib/sources/source-slot.ts';
import { toShownApproval, toShownStop, toShownTask } from '../shown.ts';
import { toShownEnd, watchStarts } from './call-events.ts';

/** Number of newest approvals to watch. For unchanged ones, only the state is read. */
const WATCHED_APPROVALS = 1000;
/** Number of changed approvals to read at once. */
const APPROVALS_PER_PAGE = 100;

/** The events, each with its data. */
export const EVENTS = {
  'calls-started': 'a call began and has not ended at once: tool, caller, conversation; without arguments',
  calls: 'a call ended: tool, caller, conversation, outcome, duration; without arguments and answers',
  tasks:
    'a background call of this process changed its state, or one of another process ended; without arguments and results',
  approvals: 'a request changed, of the newest thousand; a batch is one request; long arguments are cut',
  sources: 'a source changed: its state after the change, whichever process changed it',
  stops: '`{ stops }`: the emergency stops changed; those in force now',
  'tools-changed': '`{ added, removed, changed }`, or `{ profile }` if other bundles became active',
} as const;

/** Sends an event to all listeners. */
export type Tell = (event: keyof typeof EVENTS, data: unknown) => void;

/** A running watch of a crib. */
export interface Watching {
  /** Resolves when the initial state is known. */
  readonly ready: Promise<void>;
  stop(): void;
}

/** Watches a crib and tells its events. */
export function watchCrib(crib: Crib, tell: Tell): Watching {
  const { look, stop: stopLooking } = crib.server.poll(createLook(crib, tell));
  const tasks = watchTasks(crib, tell);
  const starts = watchStarts(tell);
  const name = `restEvents-${randomUUID()}`; // another server may watch the same crib
  crib.extensions.add({
    name,
    priority: 1000,
    onStart(call) {
      const { id, door, parent } = call;
      starts.add(call);
      if (door === TASK_DOOR && parent === undefined) tasks.look(id);
    },
    onEnd(call, result) {
      starts.drop(call);
      tell('calls', toShownEnd(call, result));
      if (result.status === 'waiting') void look();
    },
  });
  const stops = [
    stopLooking,
    tasks.stop,
    starts.stop,
    () => crib.extensions.remove(name),
    crib.onChange((changes) => tell('tools-changed', changes)),
    crib.server.activeSets.onChange((profile) => tell('tools-changed', { profile })),
  ];
  return {
    ready: look(),
    stop() {
      for (const end of stops) end();
    },
  };
}

/** Finds changes since the last look; the first look only records the state. */
function createLook(crib: Crib, tell: Tell): () => Promise<void> {
  let approvals: ReadonlyMap<string, string> | undefined;
  let sources: ReadonlyMap<string, string> | undefined;
  let stops: string | undefined;
  return async () => {
    const reports = crib.sources();
    const now = new Map(reports.map((report) => [report.name, JSON.stringify(report)]));
    for (const report of sources === undefined ? [] : reports)
      if (sources?.get(report.name) !== now.get(report.name)) tell('sources', toShownSource(report));
    sources = now;
    try {
      const found = (await crib.store?.approvals.states(WATCHED_APPROVALS)) ?? [];
      const before = approvals;
      const changed = before === undefined ? [] : found.filter(({ id, state }) => before.get(id) !== state);
      await tellApprovals(
        changed.map(({ id }) => id),
        crib,
        tell,
      );
      approvals = new Map(found.map(({ id, state }) => [id, state]));
      const inForce = (await crib.stops.list()).map(toShownStop);
      if (stops !== undefined && stops !== JSON.stringify(inForce)) tell('stops', { stops: inForce });
      stops = JSON.stringify(inForce);
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause; // the store is not available now; the next look asks again
    }
  };
}

/** Number of tasks whose last state is remembered, so that no state is sent twice. */
const REMEMBERED_TASKS = 1000;

/** Sends the states of changed tasks, one after the other. */
function watchTasks(crib: Crib, tell: Tell): { look(id: string): void; stop(): void } {
  const told = new Map<string, string>();
  const changed = new Set<string>();
  let isReading = false;
  const read = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    for (const id of changed) {
      changed.delete(id);
      const task = await crib.tasks.get(id).catch(() => undefined); // the store is not available now
      if (task === undefined) continue;
      const { arguments: _arguments, result: _result, ...listed } = task;
      const state = `${task.state} ${task.attempts} ${task.cancelledBy}`;
      if (told.get(id) === state) continue;
      told.delete(id); // the newest are at the end
      told.set(id, state);
      const [oldest = ''] = told.keys();
      if (told.size > REMEMBERED_TASKS) told.delete(oldest);
      tell('tasks', toShownTask(listed));
    }
    isReading = false;
  };
  const look = (id: string): void => {
    changed.add(id);
    void read();
  };
  return { look, stop: crib.store?.tasks.onChange(look) ?? (() => {}) };
}

/** Sends these approvals, oldest first, page by page. */
async function tellApprovals(ids: readonly string[], crib: Crib, tell: Tell): Promise<void> {
  for (let start = 0; start < ids.length; start += APPROVALS_PER_PAGE) {
    const page = ids.slice(start, start + APPROVALS_PER_PAGE);
    for (const approval of await crib.approvals.list({ ids: page })) tell('approvals', toShownApproval(approval));
  }
}

function toShownSource({ since, malformed: _malformed, excluded: _excluded, ...report }: SourceReport): object {
  return since === undefined ? report : { ...report, since: new Date(since).toISOString() };
}
