import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { folderWith, write } from '../crib/workshop.ts';
import { cribWith, deskWith, REFUSED, ROLES } from './world.ts';

const NEEDED = {
  ok: false,
  error: { code: 'unauthenticated', message: expect.stringContaining('credential is required') },
};

describe('without access', () => {
  it('a caller without a credential is local, under the default profile, and not an operator', async () => {
    const crib = await cribWith(undefined);
    for (const none of [undefined, null, '', '   ']) {
      const identity = await crib.identify(none);
      expect(identity).toEqual({
        ok: true,
        caller: { id: 'local', profiles: ['assistant'], credential: { kind: 'none' } },
        profiles: ['assistant'],
        operator: false,
      });
      if (!identity.ok) return;
      expect((await crib.open(undefined, identity.caller)).profile).toBe('assistant');
      await expect(crib.open('operations', identity.caller)).rejects.toMatchObject({ code: 'denied' });
    }
  });

  it('a caller with an invalid credential does not count as local', async () => {
    const crib = await cribWith(undefined);
    for (const wrong of ['x', 'Bearer', 'Bearer x', 'tck_0000000000_000', 'a.b.c']) {
      expect(await crib.identify(wrong)).toEqual(REFUSED);
    }
  });

  it('local may use all tools without profiles', async () => {
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', run: () => 1 }] });
    const identity = await crib.identify();
    expect(identity).toMatchObject({ ok: true, caller: { id: 'local' }, profiles: ['all'] });
    if (identity.ok) expect((await crib.open(undefined, identity.caller)).list()).toHaveLength(1);
  });

  it('a crib without a configuration has no keys, and creating one says so', async () => {
    const crib = await createCrib();
    expect(await crib.identify('tck_0000000000_000')).toEqual(REFUSED);
    await expect(crib.keys.create({ name: 'ci', roles: ['dev'] }, 'ann')).rejects.toMatchObject({
      code: 'not_available',
    });
    expect(await crib.keys.problems()).toEqual([]);
  });
});

describe('with access', () => {
  it('a caller without a credential may do nothing', async () => {
    const crib = await cribWith({ keys: true, roles: ROLES });
    for (const none of [undefined, null, '', ' ']) expect(await crib.identify(none)).toMatchObject(NEEDED);
  });

  it('an empty access admits no caller', async () => {
    const crib = await cribWith({});
    expect(await crib.identify()).toMatchObject(NEEDED);
    const { key } = await crib.keys.create({ name: 'ci', profiles: ['*'] }, 'ann');
    expect(await crib.identify(key)).toEqual(REFUSED);
  });

  it('any credential gets an answer, never an exception, and always the same sentence', async () => {
    const jwt = { issuer: 'http://127.0.0.1:9', audience: 'toolcrib' };
    const { identify } = await deskWith({ keys: true, jwt, roles: ROLES });
    const part = fc.oneof(fc.string(), fc.base64String(), fc.json());
    const credential = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.trim() !== ''),
      part.map((text) => `Bearer x${text}`),
      part.map((text) => `tck_${text}`),
      part.map((text) => `tco_${text}`),
      fc
        .array(part, { minLength: 2, maxLength: 5 })
        .map((parts) => parts.join('.'))
        .filter((text) => text.trim() !== ''),
    );
    await fc.assert(
      fc.asyncProperty(credential, async (text) => {
        expect(await identify(text)).toEqual(REFUSED);
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, unknown]>([
    ['a number', 7],
    ['an object', { toString: () => 'x' }],
    ['a list', ['x']],
    ['true', true],
    ['a symbol', Symbol('x')],
    ['something huge', 'x'.repeat(20_000_000)],
    ['a huge token', `${'a'.repeat(9_000)}.${'b'.repeat(9_000)}.c`],
    ['another scheme', 'Basic YTpi'],
    ['two credentials', 'Bearer a Bearer b'],
  ])('%s is refused', async (_, wrong) => {
    const { identify } = await deskWith({ keys: true, roles: ROLES });
    expect(await identify(wrong as string)).toEqual(REFUSED);
  });

  it('the reason for a refused credential goes to the log only', async () => {
    const { identify, keys } = await deskWith({ keys: true });
    const { key, info } = await keys.create({ name: 'ci', profiles: ['*'] }, 'ann');
    await keys.revoke(info.id, 'ann');
    const identity = await identify(key);
    expect(JSON.stringify(identity)).not.toContain('revoked.');
    expect(identity).toMatchObject({ error: { cause: new Error(`The API key ${info.id} ("ci") is revoked.`) } });
  });

  it('a changed configuration applies to the next credential', async () => {
    const access = (keys: boolean) => `profiles: { assistant: {} }\naccess: { keys: ${keys} }\n`;
    const configFile = folderWith({ 'toolcrib.yaml': access(true) });
    const crib = await createCrib({ configFile, watch: false, store: { url: 'memory:' } });
    onTestFinished(() => crib.close());
    const { key } = await crib.keys.create({ name: 'ci', profiles: ['assistant'] }, 'ann');
    expect(await crib.identify(key)).toMatchObject({ ok: true });
    write(configFile, { 'toolcrib.yaml': access(false) });
    await crib.reload();
    expect(await crib.identify(key)).toEqual(REFUSED);
  });

  it('a profile whose name looks like a glob opens no other', async () => {
    const configFile = folderWith({ 'toolcrib.yaml': 'access: { keys: true }\n' });
    const profiles = { 'a*': {}, abc: {} };
    const crib = await createCrib({ configFile, watch: false, store: { url: 'memory:' }, profiles });
    onTestFinished(() => crib.close());
    const { key } = await crib.keys.create({ name: 'ci', profiles: ['a?'] }, 'ann');
    const identity = await crib.identify(key);
    if (!identity.ok) throw new Error('it is a good key');
    await expect(crib.open('abc', identity.caller)).rejects.toMatchObject({ code: 'denied' });
  });

  it('a profile named all does not open all tools', async () => {
    const configFile = folderWith({
      'toolcrib.yaml': 'profiles: { all: { include: [] }, other: {} }\naccess: { keys: true }\n',
    });
    const tools = [{ name: 'tool', description: '', run: () => 1 }];
    const crib = await createCrib({ configFile, watch: false, store: { url: 'memory:' }, tools });
    onTestFinished(() => crib.close());
    const { key } = await crib.keys.create({ name: 'ci', profiles: ['all'] }, 'ann');
    const identity = await crib.identify(key);
    if (!identity.ok) throw new Error('it is a good key');
    for (const name of ['all', undefined]) expect((await crib.open(name, identity.caller)).list()).toEqual([]);
  });
});
