import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { TASK_STATES } from '../../src/core/ports/stored-tasks.ts';
import { TASK_TRANSITIONS, type TaskEvent } from '../../src/core/ports/task-states.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { failed } from '../../src/core/tool-result.ts';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { numberOf, type Row, sql, textOf } from '../../src/store/engines/sql-engine.ts';
import { openStore } from '../../src/store/open-store.ts';
import { files, readSource } from '../architecture/source-files.ts';
import { AMPLE } from './approvals-contract.ts';
import { ENDED, HERE, transfer } from './tasks-contract.ts';
import { temporaryFolder } from './temporary-folder.ts';

const show = ({ from, event, to }: { from: string; event: string; to: string }) => `${from} --> ${to} : ${event}`;
const TABLE = TASK_TRANSITIONS.map(show);

describe('the table of states of a task', () => {
  it('has every state, and no event that leads to two', () => {
    expect(new Set(TASK_TRANSITIONS.map(({ to }) => to))).toEqual(new Set([...TASK_STATES, 'requeued', 'lost']));
    expect(new Set(TABLE).size).toBe(TABLE.length);
    const targets = Map.groupBy(TASK_TRANSITIONS, ({ event }) => event);
    for (const rows of targets.values()) expect(new Set(rows.map(({ to }) => to)).size).toBe(1);
  });

  it('is what docs/architecture.md shows', () => {
    const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
    const [, picture = ''] = /## A task\n.*?```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(page) ?? [];
    const lines = picture.trim().split('\n');
    expect(lines.map((line) => line.trim().replace('[*]', 'new')).toSorted()).toEqual(TABLE.toSorted());
  });

  it('is asked by the one statement that changes a state', () => {
    const changing = files.filter((file) => /UPDATE\s+toolcrib_tasks\s+SET\s+(\$\{|state)/.test(readSource(file)));
    expect(changing).toEqual(['store/tasks/task-moves.ts']);
    expect([...readSource('store/tasks/task-moves.ts').matchAll(/UPDATE\s+toolcrib_tasks\s+SET\s+\$\{/g)]).toHaveLength(
      1,
    );
  });
});

/** What each act may do to a task. */
const ACTS = {
  submit: ['submit'],
  park: ['park'],
  claim: ['claim'],
  postpone: ['postpone'],
  await: ['await'],
  finish: ['finish'],
  cancel: ['cancel'],
  expire: ['expire'],
  lose: ['requeue', 'lose'],
  wait: [],
} as const satisfies Record<string, readonly TaskEvent[]>;
type Act = keyof typeof ACTS;

interface Step {
  readonly act: Act;
  /** Which of the tasks, and which of two processes acts. */
  readonly task: number;
  readonly process: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom(...(Object.keys(ACTS) as Act[])),
  task: fc.nat(2),
  process: fc.nat(1),
});
/** A path of one task: `act` by the first process, `act2` by the second. */
const path = (task: number, ...acts: readonly string[]): [Step[]] => [
  acts.map((act) => ({ act: act.replace('2', '') as Act, task, process: act.endsWith('2') ? 1 : 0 })),
];

/** One for each row of the table, whatever is drawn besides. The task 1 may be repeated. */
const EXAMPLES = [
  path(0, 'submit', 'claim', 'postpone', 'claim2', 'await2', 'claim', 'finish'),
  path(0, 'submit', 'claim', 'lose', 'finish', 'cancel', 'finish'),
  path(1, 'submit', 'claim', 'lose', 'finish', 'finish', 'lose'),
  path(1, 'submit', 'claim', 'lose', 'claim', 'claim2', 'finish', 'finish2'),
  path(1, 'submit', 'claim', 'lose', 'await', 'cancel', 'finish'),
  path(1, 'submit', 'claim', 'lose', 'postpone', 'wait', 'expire', 'finish'),
  path(1, 'submit', 'claim', 'lose', 'cancel', 'finish'),
  path(1, 'submit', 'claim', 'lose', 'wait', 'expire', 'finish'),
  path(0, 'submit', 'cancel', 'claim', 'finish'),
  path(0, 'park', 'claim', 'finish'),
];

/** Two processes over one database, and what the database says of it. */
async function openDatabase() {
  const url = `sqlite:${join(temporaryFolder(), 'crib.db')}`;
  let now = 1_700_000_000_000;
  const open = () => openStore({ url, env: {}, now: () => now });
  const stores = [await open(), await open()] as const;
  const { engine } = await openEngine({ url, env: {} });
  onTestFinished(async () => {
    for (const part of [...stores, engine]) await part.close();
  });
  const stateOf = (row: Row): string => {
    const state = textOf(row, 'state');
    if (numberOf(row, 'is_lost') === 0) return state;
    return state === 'done' ? 'lost' : 'requeued';
  };
  return {
    storeOf: (process: number): Store => stores[process === 0 ? 0 : 1],
    /** The state of every task, as it is written. */
    async states(): Promise<ReadonlyMap<string, string>> {
      const rows = await engine.read(sql`SELECT id, state, is_lost FROM toolcrib_tasks`);
      return new Map(rows.map((row) => [textOf(row, 'id'), stateOf(row)]));
    },
    /** Both processes are taken for dead, and come back. */
    async lose({ claims }: Store): Promise<readonly string[]> {
      await engine.write([sql`UPDATE toolcrib_processes SET seen_at = 0`]);
      const lost = [];
      for (const silent of await claims.silent()) lost.push(...(await claims.abandon(silent, unknown)));
      return lost.filter((one) => 'task' in one && !one.isQueued).map(({ callId }) => callId);
    },
    wait: () => {
      now += 6 * 60_000;
    },
  };
}

const unknown = () => failed(toolError('unknown_outcome', 'its process is gone'));

/** Acts, and returns the tasks that this has ended, as it is told. */
async function play({ act, task, process }: Step, run: number, database: Database): Promise<readonly string[]> {
  const store = database.storeOf(process);
  const { tasks } = store;
  const id = `${run} ${task}`;
  const ifEnded = (isEnded: boolean) => (isEnded ? [id] : []);
  const nothing = async (done: Promise<unknown>) => {
    await done;
    return [];
  };
  const acts: Readonly<Record<Act, () => Promise<readonly string[]>>> = {
    submit: () => nothing(tasks.add(transfer(id, { isRepeatable: task > 0 }), AMPLE)),
    park: () => nothing(tasks.park(transfer(id, { isRepeatable: task > 0 }), WAITING, AMPLE)),
    claim: () => nothing(tasks.claim({ ...HERE, limit: 1 })),
    postpone: () => nothing(tasks.postpone(id, { pauseMs: 0 })),
    await: () => nothing(tasks.await(id, 'zzzz-zzzz-zzzz')),
    finish: async () => ifEnded(await tasks.finish(id, ENDED)),
    cancel: async () => ifEnded((await tasks.cancel(id, 'ann', unknown())) === 'cancelled'),
    expire: async () => (await tasks.expire(unknown)).map((ended) => ended.id),
    lose: () => database.lose(store),
    wait: async () => nothing(Promise.resolve(database.wait())),
  };
  return acts[act]();
}

const STATE = { lines: 0, waits: 1 };
const START = { seed: 1, now: 1, definition: '', code: '', input: '' };
const WAITING = {
  batch: 'zzzz.1',
  approvalId: 'zzzz-zzzz-zzzz',
  expiresAt: 0,
  state: STATE,
  journal: { ...START, ...STATE, entries: [] },
  binding: 'zzzz',
};

type Database = Awaited<ReturnType<typeof openDatabase>>;

describe('whatever two processes do', () => {
  it('a task changes only as the table says, and ends once', { timeout: 60_000 }, async () => {
    const database = await openDatabase();
    const seen = new Set<string>();
    let run = 0;
    const property = fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      run++;
      const ends = new Map<string, number>();
      for (const one of steps) {
        const before = await database.states();
        const ended = await play(one, run, database);
        for (const [id, to] of await database.states()) {
          const from = before.get(id) ?? 'new';
          if (from === to) continue;
          const events = ACTS[one.act].filter((event) => TABLE.includes(show({ from, event, to })));
          expect(events, `${one.act}: ${from} --> ${to}`).not.toEqual([]);
          for (const event of events) seen.add(show({ from, event, to }));
          expect(ended.includes(id), `${one.act} says that ${id} has ended`).toBe(to === 'done' || to === 'lost');
          // A frozen process corrects an unknown outcome; that is not another end.
          if (ended.includes(id) && from !== 'lost') ends.set(id, (ends.get(id) ?? 0) + 1);
        }
      }
      expect([...ends.values()].every((count) => count === 1)).toBe(true);
      for (const task of [0, 1, 2]) await database.storeOf(0).tasks.cancel(`${run} ${task}`, 'ann', unknown());
      await database.lose(database.storeOf(0));
      for (const task of [0, 1, 2]) await database.storeOf(0).tasks.cancel(`${run} ${task}`, 'ann', unknown());
    });
    await fc.assert(property, { numRuns: 150, examples: EXAMPLES });
    const tested = TABLE.filter((row) => !row.endsWith('unclaim')); // test/store/lost-answers.test.ts
    expect([...seen].toSorted()).toEqual(tested.toSorted());
  });
});
