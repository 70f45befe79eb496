import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_KEEP_BOUNDS } from '../../src/core/ports/stored-results.ts';
import { argumentsHash } from '../../src/specs/hashes.ts';
import { openStore } from '../../src/store/open-store.ts';
import { cribOf, folderWith } from './workshop.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const OPTIONS = { idempotencyKey: 'order-7' };
const KEY = JSON.stringify(['ann', 'all', 'pay', 'order-7']);
const MINUTE = 60_000;

async function shop(url: string) {
  const state = { runs: 0 };
  const run = () => ({ receipt: ++state.runs });
  const crib = await cribOf(folderWith({ 'toolcrib.yaml': 'profiles: {}\n' }), {
    tools: [{ name: 'pay', description: '', run }],
    store: { url },
  });
  const pay = async () => (await crib.open(undefined, { id: 'ann' })).call('pay', { amount: 5 }, OPTIONS);
  return { crib, state, pay };
}

/** A process that took the key and ended before it could say how it went. */
async function endInTheMiddle(url: string): Promise<void> {
  const keeping = { owner: 'ann', bounds: DEFAULT_KEEP_BOUNDS };
  const call = { id: 'lost', argumentsHash: argumentsHash({ amount: 5 }), keepMs: 24 * 60 * MINUTE, keeping };
  const other = await openStore({ url, env: {} });
  await other.repeats.begin(KEY, call);
  await other.close();
}

describe('idempotency keys in the store', () => {
  it('after a restart the second call gets the result of the first', async () => {
    const url = `sqlite:${join(folderWith({}), 'crib.db')}`;
    const [before, after] = [await shop(url), await shop(url)];
    expect(await before.pay()).toMatchObject({ data: { receipt: 1 } });
    await before.crib.close();
    expect(await after.pay()).toMatchObject({ data: { receipt: 1 } });
    expect(after.state.runs).toBe(0);
  });

  it('a call whose process ended in the middle does not run again, and its outcome is unknown', async () => {
    const url = `sqlite:${join(folderWith({}), 'crib.db')}`;
    await endInTheMiddle(url);
    const { state, pay } = await shop(url);
    expect(await pay()).toMatchObject({ error: { code: 'conflict', retryable: true } });
    vi.advanceTimersByTime(3000); // time for one more sign of life
    expect(await pay()).toMatchObject({ error: { code: 'unknown_outcome', retryable: false } });
    expect(await pay()).toMatchObject({ error: { code: 'unknown_outcome' } });
    expect(state.runs).toBe(0);
  });

  it.each(['false', '{ maxPerCaller: 0 }', '{ maxKeys: 5 }'])('cannot be configured as %s', async (options) => {
    const folder = folderWith({ 'toolcrib.yaml': `extensions: { idempotency: ${options} }\n` });
    await expect(cribOf(folder)).rejects.toThrow(/idempotency|max/);
  });

  it('a store that cannot be written allows no call that must run at most once', async () => {
    const { state, pay } = await shop(`sqlite:${join(folderWith({ file: '' }), 'file', 'crib.db')}`);
    expect(await pay()).toMatchObject({ error: { code: 'unavailable' } });
    expect(state.runs).toBe(0);
  });
});

const CARD = 'sk-live-4242424242';

describe('the stored result of a key', () => {
  it.each<[string, () => unknown]>([
    [
      'a failure',
      () => {
        throw new Error(`refused for ${CARD}`);
      },
    ],
    ['a text', () => `paid with ${CARD}`],
    ['data', () => ({ paid: [{ card: CARD }] })],
    ['a name in data', () => ({ [CARD]: 1 })],
    ['a number', () => ({ account: 8_412_776_650_913 })],
    ['base64', () => Buffer.from(`card ${CARD}.`).toString('base64')],
    ['meta', () => ({ ok: true, status: 'done', content: [], meta: { card: CARD } })],
    [
      'a resource',
      () => ({
        ok: true,
        status: 'done',
        content: [{ type: 'resource', resource: { uri: 'x:y', text: `card ${CARD}` } }],
      }),
    ],
  ])('contains no secret in %s, and a replay shows its name', async (_, run) => {
    vi.stubEnv('TOOLCRIB_TEST_CARD', CARD);
    vi.stubEnv('TOOLCRIB_TEST_ACCOUNT', '8412776650913');
    const secrets = '{ card: { env: TOOLCRIB_TEST_CARD }, account: { env: TOOLCRIB_TEST_ACCOUNT } }';
    const folder = folderWith({ 'toolcrib.yaml': `secrets: ${secrets}\n` });
    const crib = await cribOf(folder, { tools: [{ name: 'pay', description: '', run: run as () => never }] });
    const chest = await crib.open(undefined, { id: 'ann' });
    const given = await chest.call('pay', { amount: 5 }, OPTIONS);
    const call = { id: 'other', argumentsHash: argumentsHash({ amount: 5 }), keepMs: MINUTE };
    const kept = JSON.stringify(await crib.store?.repeats.begin(KEY, call));
    expect(kept).toMatch(/\[secret (card|account)\]/);
    expect(kept).not.toMatch(/4242424242|8412776650913/);
    const replayed = JSON.stringify(await chest.call('pay', { amount: 5 }, OPTIONS));
    expect(replayed).toMatch(/\[secret (card|account)\]/);
    // What the tool answers when it succeeds is its own; only what is kept is changed.
    if (given.ok) expect(JSON.stringify(given)).not.toContain('[secret');
    vi.unstubAllEnvs();
  });
});
