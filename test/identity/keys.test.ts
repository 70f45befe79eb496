import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Crib, createCrib } from '../../src/index.ts';
import { wrong } from '../bad-input/wrong.ts';
import { folderWith } from '../crib/workshop.ts';
import { cribWith, deskWith, REFUSED, ROLES, UNAVAILABLE } from './world.ts';

const ACCESS = { keys: true, roles: ROLES };
const DAY = 86_400_000;

describe('the permissions of a key', () => {
  it.each<[string, Parameters<Crib['keys']['create']>[0], readonly string[], boolean]>([
    ['the profiles of its roles', { name: 'a', roles: ['dev', 'ops'] }, ['assistant', 'operations', 'opera'], false],
    ['globs of a role', { name: 'a', roles: ['ops'] }, ['operations', 'opera'], false],
    ['what it names itself, if it has no role', { name: 'a', profiles: ['oper?'] }, ['opera'], false],
    [
      'only what role and key both allow',
      { name: 'a', roles: ['ops'], profiles: ['*a*'] },
      ['operations', 'opera'],
      false,
    ],
    ['nothing where role and key agree on nothing', { name: 'a', roles: ['dev'], profiles: ['opera'] }, [], false],
    ['nothing by a role that is not there', { name: 'a', roles: ['gone'] }, [], false],
    ['nothing by such a role, whatever it names', { name: 'a', roles: ['gone'], profiles: ['*'] }, [], false],
    [
      'nothing by a role named like what every object has',
      { name: 'a', roles: ['constructor', '__proto__'] },
      [],
      false,
    ],
    ['everything as an operator', { name: 'a', roles: ['admin'] }, ['assistant', 'operations', 'opera'], true],
    [
      'not as an operator if it is limited',
      { name: 'a', roles: ['admin'], profiles: ['*'] },
      ['assistant', 'operations', 'opera'],
      false,
    ],
  ])('%s', async (_, request, profiles, operator) => {
    const crib = await cribWith(ACCESS);
    const { key, info, opens } = await crib.keys.create(request, 'ann');
    expect(opens).toEqual(profiles);
    const identity = await crib.identify(`Bearer ${key}`);
    expect(identity).toEqual({
      ok: true,
      caller: {
        id: 'key:a',
        roles: request.roles ?? [],
        permissions: [],
        credential: { kind: 'key', id: info.id },
        ...(operator ? { operator } : { profiles }),
      },
      profiles,
      operator,
      ...(!operator && { maxPriority: 0 }),
    });
    if (!identity.ok) return;
    for (const name of crib.profiles()) {
      const opened = crib.open(name, identity.caller).then((chest) => chest.profile);
      if (profiles.includes(name)) expect(await opened).toBe(name);
      else await expect(opened).rejects.toMatchObject({ code: 'denied' });
    }
  });

  it('the caller it names, with its permissions', async () => {
    const { identify, keys } = await deskWith(ACCESS);
    const { key } = await keys.create({ name: 'a', caller: 'alice', roles: ['dev'], permissions: ['read'] }, 'ann');
    for (const sent of [key, ` ${key}\r\n`, `Bearer ${key}`, `bearer  ${key}`, `BEARER\t${key}`]) {
      expect(await identify(sent)).toMatchObject({ ok: true, caller: { id: 'alice', permissions: ['read'] } });
    }
  });

  it('its identity cannot be changed by its receiver', async () => {
    const { identify, keys } = await deskWith(ACCESS);
    const { key } = await keys.create({ name: 'a', roles: ['dev'] }, 'ann');
    const identity = await identify(key);
    if (!identity.ok) throw new Error('it is a good key');
    for (const part of [identity, identity.caller, identity.profiles, identity.caller.roles, identity.caller.profiles])
      expect(Object.isFrozen(part)).toBe(true);
  });
});

describe('the secret', () => {
  it('is shown once and stored as a hash: no file of the store contains it', async () => {
    const folder = folderWith({ 'toolcrib.yaml': 'access: { keys: true }\n' });
    const crib = await createCrib({ configFile: folder, watch: false });
    onTestFinished(() => crib.close());
    const { key, info } = await crib.keys.create({ name: 'ci', profiles: ['*'] }, 'ann');
    const secret = key.slice(-39, -7);
    expect(JSON.stringify([info, await crib.keys.list()])).not.toMatch(new RegExp(`${secret}|hash`));
    await crib.identify(key);
    const files = readdirSync(join(folder, '.toolcrib')).map((name) => readFileSync(join(folder, '.toolcrib', name)));
    expect(files.some((bytes) => bytes.includes(info.id))).toBe(true);
    expect(files.some((bytes) => bytes.includes(secret))).toBe(false);
  });
});

