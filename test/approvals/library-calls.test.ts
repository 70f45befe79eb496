import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Crib, type CribOptions, createCrib, defineTool, type ToolResult } from '../../src/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import { folderWith } from '../crib/workshop.ts';
import { idOf, OPERATOR } from './payments.ts';

/** A crib in code in which wiping needs a person. */
async function studio(options: CribOptions = {}, wiped: unknown[] = []) {
  const wipe = defineTool({
    name: 'wipe',
    description: 'Wipes',
    input: { type: 'object', properties: { what: { type: 'string' } } },
    effects: { destructive: true },
    run: (input) => {
      wiped.push(input);
      return `wiped ${input.what}`;
    },
  });
  const crib = await createCrib({ tools: [wipe], store: 'memory', ...options });
  onTestFinished(() => crib.close());
  const chest = await crib.open(undefined, { id: 'ann' });
  const ask = (what: string, more: object = {}) => chest.call('wipe', { what }, { park: true, ...more });
  return { crib, chest, wiped, ask };
}

const answer = (crib: Crib, result: ToolResult, decision: 'approve' | 'deny' = 'approve') =>
  crib.approvals.answer(idOf(result), { decision }, OPERATOR);

/** What is known of a call that has ended. */
const ended = (crib: Crib, id: string) =>
  vi.waitFor(
    async () => {
      const found = await crib.calls.get(id);
      expect(found?.result).toBeDefined();
      return found;
    },
    { timeout: 20_000 },
  );

describe('a parked call of a library', () => {
  it('is run by the open crib when it is approved, and calls.get has its result by both ids', async () => {
    const { crib, wiped, ask } = await studio();
    const waiting = await ask('all', { conversation: 'c' });
    expect(waiting).toMatchObject({ status: 'waiting', waiting: { for: 'approval', callId: expect.any(String) } });
    const { callId = '' } = waiting.status === 'waiting' ? waiting.waiting : {};
    expect(await crib.calls.get(callId)).toMatchObject({ outcome: 'waiting', callId });
    expect(await crib.calls.get(callId)).not.toHaveProperty('result');
    await answer(crib, waiting);
    const found = await ended(crib, callId);
    expect(found).toMatchObject({
      callId,
      outcome: 'done',
      conversation: 'c',
      caller: 'ann',
      door: 'library',
      approval: { by: 'olga' },
      result: { ok: true, content: [{ type: 'text', text: 'wiped all' }] },
    });
    expect(await crib.calls.get(idOf(waiting))).toEqual(found);
    expect(wiped).toEqual([{ what: 'all' }]);
  });

  it('is run once, even if the same call is sent again at the same time', async () => {
    const { crib, wiped, ask } = await studio();
    const waiting = await ask('all');
    await answer(crib, waiting);
    const approvalId = idOf(waiting);
    const results = await Promise.all([1, 2, 3].map(() => ask('all', { approvalId })));
    for (const result of results) expect(result).toMatchObject({ ok: true, content: [{ text: 'wiped all' }] });
    expect(wiped).toHaveLength(1);
  });

  it('whose result was read is a new call when it is sent again', async () => {
    const { crib, wiped, ask } = await studio();
    const waiting = await ask('all');
    await answer(crib, waiting);
    await ended(crib, idOf(waiting));
    const next = await ask('all');
    expect(next).toMatchObject({ status: 'waiting' });
    expect(idOf(next)).not.toBe(idOf(waiting));
    expect(wiped).toHaveLength(1);
  });

  it('that was denied did not run, and its result says so', async () => {
    const { crib, wiped, ask } = await studio();
    const waiting = await ask('all');
    await answer(crib, waiting, 'deny');
    expect(await ended(crib, idOf(waiting))).toMatchObject({ result: { ok: false, error: { code: 'denied' } } });
    expect(wiped).toEqual([]);
  });

  it('runs if another process answers through the same store', async () => {
    const file = join(folderWith({}), 'crib.db');
    const { crib, wiped, ask } = await studio({ store: file });
    const waiting = await ask('all');
    const other = await openStore({ url: `sqlite:${file}`, env: {} });
    onTestFinished(() => other.close());
    await other.approvals.answer(idOf(waiting), { decision: 'approve', by: 'olga' });
    expect(await ended(crib, idOf(waiting))).toMatchObject({ outcome: 'done' });
    expect(wiped).toHaveLength(1);
  });

  it('that was approved while no crib was open is run by the next one that has the tool', async () => {
    const file = join(folderWith({}), 'crib.db');
    const wiped: unknown[] = [];
    const first = await studio({ store: file }, wiped);
    const waiting = await first.ask('all');
    await first.crib.close();
    const without = await createCrib({ store: file });
    onTestFinished(() => without.close());
    await answer(without, waiting);
    expect(await without.approvals.get(idOf(waiting))).toMatchObject({ state: 'approved' });
    const next = await studio({ store: file }, wiped);
    expect(await ended(next.crib, idOf(waiting))).toMatchObject({ outcome: 'done' });
    expect(wiped).toHaveLength(1);
  });

  it('is run once by two cribs of one store', async () => {
    const file = join(folderWith({}), 'crib.db');
    const wiped: unknown[] = [];
    const one = await studio({ store: file }, wiped);
    const two = await studio({ store: file }, wiped);
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? one : two).ask(`part ${n}`)));
    await Promise.all(all.map((waiting) => answer(one.crib, waiting)));
    for (const waiting of all) await ended(two.crib, idOf(waiting));
    expect(wiped.map((input) => JSON.stringify(input)).toSorted()).toEqual(
      Array.from({ length: 20 }, (_, n) => JSON.stringify({ what: `part ${n}` })).toSorted(),
    );
  });

  it('is left alone by a server of the same store', async () => {
    const file = join(folderWith({}), 'crib.db');
    const first = await studio({ store: file });
    const waiting = await first.ask('all');
    await first.crib.close();
    const server = await createCrib({ configFile: folderWith({}), store: file, watch: false });
    onTestFinished(() => server.close());
    onTestFinished(server.server.runParked());
    await answer(server, waiting);
    await server.server.poll(async () => {}).look();
    expect(await server.approvals.get(idOf(waiting))).toMatchObject({ state: 'approved' });
  });

  it('has no result if the call does not exist', async () => {
    const { crib } = await studio();
    expect(await crib.calls.get('nothing')).toBeUndefined();
  });
});
