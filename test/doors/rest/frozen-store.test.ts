import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openEngine } from '../../../src/store/engines/open-engine.ts';
import { sql } from '../../../src/store/engines/sql-engine.ts';
import { missingPackage, type OwnPostgres, startPostgres } from '../../store/postgres-server.ts';
import { execute, type Heard, serve } from './served.ts';

/** A busy machine is not a failing test: every bound of docs/reliability.md is asserted at three times its value. */
const SLACK = 3;

const missing = missingPackage();
const title = missing === undefined ? 'frozen' : `frozen (skipped: ${missing} is not installed)`;

async function timed(asking: Promise<Heard>) {
  const begun = performance.now();
  const heard = await asking;
  return { heard, tookMs: performance.now() - begun };
}

describe.skipIf(missing !== undefined)(`a PostgreSQL that is ${title}`, () => {
  let server: OwnPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, 120_000);
  afterAll(() => server?.stop());

  const RATES = 'rateLimit: { rates: [{ scope: caller, amount: 1000, perMs: 1000 }] }';
  const KINDS = [
    { kind: 'an idempotency key', extensions: '', call: ['add', { a: 1, b: 2 }, { idempotencyKey: 'pay' }] },
    { kind: 'an approval', extensions: '', call: ['wipe', { what: 'disk' }, {}] },
    { kind: 'a shared rate limit', extensions: RATES, call: ['add', { a: 1, b: 2 }, {}] },
    { kind: 'an intent on record', extensions: 'audit: { requireFor: [echo] }', call: ['echo', {}, {}] },
  ] as const;
  type Kind = (typeof KINDS)[number];

  /** A crib of its own, and calls of one kind that are not the same call. */
  const served = async ({ kind, extensions, call: [name, input, more] }: Kind) => {
    const url = server.urlOf(await server.createDatabase());
    const { ask } = await serve({ url, config: extensions === '' ? '' : `extensions: { ${extensions} }` });
    const call = (one: string) => {
      const words = Object.entries({ ...input, ...more }).map(([key, value]) => [
        key,
        typeof value === 'string' ? `${value} ${one}` : value,
      ]);
      const { idempotencyKey, ...values } = Object.fromEntries(words);
      return execute(ask, name, values, idempotencyKey === undefined ? {} : { idempotencyKey });
    };
    return { kind, ask, call };
  };

  it('makes calls that need it unavailable after 5 s, and readyz say so within 2 s, until it is back', async () => {
    const cribs = await Promise.all(KINDS.map(served));
    for (const { call, ask, kind } of cribs) {
      expect((await call('before')).json.error, kind).toBeUndefined();
      expect((await ask('/readyz')).status, kind).toBe(200);
    }
    server.freeze();
    onTestFinished(() => server.thaw());
    const asked = cribs.map(async ({ call, ask, kind }) => {
      const calls = Array.from({ length: 20 }, (_, index) => timed(call(`frozen ${index}`)));
      return { kind, calls: await Promise.all(calls), ready: await timed(ask('/readyz')) };
    });
    const heard = await Promise.all(asked);
    server.thaw();
    for (const { kind, calls, ready } of heard) {
      for (const call of calls) expect(call.heard.json, kind).toMatchObject({ error: { code: 'unavailable' } });
      expect(Math.max(...calls.map(({ tookMs }) => tookMs)), kind).toBeLessThan(5000 * SLACK);
      expect(ready.heard.json, kind).toMatchObject({ error: { message: 'The store does not answer.' } });
      expect(ready.tookMs, kind).toBeLessThan(2000 * SLACK);
    }
    for (const { call, ask, kind } of cribs) {
      const soon = { timeout: 30_000, interval: 100, message: kind };
      await expect.poll(async () => (await ask('/readyz')).status, soon).toBe(200);
      await expect.poll(async () => (await call('after')).json.error, soon).toBeUndefined();
    }
  });

  it('cancels a statement before the crib gives it up, and a cancelled statement is not committed later', async () => {
    const { engine } = await openEngine({ url: server.urlOf(await server.createDatabase()), env: {} });
    onTestFinished(() => engine.close());
    expect(await engine.read(sql`SHOW statement_timeout`)).toEqual([{ statement_timeout: '4500ms' }]);
    await engine.write([sql`CREATE TABLE marks (id BIGINT PRIMARY KEY)`]);
    server.freeze();
    onTestFinished(() => server.thaw());
    const writes = Array.from({ length: 20 }, (_, id) => engine.write([sql`INSERT INTO marks (id) VALUES (${id})`]));
    const settled = await Promise.allSettled(writes);
    server.thaw();
    expect(settled.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    const isBack = () => engine.read(sql`SELECT 1 AS one`).catch(() => []);
    await expect.poll(isBack, { timeout: 30_000 }).toEqual([{ one: 1 }]);
    expect(await engine.read(sql`SELECT id FROM marks`)).toEqual([]);
  });

  it('the server cancels a statement that takes too long, and other statements are not refused for that', async () => {
    const { engine } = await openEngine({ url: server.urlOf(await server.createDatabase()), env: {} });
    onTestFinished(() => engine.close());
    const slow = engine.read(sql`SELECT pg_sleep(30)`);
    await expect(slow).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('too long'),
    });
    expect(await engine.read(sql`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
    expect(await engine.scan(sql`SELECT 1 AS one FROM pg_sleep(5)`)).toEqual([{ one: 1 }]);
  });
});
