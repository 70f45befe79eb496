import { expect, it } from 'vitest';
import type { NewKey, Store } from '../../src/core/ports/store.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';

const key = (id: string, more: Partial<NewKey> = {}): NewKey => ({
  id,
  hash: `hash of ${id}`,
  name: 'ci',
  caller: 'key:ci',
  roles: ['dev'],
  permissions: [],
  ...more,
});

/** What every store keeps to about API keys. */
export function keysContract(opened: (options?: Partial<StoreOptions>) => Promise<Store>): void {
  it('stores a key with its creator and time, and shows no hash in the list', async () => {
    let now = 5;
    const { keys } = await opened({ now: () => now++ });
    const whole = key('b', { permissions: ['read'], profiles: ['a*'], expiresAt: 2_000_000_000_000 });
    const { hash: _hash, ...shown } = whole;
    expect(await keys.add(whole, 'cli:ann')).toEqual({ ...shown, createdBy: 'cli:ann', createdAt: 5 });
    await keys.add(key('a'), 'cli:bob');
    expect(await keys.find('b')).toEqual({ ...whole, createdBy: 'cli:ann', createdAt: 5 });
    expect((await keys.list()).map(({ id }) => id)).toEqual(['b', 'a']);
    expect(JSON.stringify(await keys.list())).not.toContain('hash of');
  });

  it('distinguishes no profiles from an empty list of them', async () => {
    const { keys } = await opened();
    await keys.add(key('none'), 'ann');
    await keys.add(key('empty', { profiles: [] }), 'ann');
    expect(await keys.find('none')).not.toHaveProperty('profiles');
    expect(await keys.find('empty')).toMatchObject({ profiles: [] });
    expect(await keys.find('unknown')).toBeUndefined();
  });

  it('accepts an id once, and keeps the first', async () => {
    const { keys } = await opened();
    await keys.add(key('a', { name: 'first' }), 'ann');
    await expect(keys.add(key('a', { name: 'second' }), 'bob')).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await keys.find('a')).toMatchObject({ name: 'first', createdBy: 'ann' });
  });

  it('revokes once, and records the first who did', async () => {
    const { keys } = await opened({ now: () => 9 });
    await keys.add(key('a'), 'ann');
    const results = await Promise.all(['bob', 'cid', 'dan'].map((by) => keys.revoke('a', by)));
    expect(results.toSorted()).toEqual(['already', 'already', 'revoked']);
    const by = ['bob', 'cid', 'dan'][results.indexOf('revoked')];
    expect(await keys.find('a')).toMatchObject({ revokedBy: by, revokedAt: 9 });
    expect(await keys.revoke('unknown', 'bob')).toBe('unknown');
  });

  it('records a use at most once per interval', async () => {
    const { keys } = await opened();
    await keys.add(key('a'), 'ann');
    const noted = async (at: number) => {
      await keys.noteUse('a', at, 60);
      return (await keys.find('a'))?.lastUsedAt;
    };
    expect([await noted(100), await noted(159), await noted(160), await noted(50)]).toEqual([100, 100, 160, 160]);
  });

  it('returns odd names unchanged', async () => {
    const { keys } = await opened();
    const odd = `'; DROP TABLE toolcrib_keys; -- ? $1 "é" \u{1f511}`;
    await keys.add(key('a', { name: odd, roles: [odd] }), odd);
    expect(await keys.find('a')).toMatchObject({ name: odd, roles: [odd], createdBy: odd });
  });
}
