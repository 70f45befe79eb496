import { NAME_PATTERN, NAME_SAYS } from '../config/schema-node.ts';
import type { Schedule, ScheduleProgress, StoredSchedules } from '../core/ports/stored-schedules.ts';
import { describe, readMember } from '../core/read-options.ts';
import { notAvailable, ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { createListeners } from '../system/listeners.ts';
import { MOST_SCHEDULES, readSchedule, type ScheduleInput, timingKey, timingOf } from './schedule.ts';
import type { NamedSchedule } from './scheduler.ts';

/** A schedule to add. */
export interface ScheduleRequest extends ScheduleInput {
  readonly name: string;
  /** Replaces a schedule with this name; default false. */
  readonly replace?: boolean;
}

/** A schedule with its state. */
export interface ScheduleInfo extends Schedule, Pick<ScheduleProgress, 'last'> {
  readonly name: string;
  /** Where it is written. Those of the configuration change only with the configuration. */
  readonly from: 'configuration' | 'store';
  /** The operator who added it, and the time; only for those of the store. */
  readonly by?: string;
  readonly changedAt?: number;
  /** The next slot; absent if there is none. */
  readonly nextAt?: number;
  /** Why its calls would be refused now. */
  readonly problem?: string;
}

/** The schedule after the change, or the reason why nothing was changed. */
export type ScheduleOutcome =
  | { readonly ok: true; readonly schedule: ScheduleInfo }
  | { readonly ok: false; readonly error: ToolError };

/** The schedules of a crib: those of the configuration, and those that operators added. */
export interface CribSchedules {
  /** By name, with their arguments: show them to operators only. */
  list(): Promise<readonly ScheduleInfo[]>;
  /** Adds a schedule. Rejects with code `invalid_schedule` if it can never run. */
  add(request: ScheduleRequest, by: string): Promise<ScheduleOutcome>;
  /** Removes a schedule of the store; undefined if there is none with this name. Tasks that it has submitted stay. */
  remove(name: string): Promise<ScheduleOutcome | undefined>;
  /** Submits the call of a schedule now, besides its slots; undefined if there is none with this name. */
  run(name: string): Promise<ToolResult | undefined>;
  /** Problems of schedules that cannot run, and notes about those that are over. */
  review(): Promise<{ readonly problems: readonly string[]; readonly notes: readonly string[] }>;
}

/** Dependencies of the schedules. */
export interface SchedulesPorts {
  readonly stored: StoredSchedules | undefined;
  /** The schedules of the configuration. */
  configured(): ReadonlyMap<string, Schedule>;
  /** Why the calls of a schedule would be refused now. */
  problemOf(schedule: Schedule): string | undefined;
  /** Submits the call of a schedule. Never rejects. */
  submit(schedule: NamedSchedule): Promise<ToolResult>;
  /** The time, for a crib without a store. */
  now(): number;
}

/** The schedules of a crib, and what its scheduler needs to know about them. */
export interface OpenSchedules extends CribSchedules {
  /** All schedules; one of the configuration hides one of the store with its name. */
  all(): Promise<readonly NamedSchedule[]>;
  onChange(listener: () => void): () => void;
}

/** Creates the schedules of a crib. Adding and removing them needs a store. */
export function createSchedules(ports: SchedulesPorts): OpenSchedules {
  const { stored, configured, problemOf } = ports;
  const changed = createListeners();
  const requireStore = (): StoredSchedules => {
    if (stored !== undefined) return stored;
    throw notAvailable('The store of schedules', 'give createCrib a configuration or a store');
  };
  const readAll = async (): Promise<readonly Written[]> => {
    const own = [...configured()].map(([name, schedule]) => ({ name, schedule, from: 'configuration' as const }));
    const added = ((await stored?.list()) ?? [])
      .filter(({ name }) => !configured().has(name))
      .map(({ at, ...one }) => ({ ...one, changedAt: at, from: 'store' as const }));
    return [...own, ...added].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const describeAll = async (written: readonly Written[]): Promise<readonly ScheduleInfo[]> => {
    const { now, progress } = (await stored?.progress()) ?? { now: ports.now(), progress: [] };
    const byName = new Map(progress.map((one) => [one.name, one]));
    return Promise.all(written.map((one) => toInfo(one, byName.get(one.name), { now, problemOf })));
  };
  const find = async (name: string) => (await readAll()).find((one) => one.name === name);
  const outcomeOf = async (one: Written): Promise<ScheduleOutcome> => {
    const [schedule] = await describeAll([one]);
    return schedule === undefined ? refuse('The schedule is gone.') : { ok: true, schedule };
  };
  return {
    all: readAll,
    onChange: changed.add,
    list: async () => describeAll(await readAll()),
    async add(request, by) {
      requireName(by, 'The second argument of schedules.add');
      const { name, replace, schedule } = await readRequest(request);
      const at = (await requireStore().progress()).now;
      requireFuture(name, schedule, at);
      if (configured().has(name)) return refuse(writtenThere(name));
      const timing = timingKey(schedule);
      const result = await requireStore().put({ name, schedule, timing, by, replace }, MOST_SCHEDULES);
      if (result === 'taken') return refuse(`A schedule named "${name}" exists; choose another name, or replace it.`);
      if (result === 'full') return refuse(`There are ${MOST_SCHEDULES} schedules already; remove one first.`);
      changed.tell();
      return outcomeOf((await find(name)) ?? { name, schedule, from: 'store', by, changedAt: at }); // as it was stored
    },
    async remove(name) {
      if (!isName(name)) return undefined;
      if (configured().has(name)) return refuse(writtenThere(name));
      const one = await find(name);
      if (one === undefined || !(await requireStore().remove(name))) return undefined;
      changed.tell();
      return outcomeOf(one);
    },
    async run(name) {
      const one = await find(name);
      return one && ports.submit(one);
    },
    async review() {
      const hidden = ((await stored?.list()) ?? []).filter(({ name }) => configured().has(name));
      return reviewAll(await describeAll(await readAll()), hidden);
    },
  };
}

/** Problems and notes about schedules; `hidden` are those of the store that the configuration replaces. */
function reviewAll(all: readonly ScheduleInfo[], hidden: readonly NamedSchedule[]) {
  const over = all.filter(
    ({ from, at, nextAt }) => from === 'configuration' && at !== undefined && nextAt === undefined,
  );
  const unseen = over.filter(({ last }) => last === undefined);
  return {
    problems: [
      ...all.flatMap(({ name, problem }) => (problem === undefined ? [] : [`Schedule "${name}": ${problem}`])),
      ...hidden.map(
        ({ name }) =>
          `Schedule "${name}" of the store is ignored, because the configuration has one of that name; rename that one.`,
      ),
      ...unseen.map(
        ({ name }) =>
          `Schedule "${name}": its time is in the past and it has not run; change at, or remove the schedule.`,
      ),
    ],
    notes: over
      .filter(({ last }) => last !== undefined)
      .map(({ name }) => `Schedule "${name}" is over; it can be removed from the configuration.`),
  };
}

/** A schedule and where it is written. */
type Written = NamedSchedule & Pick<ScheduleInfo, 'from' | 'by' | 'changedAt'>;

interface Moment {
  readonly now: number;
  readonly problemOf: SchedulesPorts['problemOf'];
}

async function toInfo(
  { schedule, ...where }: Written,
  progress: ScheduleProgress | undefined,
  { now, problemOf }: Moment,
): Promise<ScheduleInfo> {
  const handledAt = progress?.timing === timingKey(schedule) ? progress.handledAt : now;
  const { next, unusable } = await timingOf(schedule).then(
    (timing) => ({ next: timing.next(Math.max(now, handledAt)), unusable: undefined }),
    (cause: unknown) => ({ next: undefined, unusable: cause instanceof Error ? cause.message : 'it cannot be read' }),
  );
  const problem = unusable ?? problemOf(schedule);
  return {
    ...where,
    ...schedule,
    ...(next !== undefined && { nextAt: next }),
    ...(progress?.last !== undefined && { last: progress.last }),
    ...(problem !== undefined && { problem }),
  };
}

async function readRequest(value: unknown) {
  const given: Readonly<Record<string, unknown>> = Object(value); // readSchedule refuses other values
  const { name: _name, replace: _replace, ...rest } = given;
  const [name, replace = false] = [readMember(given, 'name', 'A schedule'), readMember(given, 'replace', 'A schedule')];
  if (!isName(name)) {
    throw new ToolcribError(
      'invalid_schedule',
      `The name of a schedule must have ${NAME_SAYS}, got ${describe(name)}.`,
    );
  }
  if (typeof replace !== 'boolean') {
    throw new ToolcribError('invalid_schedule', `replace must be true or false, got ${describe(replace)}.`);
  }
  return { name, replace, schedule: await readSchedule(typeof value === 'object' ? rest : value) };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && new RegExp(NAME_PATTERN).test(value);
}

function requireName(value: unknown, what: string): void {
  if (typeof value === 'string' && value !== '' && value.isWellFormed() && !/\p{Cc}/u.test(value)) return;
  throw new ToolcribError('invalid_option', `${what} must be the name of the operator, got ${describe(value)}.`);
}

function requireFuture(name: string, { at }: Schedule, now: number): void {
  if (at === undefined || at > now) return;
  throw new ToolcribError('invalid_schedule', `The schedule "${name}" cannot be added: its time is in the past.`);
}

function refuse(message: string): ScheduleOutcome {
  return { ok: false, error: toolError('conflict', message) };
}

function writtenThere(name: string): string {
  return `The schedule "${name}" is in the configuration; change it there.`;
}