describe('the expiry of a key', () => {
  it('is exact to the millisecond', async () => {
    const { identify, keys, time } = await deskWith(ACCESS);
    const { key, info } = await keys.create({ name: 'a', roles: ['dev'], forMs: 1000 }, 'ann');
    expect(info.expiresAt).toBe(time.now + 1000);
    time.now += 999;
    expect(await identify(key)).toMatchObject({ ok: true });
    time.now += 1;
    expect(await identify(key)).toEqual(REFUSED);
    expect(await keys.list()).toMatchObject([{ state: 'expired' }]);
  });

  it('is after 90 days by default, and never only if requested', async () => {
    const { keys, time } = await deskWith(ACCESS);
    const { info } = await keys.create({ name: 'a', roles: ['dev'] }, 'ann');
    expect(info.expiresAt).toBe(time.now + 90 * DAY);
    const endless = await keys.create({ name: 'a', roles: ['dev'], expiresAt: null }, 'ann');
    expect(endless.info).not.toHaveProperty('expiresAt');
  });

  it('stays if the clock of the machine is set back', async () => {
    const crib = await cribWith(ACCESS);
    const { key } = await crib.keys.create({ name: 'a', roles: ['dev'], forMs: 60_000 }, 'ann');
    const steady = performance.now.bind(performance);
    const later = vi.spyOn(performance, 'now').mockImplementation(() => steady() + 60_000);
    const backwards = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 30 * DAY);
    onTestFinished(() => [later, backwards].forEach((spy) => void spy.mockRestore()));
    expect(await crib.identify(key)).toEqual(REFUSED);
  });

  it('includes the time while the machine sleeps, when only the wall clock continues', async () => {
    const crib = await cribWith(ACCESS);
    const { key } = await crib.keys.create({ name: 'a', roles: ['dev'], forMs: 60_000 }, 'ann');
    const awake = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    onTestFinished(() => awake.mockRestore());
    expect(await crib.identify(key)).toEqual(REFUSED);
  });

  it('is immediate when it is revoked, also by another process', async () => {
    const configFile = folderWith({ 'toolcrib.yaml': 'access: { keys: true }\nprofiles: { assistant: {} }\n' });
    const [one, other] = [
      await createCrib({ configFile, watch: false }),
      await createCrib({ configFile, watch: false }),
    ];
    onTestFinished(async () => void (await Promise.all([one.close(), other.close()])));
    const { key, info } = await one.keys.create({ name: 'a', profiles: ['*'] }, 'ann');
    expect([await one.identify(key), await other.identify(key)]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await other.keys.revoke(info.id, 'bob')).toEqual({ ok: true, applied: [info.id], rejected: [] });
    expect([await one.identify(key), await other.identify(key)]).toEqual([REFUSED, REFUSED]);
    expect(await one.keys.list()).toMatchObject([{ state: 'revoked', revokedBy: 'bob' }]);
    expect(await one.keys.revoke(info.id, 'cid')).toMatchObject({
      ok: false,
      rejected: [{ reason: 'it is already revoked' }],
    });
    expect(await one.keys.revoke('nobody', 'cid')).toMatchObject({
      ok: false,
      rejected: [{ reason: 'no key has this id' }],
    });
  });
});

it('a key is read once for requests that come together, and not before the last of them', async () => {
  const { identifyWith, options, keys, store } = await deskWith(ACCESS);
  const found: string[] = [];
  const find = (id: string) => {
    found.push(id);
    return store.keys.find(id);
  };
  const identify = identifyWith({ ...options, keys: { ...store.keys, find } });
  const [one, other] = [
    await keys.create({ name: 'a', roles: ['dev'] }, 'ann'),
    await keys.create({ name: 'b', roles: ['dev'] }, 'ann'),
  ];
  const wrong = `${other.key.slice(0, 20)}${one.key.slice(20)}`;
  const answers = await Promise.all([one, other, one, other].map(({ key }) => identify(key)));
  expect(answers.map((answer) => answer.ok && answer.caller.id)).toEqual(['key:a', 'key:b', 'key:a', 'key:b']);
  expect(found).toEqual([one.info.id, other.info.id]);
  expect(await Promise.all([identify(one.key), identify(wrong)])).toMatchObject([{ ok: true }, REFUSED]);
  const early = identify(one.key);
  await keys.revoke(one.info.id, 'bob');
  const late = identify(one.key);
  await early;
  expect(await late).toEqual(REFUSED);
});

it('requests that come together fail together if the store throws', async () => {
  const { identifyWith, options, keys, store } = await deskWith(ACCESS);
  const { key } = await keys.create({ name: 'a', roles: ['dev'] }, 'ann');
  const find = () => {
    throw new Error('gone');
  };
  const identify = identifyWith({ ...options, keys: { ...store.keys, find } });
  expect(await Promise.all([identify(key), identify(key)])).toEqual(
    [UNAVAILABLE, UNAVAILABLE].map((error) => expect.objectContaining({ ok: error.ok })),
  );
});

