import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Chest, ToolInput } from '../../src/index.ts';
import { missingPackage, sharedPostgres } from '../store/postgres-server.ts';
import { cribOf, folderWith } from './workshop.ts';

const HOUR = 3_600_000;
const CONFIGURATION = `
profiles:
  only:
    policy:
      rates: [{ scope: caller, amount: 3, perMs: ${HOUR} }]
      budgets: [{ scope: profile, amount: 2, perMs: ${HOUR * 24 * 365} }]
`;
const TOOLS: readonly ToolInput[] = [
  { name: 'free', description: '', run: () => 'free' },
  { name: 'priced', description: '', policy: { price: 1 }, run: () => 'priced' },
];

async function openOn(url: string, id = 'ann'): Promise<Chest> {
  const crib = await cribOf(folderWith({ 'toolcrib.yaml': CONFIGURATION }), { tools: TOOLS, store: { url } });
  return crib.open('only', { id });
}

/** For each call whether it ran. */
async function passes(chest: Chest, ...names: readonly string[]): Promise<readonly boolean[]> {
  const results = [];
  for (const name of names) results.push((await chest.call(name)).ok);
  return results;
}

describe('limits that outlive the process', () => {
  it('a budget that was spent before a restart is still spent', async () => {
    const url = `sqlite:${join(folderWith({}), 'crib.db')}`;
    expect(await passes(await openOn(url), 'priced', 'priced')).toEqual([true, true]);
    expect(await (await openOn(url, 'bob')).call('priced')).toMatchObject({ error: { code: 'rate_limited' } });
  });

  it('a call that cannot be counted is refused', async () => {
    const chest = await openOn(`sqlite:${join(folderWith({ file: '' }), 'file', 'crib.db')}`);
    const refused = await chest.call('priced');
    expect(refused).toMatchObject({ error: { code: 'unavailable', retryable: false } });
    expect(JSON.stringify(refused)).not.toContain('crib.db');
    expect(await chest.call('free')).toMatchObject({ ok: true });
  });
});

const missing = missingPackage();
const title = missing === undefined ? 'on PostgreSQL' : `on PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(title, () => {
  const server = sharedPostgres();

  it('rates are shared: N in the window, N+1 refused with a retry hint, whichever process is asked', async () => {
    const url = await server.createStore();
    const [first, second] = [await openOn(url), await openOn(url)];
    expect(await passes(first, 'free', 'free')).toEqual([true, true]);
    expect(await passes(second, 'free')).toEqual([true]);
    const refused = await second.call('free');
    expect(refused).toMatchObject({ error: { code: 'rate_limited', retryable: true } });
    expect(refused).toHaveProperty('error.retryAfterMs', expect.any(Number));
    expect(await passes(first, 'free')).toEqual([false]);
    expect(await passes(await openOn(url, 'bob'), 'free')).toEqual([true]);
  });

  it('unknown names are counted, too', async () => {
    const chest = await openOn(await server.createStore());
    await passes(chest, 'nothing', 'nothing', 'nothing');
    expect(await chest.call('free')).toMatchObject({ error: { code: 'rate_limited' } });
  });

  it('budgets are shared', async () => {
    const url = await server.createStore();
    const chests = [await openOn(url), await openOn(url, 'bob')];
    const results = await Promise.all(chests.flatMap((chest) => [chest.call('priced'), chest.call('priced')]));
    expect(results.filter(({ ok }) => ok)).toHaveLength(2);
  });

  it('a lost database allows no call that must be counted', async () => {
    const name = await server.createDatabase();
    const chest = await openOn(server.urlOf(name));
    expect(await passes(chest, 'free')).toEqual([true]);
    const other = await server.connect('postgres');
    await other.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await other.end();
    expect(await chest.call('free')).toMatchObject({
      error: { code: 'unavailable', message: 'The call could not be counted, so the tool was not run.' },
    });
  });
});
