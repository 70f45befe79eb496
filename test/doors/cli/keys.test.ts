import { afterAll, describe, expect, it } from 'vitest';
import { createCrib } from '../../../src/index.ts';
import { createWorkshop } from './workshop.ts';

const PROFILES = 'profiles: { assistant: {}, ops: {} }\ndefaultProfile: assistant\n';
const ACCESS = 'access: { keys: true, roles: { dev: { profiles: [assistant] } } }\n';
const shop = createWorkshop({ 'toolcrib.yaml': `${PROFILES}${ACCESS}` });
afterAll(shop.remove);

const KEY = /^tck_[0-9a-z]{10}_[0-9a-z]{39}\n$/;

describe('toolcrib keys', () => {
  it('creates a key, prints it once and alone, lists it and revokes it while another process uses it', async () => {
    const made = await shop.run(['keys', 'create', '--name', 'ci', '--role', 'dev', '--expires', '30d']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(KEY) });
    expect(made.stderr).toMatch(/shown only once[\s\S]*is for caller key:ci, opens assistant, and expires \d{4}-/);
    const key = made.stdout.trim();
    const id = key.slice(4, 14);
    expect(made.stderr).not.toContain(key.slice(15));

    const crib = await createCrib({ configFile: shop.folder, watch: false });
    expect(await crib.identify(key)).toMatchObject({ ok: true, caller: { id: 'key:ci' }, profiles: ['assistant'] });
    const listed = await shop.run(['keys']);
    expect(listed.stdout).toMatch(new RegExp(`^${id} +ci +key:ci +dev +of its roles +\\d{4}-.* active$`, 'm'));
    expect(listed.stdout).not.toContain(key.slice(15));

    expect(await shop.run(['keys', 'revoke', id])).toEqual({ code: 0, stdout: `${id} revoked\n`, stderr: '' });
    expect(await crib.identify(key)).toMatchObject({ ok: false, error: { code: 'unauthenticated' } });
    await crib.close();
    expect((await shop.run(['keys'])).stdout).toMatch(/revoked$/m);
    expect(await shop.run(['keys', 'revoke', id])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('it is already revoked'),
    });
  });

  it('accepts every property of a key', async () => {
    const args = ['keys', 'create', '--name', 'bot', '--caller', 'alice', '--role', 'dev', '--role', 'guest'];
    const more = ['--permission', 'read', '--allow-profile', 'assis*', '--expires', '2099-12-31'];
    expect(await shop.json([...args, ...more])).toEqual({
      key: expect.stringMatching(/^tck_/),
      id: expect.any(String),
      name: 'bot',
      caller: 'alice',
      roles: ['dev', 'guest'],
      permissions: ['read'],
      profiles: ['assis*'],
      createdBy: expect.stringMatching(/^cli/),
      createdAt: expect.any(String),
      expiresAt: '2099-12-31T00:00:00.000Z',
      state: 'active',
      opens: ['assistant'],
    });
    expect(
      await shop.json(['keys', 'create', '--name', 'bot', '--role', 'dev', '--expires', 'never']),
    ).not.toHaveProperty('expiresAt');
  });

  it('says if a new key opens nothing', async () => {
    const unknownRole = await shop.run(['keys', 'create', '--name', 'x', '--role', 'gone']);
    expect(unknownRole).toMatchObject({ code: 0, stderr: expect.stringContaining('opens no profile') });
    const other = createWorkshop({ 'toolcrib.yaml': PROFILES });
    const off = await other.run(['keys', 'create', '--name', 'x', '--allow-profile', 'ops']);
    expect(off).toMatchObject({ code: 0, stderr: expect.stringContaining('access.keys is not on') });
    other.remove();
  });

  it.each([
    [['keys', 'create'], 2, 'needs --name NAME'],
    [['keys', 'create', 'ci', '--role', 'dev'], 2, 'needs --name NAME'],
    [['keys', 'create', '--name', 'x'], 2, 'needs a role or a profile'],
    [['keys', 'create', '--name', 'x', '--profile', 'ops'], 2, 'Use --allow-profile GLOB instead of --profile'],
    [['keys', 'create', '--name', 'x', '--role', 'dev', '--expires', 'soon'], 2, '--expires takes 30m'],
    [['keys', 'create', '--name', 'x', '--role', 'dev', '--expires', '0d'], 2, 'expiry is in the past'],
    [['keys', 'create', '--name', 'x', '--role', 'dev', '--expires', '2020-01-01'], 2, 'expiry is in the past'],
    [['keys', 'create', '--name', 'x', '--role', 'dev', '--expires', '2030-13-45'], 2, '--expires takes 30m'],
    [['keys', 'create', '--name', 'x', '--caller', 'operator', '--role', 'dev'], 2, 'is reserved'],
    [['keys', 'revoke'], 2, 'needs an ID'],
    [['keys', 'revoke', 'absent'], 1, 'no key has this id'],
    [['keys', 'drop', 'x'], 2, 'keys takes create or revoke, not "drop"'],
    [['keys', '--name', 'x'], 2, '--name can only be used with "toolcrib keys create"'],
  ])('%j is answered with a sentence', async (args, code, sentence) => {
    expect(await shop.run(args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(sentence) });
  });
});

describe('toolcrib check', () => {
  it('reports stored keys while keys are off', async () => {
    const access = 'access: { jwt: { issuer: "https://id.example.com", audience: a }, roles: { dev: {} } }';
    const off = createWorkshop({ 'toolcrib.yaml': `${PROFILES}${access}\n` });
    await off.run(['keys', 'create', '--name', 'ci', '--role', 'dev']);
    expect(await off.json(['check'])).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('1 API key is active, but access.keys is not on')],
    });
    off.remove();
  });
});