describe('the last use of a key', () => {
  it('is stored once a minute, however many requests come at once', async () => {
    const { identifyWith, options, keys, store, time } = await deskWith(ACCESS);
    const notes: number[] = [];
    const noteUse = async (id: string, at: number, everyMs: number) => {
      notes.push(at);
      await store.keys.noteUse(id, at, everyMs);
    };
    const identify = identifyWith({ ...options, keys: { ...store.keys, noteUse } });
    const { key } = await keys.create({ name: 'a', roles: ['dev'] }, 'ann');
    const start = time.now;
    await Promise.all(Array.from({ length: 20 }, () => identify(key)));
    await vi.waitFor(async () => expect(await keys.list()).toMatchObject([{ lastUsedAt: start }]));
    time.now += 59_999;
    await identify(key);
    expect(notes).toEqual([start]);
    time.now += 1;
    await identify(key);
    expect(notes).toEqual([start, start + 60_000]);
  });

  it('delays and refuses no caller', async () => {
    const { identifyWith, options, keys, store, warnings } = await deskWith(ACCESS);
    const { key } = await keys.create({ name: 'a', roles: ['dev'] }, 'ann');
    const never = identifyWith({ ...options, keys: { ...store.keys, noteUse: () => new Promise(() => {}) } });
    expect(await never(key)).toMatchObject({ ok: true });
    const failing = identifyWith({
      ...options,
      keys: { ...store.keys, noteUse: () => Promise.reject(new Error('full')) },
    });
    expect(await failing(key)).toMatchObject({ ok: true });
    await vi.waitFor(() => expect(warnings.join()).toContain('full'));
  });
});

describe('if the store does not answer', () => {
  it('no key is accepted, and callers do not learn why', async () => {
    const { identify, keys, store, warnings } = await deskWith(ACCESS);
    const { key } = await keys.create({ name: 'a', roles: ['dev'] }, 'ann');
    await store.close();
    expect(await identify(key)).toEqual(UNAVAILABLE);
    expect(warnings).toEqual([expect.stringContaining('is closed')]);
  });
});

describe('making a key', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /must be an object/],
    ['no name', { roles: ['dev'] }, /name must be a text/],
    ['an empty name', { name: ' ', roles: ['dev'] }, /name must be a text/],
    ['a name that moves the cursor', { name: 'a\u001b[2J', roles: ['dev'] }, /control characters/],
    ['half a character', { name: '\ud800', roles: ['dev'] }, /name must be a text/],
    ['a huge name', { name: 'x'.repeat(201), roles: ['dev'] }, /name must be a text/],
    ['neither role nor profile', { name: 'a' }, /needs a role or a profile/],
    ['empty lists', { name: 'a', roles: [], profiles: [] }, /needs a role or a profile/],
    ['roles that are not names', { name: 'a', roles: [7] }, /roles takes a name or a list/],
    ['an empty role', { name: 'a', roles: [''] }, /roles must be a text/],
    ['too many roles', { name: 'a', roles: Array.from({ length: 101 }, (_, index) => `r${index}`) }, /more than 100/],
    ['the id of the operator', { name: 'a', caller: 'operator', roles: ['dev'] }, /is reserved/],
    ['the id of local', { name: 'a', caller: 'local', roles: ['dev'] }, /is reserved/],
    ['the id of another key', { name: 'a', caller: 'key:b', roles: ['dev'] }, /is reserved/],
    ['two ends', { name: 'a', roles: ['dev'], expiresAt: 9e12, forMs: 1 }, /not both/],
    ['an end that was', { name: 'a', roles: ['dev'], expiresAt: 1 }, /in the past/],
    ['no time at all', { name: 'a', roles: ['dev'], forMs: 0 }, /in the past/],
    ['a time that is none', { name: 'a', roles: ['dev'], forMs: Number.NaN }, /cannot expire/],
    ['a text for a time', { name: 'a', roles: ['dev'], expiresAt: '2030-01-01' }, /cannot expire/],
    ['a time beyond all', { name: 'a', roles: ['dev'], expiresAt: 9e99 }, /cannot expire/],
    ['an unknown option', { name: 'a', roles: ['dev'], profile: 'x' }, /no "profile".*"profiles"/],
  ])('of %s is refused with a sentence', async (_, request, message) => {
    const { keys } = await deskWith(ACCESS);
    await expect(keys.create(wrong(request), 'ann')).rejects.toMatchObject({
      name: 'ToolcribError',
      message: expect.stringMatching(message),
    });
    expect(await keys.list()).toEqual([]);
  });

  it('requires a creator', async () => {
    const { keys } = await deskWith(ACCESS);
    await expect(keys.create({ name: 'a', roles: ['dev'] }, wrong(undefined))).rejects.toMatchObject({
      code: 'invalid_key',
    });
    await expect(keys.revoke('x', '')).rejects.toMatchObject({ code: 'invalid_key' });
  });

  it('many at once creates as many', async () => {
    const { keys } = await deskWith(ACCESS);
    const made = await Promise.all(Array.from({ length: 50 }, () => keys.create({ name: 'a', roles: ['dev'] }, 'ann')));
    expect(new Set(made.map(({ key }) => key)).size).toBe(50);
    expect(await keys.list()).toHaveLength(50);
  });
});
