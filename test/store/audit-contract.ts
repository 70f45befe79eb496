import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { AuditBatch, ChainPosition, DraftRow, StoredAuditRow } from '../../src/core/ports/stored-audit.ts';
import { packRows } from '../../src/store/audit-append.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

const header = (chain: string) => ({ chain, key: `key of ${chain}`, startedAt: 1, signature: 'signed' });
const row = (number: number, given: Partial<DraftRow> = {}): DraftRow => ({
  at: 1000 + number,
  callId: `call ${number}`,
  caller: 'ann',
  door: 'rest',
  kind: 'call',
  outcome: 'done',
  profile: 'all',
  source: 'code',
  tool: 'add',
  ...given,
});
const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => row(from + index));
const checkpoint = (chain: string, count: number, at = 1000 + count) => ({
  chain,
  count,
  hash: `hash ${count}`,
  at,
  signature: 'signed',
});
const BEGIN: ChainPosition = { count: 0, hash: 'begin' };
const batch = (chain: string, list: readonly DraftRow[], after = BEGIN): AuditBatch => ({
  header: header(chain),
  after,
  packed: [packRows(list)],
});

/** The rows as they are stored after others. */
function stored(list: readonly DraftRow[], after = BEGIN): readonly StoredAuditRow[] {
  let { count, hash } = after;
  return list.map((one) => {
    const { at, callId, tool, caller = '', outcome } = one;
    count++;
    const entry = JSON.stringify({ ...one, number: count }, [...Object.keys(one), 'number'].sort());
    hash = createHash('sha256').update(`${hash}\n${entry}`).digest('hex');
    return { number: count, entry, hash, at, callId, tool, caller, outcome };
  });
}
const endOf = (list: readonly DraftRow[], after = BEGIN): ChainPosition => {
  const { number: count, hash } = stored(list, after).at(-1) ?? { number: after.count, hash: after.hash };
  return { count, hash };
};

