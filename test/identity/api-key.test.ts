import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mintKey, readKey } from '../../src/identity/api-keys.ts';
import { deskWith, REFUSED } from './world.ts';

/** What docs/configuration.md tells scanners to look for. */
const SCANNED = /^tck_[0-9a-hjkmnp-tv-z]{10}_[0-9a-hjkmnp-tv-z]{39}$/;
const character = fc.oneof(
  fc.constantFrom(...'0123456789abcdefghijklmnopqrstuvwxyzABCXYZ_-. \u0000é'),
  fc.string({ minLength: 1, maxLength: 1 }),
);

describe('an API key', () => {
  it('has the form that scanners know, and no two are equal', () => {
    const keys = Array.from({ length: 500 }, () => mintKey());
    for (const { key, id, hash } of keys) {
      expect(key).toMatch(SCANNED);
      expect(readKey(key)).toEqual({ id, hash });
    }
    expect(new Set(keys.map(({ key }) => key)).size).toBe(500);
    expect(new Set(keys.map(({ id }) => id)).size).toBe(500);
  });

  it('with one character changed, at every position, is refused before the lookup', () => {
    const { key } = mintKey();
    fc.assert(
      fc.property(fc.nat(key.length - 1), character, (at, other) => {
        fc.pre(other !== key[at]);
        expect(readKey(`${key.slice(0, at)}${other}${key.slice(at + 1)}`)).toBeUndefined();
      }),
      { numRuns: 3000 },
    );
  });

  it('with two characters swapped, one missing or one too many is refused', () => {
    const { key } = mintKey();
    for (const at of key.slice(1).split('').keys()) {
      const [a = '', b = ''] = key.slice(at, at + 2);
      const slips = [
        a === b ? '' : `${key.slice(0, at)}${b}${a}${key.slice(at + 2)}`,
        `${key.slice(0, at)}${key.slice(at + 1)}`,
        `${key.slice(0, at)}${a}${key.slice(at)}`,
      ];
      for (const slip of slips) expect(readKey(slip)).toBeUndefined();
    }
    for (const other of [`${key}\n`, ` ${key}`, key.toUpperCase(), key.repeat(2)])
      expect(readKey(other)).toBeUndefined();
  });

  it('changed at any position opens nothing, and does not reach the store', async () => {
    const desk = await deskWith({ keys: true });
    const { key } = await desk.keys.create({ name: 'ci', profiles: ['assistant'] }, 'ann');
    const asked: string[] = [];
    const find = (id: string) => {
      asked.push(id);
      return desk.store.keys.find(id);
    };
    const identify = desk.identifyWith({ ...desk.options, keys: { ...desk.store.keys, find } });
    for (const at of key.split('').keys()) {
      const other = key[at] === 'x' ? 'y' : 'x';
      expect(await identify(`${key.slice(0, at)}${other}${key.slice(at + 1)}`)).toEqual(REFUSED);
    }
    expect(asked).toEqual([]);
    expect(await identify(key)).toMatchObject({ ok: true });
  });

  it('with the id of another key is refused', async () => {
    const desk = await deskWith({ keys: true });
    const [one, other] = [mintKey(), mintKey()];
    const stored = { name: 'ci', caller: 'key:ci', roles: ['dev'], permissions: [] };
    await desk.store.keys.add({ ...stored, id: one.id, hash: other.hash }, 'ann');
    expect(await desk.identify(one.key)).toEqual(REFUSED);
  });
});
