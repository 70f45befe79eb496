import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { APPROVAL_STATES, type ApprovalEvent, TRANSITIONS } from '../../src/core/ports/approval-states.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { NewApproval } from '../../src/core/ports/stored-approvals.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { done, failed } from '../../src/core/tool-result.ts';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { numberOf, type Row, sql, textOf } from '../../src/store/engines/sql-engine.ts';
import { openStore } from '../../src/store/open-store.ts';
import { files, readSource } from '../architecture/source-files.ts';
import { addTo, payment } from '../store/approvals-contract.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const show = ({ from, event, to }: { from: string; event: string; to: string }) => `${from} --> ${to} : ${event}`;
const TABLE = TRANSITIONS.map(show);

describe('the table of states', () => {
  it('has every state, and no event leads to two states', () => {
    expect(new Set(TRANSITIONS.map(({ to }) => to))).toEqual(new Set([...APPROVAL_STATES, 'lost']));
    expect(new Set(TABLE).size).toBe(TABLE.length);
    const targets = Map.groupBy(TRANSITIONS, ({ event }) => event);
    for (const rows of targets.values()) expect(new Set(rows.map(({ to }) => to)).size).toBe(1);
  });

  it('is what docs/architecture.md shows', () => {
    const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
    const [, picture = ''] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(page) ?? [];
    const lines = picture.trim().split('\n');
    expect(lines.map((line) => line.trim().replace('[*]', 'new')).toSorted()).toEqual(TABLE.toSorted());
  });

  it('is read by the one statement that changes a state', () => {
    const changing = files.filter((file) =>
      /\b(UPDATE\s+toolcrib_approvals|SET)\s+state\b|state\s*=\s*\$\{/.test(readSource(file)),
    );
    const updating = files.filter((file) => /UPDATE\s+toolcrib_approvals\s+SET\s+\$\{/.test(readSource(file)));
    expect(changing).toEqual(['store/tables.ts']); // steps that were released
    expect(updating).toEqual(['store/approval-statements.ts']);
  });
});

/** What each act may do to a request; an act that finds a request over notes that first. */
const ACTS = {
  ask: ['ask', 'expire'],
  approve: ['approve', 'expire'],
  approveOwn: ['approveOwn', 'expire'],
  deny: ['deny', 'expire'],
  withdraw: ['withdraw'],
  giveUp: ['expire'],
  claim: ['claim', 'expire'],
  giveBack: ['giveBack'],
  finish: ['finish'],
  lose: ['lose'],
  wait: [],
} as const satisfies Record<string, readonly ApprovalEvent[]>;
type Act = keyof typeof ACTS;

interface Step {
  readonly act: Act;
  /** Which of the requests, and which of two processes acts. */
  readonly request: number;
  readonly process: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom(...(Object.keys(ACTS) as Act[])),
  request: fc.nat(2),
  process: fc.nat(1),
});
const path = (...acts: readonly Act[]): [Step[]] => [acts.map((act) => ({ act, request: 0, process: 0 }))];

/** One for each row of the table, whatever is drawn besides. */
const EXAMPLES = [
  path('ask', 'approve', 'claim', 'giveBack', 'claim', 'finish'),
  path('ask', 'approve', 'claim', 'lose', 'giveBack', 'finish', 'finish'),
  path('ask', 'approveOwn', 'giveBack', 'wait', 'claim', 'claim'),
  path('ask', 'deny', 'approve', 'withdraw'),
  path('ask', 'withdraw', 'deny'),
  path('ask', 'giveUp', 'approve', 'claim'),
];

/** Two processes over one database, and what the database says of it. */
async function openDatabase() {
  const url = `sqlite:${join(temporaryFolder(), 'crib.db')}`;
  let now = Date.now();
  const open = () => openStore({ url, env: {}, now: () => now });
  const stores = [await open(), await open()] as const;
  const { engine } = await openEngine({ url, env: {} });
  onTestFinished(async () => {
    for (const part of [...stores, engine]) await part.close();
  });
  return {
    storeOf: (process: number): Store => stores[process === 0 ? 0 : 1],
    /** The state of every request, as it is written. */
    async states(): Promise<ReadonlyMap<string, string>> {
      const rows = await engine.read(sql`SELECT id, state, is_lost FROM toolcrib_approvals`);
      const stateOf = (row: Row) => (numberOf(row, 'is_lost') === 1 ? 'lost' : textOf(row, 'state'));
      return new Map(rows.map((row) => [textOf(row, 'id'), stateOf(row)]));
    },
    /** Both processes are taken for dead, and come back. */
    async lose({ claims }: Store): Promise<void> {
      await engine.write([sql`UPDATE toolcrib_processes SET seen_at = 0`]);
      const unknown = () => failed(toolError('unknown_outcome', 'its process is gone'));
      for (const silent of await claims.silent()) await claims.abandon(silent, unknown);
    },
    wait: () => {
      now += 6 * 60_000;
    },
  };
}

/** Does it, and returns the id of the request that it was about. */
async function play(one: Step, request: NewApproval, { id = '', database }: Playing): Promise<string> {
  const store = database.storeOf(one.process);
  const { approvals } = store;
  const callId = `call of ${one.process}`;
  const yes = { decision: 'approve', by: 'bob' } as const;
  const acts: Readonly<Record<Act, () => unknown>> = {
    ask: () => addTo(approvals, request),
    approve: () => approvals.answer(id, yes),
    approveOwn: () => approvals.answer(id, yes, callId),
    deny: () => approvals.answer(id, { ...yes, decision: 'deny' }),
    withdraw: () => approvals.end(id, 'withdrawn'),
    giveUp: () => approvals.end(id, 'expired'),
    claim: () => approvals.claim(id, request, callId),
    giveBack: () => approvals.giveBack(id),
    finish: () => approvals.finish(id, 'done', { result: done('paid'), isHandedOver: false }),
    lose: () => database.lose(store),
    wait: database.wait,
  };
  await acts[one.act]();
  return one.act === 'ask' ? ((await approvals.find(request))?.id ?? '') : id;
}

interface Playing {
  readonly id: string | undefined;
  readonly database: Awaited<ReturnType<typeof openDatabase>>;
}

it('no sequence of events moves a request in a way that the table does not list, and the test meets every row', async () => {
  const database = await openDatabase();
  const met = new Set<string>();
  let sequences = 0;
  const walk = async (steps: readonly Step[]): Promise<void> => {
    const name = `sequence ${sequences++}`;
    const ids = new Map<number, string>();
    for (const one of steps) {
      const before = await database.states();
      const callId = `${name} ${one.request}`;
      const request = payment({ argumentsHash: callId, parked: { callId } });
      ids.set(one.request, await play(one, request, { id: ids.get(one.request), database }));
      for (const [id, to] of await database.states()) {
        const from = before.get(id) ?? 'new';
        if (from === to) continue;
        const move = ACTS[one.act].map((event) => show({ from, event, to })).find((each) => TABLE.includes(each));
        expect(move, `${one.act} moved a request from ${from} to ${to}`).toBeDefined();
        met.add(move ?? '');
      }
    }
  };
  const steps = fc.array(step, { minLength: 5, maxLength: 25 });
  await fc.assert(fc.asyncProperty(steps, walk), { numRuns: 200, examples: EXAMPLES });
  expect([...met].toSorted()).toEqual(TABLE.toSorted());
}, 120_000);