/** What every store keeps to about the audit. */
export function auditContract(opened: Opened): void {
  it('appends rows to chains and returns them unchanged, page by page', async () => {
    const { audit } = await opened();
    const odd = row(2, { turn: '\u0000 é \u{1f527}', callId: "O'Brien ?", tool: 'é', caller: undefined });
    const begun = [row(1), odd];
    expect(await audit.append(batch('a', begun))).toEqual(endOf(begun));
    expect(await audit.append(batch('b', rows(1, 300)))).toEqual(endOf(rows(1, 300)));
    expect(await audit.append(batch('a', rows(3, 3), endOf(begun)))).toEqual(endOf([...begun, row(3)]));
    expect(await audit.rows('a', 0, 10)).toEqual(stored([...begun, row(3)]));
    expect(await audit.rows('b', 298, 10)).toEqual(stored(rows(1, 300)).slice(298));
    expect(await audit.rows('b', 100, 2)).toEqual(stored(rows(1, 300)).slice(100, 102));
    expect(await audit.rows('c', 0, 10)).toEqual([]);
    expect((await audit.chains()).map(({ chain }) => chain)).toEqual(['a', 'b']);
    expect(await audit.count()).toBe(303);
    expect(await audit.end('b')).toEqual(endOf(rows(1, 300)));
    expect(await audit.end('c')).toBeUndefined();
  });

  it('counts the rows of each chain', async () => {
    const { audit } = await opened();
    expect(await audit.extents()).toEqual([]);
    await audit.append(batch('a', rows(1, 300)));
    await audit.append(batch('b', rows(1, 2)));
    expect((await audit.extents()).toSorted((one, other) => other.rows - one.rows)).toEqual([
      { chain: 'a', rows: 300, first: 1, last: 300 },
      { chain: 'b', rows: 2, first: 1, last: 2 },
    ]);
  });

  it('has an id that stays, and differs in every store', async () => {
    const [one, other] = [await opened(), await opened()];
    const ids = await Promise.all(Array.from({ length: 5 }, () => one.audit.storeId()));
    expect(ids[0]).toMatch(/^\d+$/);
    expect(new Set(ids).size).toBe(1);
    expect(await other.audit.storeId()).not.toBe(ids[0]);
  });

  it('returns no row without a header, because each is written with one', async () => {
    const { audit } = await opened();
    await audit.append({ ...batch('a', rows(1, 3)), checkpoint: checkpoint('a', 3) });
    expect(await audit.headless()).toEqual([]);
  });

  it('stores texts that some engines cannot hold', async () => {
    const { audit } = await opened();
    await audit.append(batch('a', [row(1, { tool: 'a\u0000b', caller: 'half \ud800', callId: '\u0000' })]));
    expect(await audit.rows('a', 0, 1)).toMatchObject([{ tool: 'a\ufffdb', caller: 'half \ufffd', callId: '\ufffd' }]);
    expect(await audit.recent({ limit: 5, tool: 'a\u0000b', caller: 'half \ud800' })).toHaveLength(1);
    expect(await audit.find('\u0000')).toMatchObject({ number: 1, chain: 'a' });
  });

  it('accepts rows again that were written by a try whose answer was lost, and none in place of others', async () => {
    const { audit } = await opened();
    await audit.append(batch('a', rows(1, 3)));
    expect(await audit.append(batch('a', rows(1, 3)))).toEqual(endOf(rows(1, 3)));
    expect(await audit.append(batch('a', rows(3, 4), { count: 2, hash: 'other' }))).toBeUndefined();
    expect(await audit.append(batch('a', rows(2, 2), { count: 1, hash: 'other' }))).toBeUndefined();
    expect(await audit.rows('a', 0, 10)).toEqual(stored(rows(1, 3)));
  });

  it('lets one of many concurrent writers of one chain continue', async () => {
    const { audit } = await opened();
    const tries = Array.from({ length: 8 }, (_, index) => audit.append(batch('a', [row(index)])));
    expect((await Promise.all(tries)).filter((end) => end !== undefined)).toHaveLength(1);
    expect(await audit.rows('a', 0, 10)).toHaveLength(1);
  });

  it('stores checkpoints with the rows they came with, and each once', async () => {
    const { audit } = await opened();
    await audit.append({ ...batch('a', rows(1, 2)), checkpoint: checkpoint('a', 2) });
    await audit.append({ ...batch('a', rows(3, 4), endOf(rows(1, 2))), checkpoint: checkpoint('a', 4) });
    await audit.append({ ...batch('a', [], endOf(rows(1, 4))), checkpoint: checkpoint('a', 4) });
    expect(await audit.checkpoints('a', 0, 10)).toEqual([checkpoint('a', 2), checkpoint('a', 4)]);
    expect(await audit.checkpoints('a', 2, 10)).toEqual([checkpoint('a', 4)]);
    expect(await audit.newestCheckpoint('a')).toEqual(checkpoint('a', 4));
    expect(await audit.newestCheckpoint('b')).toBeUndefined();
  });

  it('finds calls, newest first, by all given filters, and continues from any of them', async () => {
    const { audit } = await opened();
    await audit.append(
      batch('a', [
        row(1, { at: 10 }),
        row(2, { at: 20, tool: 'wipe', outcome: 'denied' }),
        row(3, { at: 30, outcome: 'intent' }),
        row(4, { at: 20, caller: 'bob' }),
        row(5, { at: 40, outcome: 'lost' }),
      ]),
    );
    await audit.append(batch('b', [row(1, { at: 20 }), row(2, { at: 25, callId: 'call 1' })]));
    const found = async (query: Partial<Parameters<typeof audit.recent>[0]>) =>
      (await audit.recent({ limit: 10, ...query })).map(({ chain, number }) => `${chain}${number}`);
    expect(await found({})).toEqual(['b2', 'b1', 'a4', 'a2', 'a1']);
    expect(await found({ limit: 2 })).toEqual(['b2', 'b1']);
    expect(await found({ before: { at: 20, chain: 'b', number: 1 } })).toEqual(['a4', 'a2', 'a1']);
    expect(await found({ before: { at: 20, chain: 'a', number: 4 }, limit: 1 })).toEqual(['a2']);
    expect(await found({ tool: 'wipe' })).toEqual(['a2']);
    expect(await found({ caller: 'bob' })).toEqual(['a4']);
    expect(await found({ outcome: 'denied', tool: 'add' })).toEqual([]);
    expect(await audit.find('call 1')).toMatchObject({ chain: 'b', number: 2 });
    expect(await audit.find('call 3')).toBeUndefined();
  });

  it('removes old rows up to a checkpoint that stays, and records the limit first', async () => {
    const { audit } = await opened();
    await audit.append({ ...batch('a', rows(1, 4)), checkpoint: checkpoint('a', 4) });
    await audit.append({ ...batch('a', rows(5, 9), endOf(rows(1, 4))), checkpoint: checkpoint('a', 9) });
    expect(await audit.lastBefore('a', 1005)).toEqual(checkpoint('a', 4));
    expect(await audit.lastBefore('a', 1004)).toBeUndefined();
    expect(await audit.lastBefore('a', 5000)).toEqual(checkpoint('a', 9));
    await audit.cut({ ...checkpoint('a', 4), key: 'mine' });
    expect((await audit.chains())[0]?.cut).toEqual({ ...checkpoint('a', 4), key: 'mine' });
    expect(await audit.removeCut('a', 3)).toBe(3);
    expect(await audit.removeCut('a', 3)).toBe(1);
    expect(await audit.removeCut('a', 3)).toBe(0);
    expect(await audit.rows('a', 0, 10)).toEqual(stored(rows(1, 9)).slice(4));
    expect(await audit.checkpoints('a', 0, 10)).toEqual([checkpoint('a', 4), checkpoint('a', 9)]);
    await audit.cut({ ...checkpoint('a', 2), key: 'later' }); // never back
    expect((await audit.chains())[0]?.cut?.count).toBe(4);
    await audit.cut({ ...checkpoint('a', 9), key: 'mine' });
    await audit.removeCut('a', 100);
    expect(await audit.end('a')).toEqual({ count: 9, hash: 'hash 9' });
  });

  it('lets one of many processes clean up, and the next only after a while', async () => {
    let now = 1_000_000;
    const { audit } = await opened({ now: () => now });
    const claims = await Promise.all(Array.from({ length: 5 }, () => audit.claimTidying(1000)));
    expect(claims.filter((isMine) => isMine)).toHaveLength(1);
    now += 999;
    expect(await audit.claimTidying(1000)).toBe(false);
    now += 1;
    expect(await audit.claimTidying(1000)).toBe(true);
  });
}
