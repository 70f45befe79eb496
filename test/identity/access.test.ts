import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AccessClause, access, type Crib, createCrib, type Hours, type ToolCall } from '../../src/index.ts';
import { folderWith } from '../crib/workshop.ts';
import { startIssuer } from './issuer.ts';
import { ROLES } from './world.ts';

const run = vi.fn(() => 'ran');
const NOON = '2030-01-02T12:00:00Z';

/** A crib with one tool under these clauses, and one that calls it from inside. */
async function cribOver(clauses: AccessClause | readonly AccessClause[], at: () => string = () => NOON) {
  run.mockClear();
  const issuer = await startIssuer();
  const jwt = { issuer: issuer.url, audience: 'toolcrib' };
  const roles = Object.fromEntries(Object.keys({ ...ROLES, guest: 1 }).map((role) => [role, { profiles: ['*'] }]));
  const crib = await createCrib({
    configFile: folderWith({
      'toolcrib.yaml': `profiles: { assistant: {} }\naccess: ${JSON.stringify({ keys: true, jwt, roles })}\n`,
    }),
    store: { url: 'memory:' },
    watch: false,
    tools: [
      { name: 'tool', description: '', policy: { access: clauses as AccessClause }, run },
      { name: 'outer', description: '', run: (_: unknown, call: ToolCall) => call.tools.call('tool', {}) },
    ],
    extensions: [access({ clock: { now: () => Date.parse(at()), setTimer: () => () => {} } })],
  });
  onTestFinished(() => crib.close());
  return { crib, issuer };
}

/** The result of the tool for a caller with the credential: directly and from inside another call. */
async function use(crib: Crib, credential: string | undefined) {
  const identity = await crib.identify(credential);
  if (!identity.ok) return identity.error.code;
  const chest = await crib.open(undefined, identity.caller);
  const listed = chest.list().some(({ name }) => name === 'tool');
  const results = [await chest.call('tool'), await chest.call('outer')];
  const codes = results.map((result) => (result.status === 'failed' ? result.error.code : result.status));
  expect(new Set(codes).size).toBe(1);
  expect(run.mock.calls.length).toBe(codes[0] === 'done' ? 2 : 0);
  return `${listed ? 'listed' : 'hidden'}, ${codes[0]}`;
}

const SEEN = 'listed, done';
const HIDDEN = 'hidden, unknown_tool';
const REFUSED = 'listed, denied';

describe('Access: roles, users, permissions and deny decide the view of a caller with a token', () => {
  it.each<[string, AccessClause | readonly AccessClause[], object, string]>([
    ['any required role', { roles: ['ops', 'dev'] }, { roles: ['dev'] }, SEEN],
    ['none of the required roles', { roles: ['ops'] }, { roles: ['dev'] }, HIDDEN],
    [
      'any required role of each clause',
      [{ roles: ['ops', 'dev'] }, { roles: ['guest'] }],
      { roles: ['dev', 'guest'] },
      SEEN,
    ],
    ['one clause not met', [{ roles: ['dev'] }, { roles: ['guest'] }], { roles: ['dev'] }, HIDDEN],
    ['a role that differs by case', { roles: ['dev'] }, { roles: ['Dev', 'ops'] }, HIDDEN],
    ['all required permissions', { permissions: ['read', 'write'] }, { scope: 'write read' }, SEEN],
    ['one permission missing', { permissions: ['read', 'write'] }, { scope: 'read' }, HIDDEN],
    ['a permission that begins alike', { permissions: ['read'] }, { scope: 'read:all readonly' }, HIDDEN],
    ['a role is not a permission', { permissions: ['dev'] }, { roles: ['dev'] }, HIDDEN],
    ['a listed user', { users: ['alice'] }, {}, SEEN],
    ['a user who is not listed', { users: ['alice'] }, { sub: 'mallory' }, HIDDEN],
    ['denied beats allowed: the user', { roles: ['dev'], deny: { users: ['alice'] } }, {}, HIDDEN],
    [
      'denied beats allowed: the role',
      { users: ['alice'], deny: { roles: ['guest'] } },
      { roles: ['dev', 'guest'] },
      HIDDEN,
    ],
    ['denied by one clause, allowed by another', [{ users: ['alice'] }, { deny: { users: ['alice'] } }], {}, HIDDEN],
    ['another user denied', { deny: { users: ['mallory'], roles: ['guest'] } }, {}, SEEN],
  ])('%s', async (_, clauses, claims, expected) => {
    const { crib, issuer } = await cribOver(clauses);
    expect(await use(crib, await issuer.sign({ roles: ['dev'], ...claims }))).toBe(expected);
  });

  it('the same applies to a caller with a key', async () => {
    const { crib } = await cribOver([{ roles: ['dev'], permissions: ['read'] }, { deny: { users: ['key:bad'] } }]);
    const keyOf = async (name: string, permissions: readonly string[]) =>
      (await crib.keys.create({ name, roles: ['dev'], permissions }, 'ann')).key;
    expect(await use(crib, await keyOf('bad', ['read']))).toBe(HIDDEN);
    expect(await use(crib, await keyOf('poor', []))).toBe(HIDDEN);
    expect(await use(crib, await keyOf('good', ['read']))).toBe(SEEN);
  });

  it('No identity and a policy that needs one: refused.', async () => {
    const { crib } = await cribOver({ users: ['alice'] });
    expect(await use(crib, undefined)).toBe('unauthenticated');
    expect(await use(crib, 'guess')).toBe('unauthenticated');
    const nobody = await crib.open(undefined, {});
    expect(nobody.list().map(({ name }) => name)).toEqual(['outer']);
    expect(await nobody.call('tool')).toMatchObject({ error: { code: 'unknown_tool' } });
    expect(run).not.toHaveBeenCalled();
  });

  it('the operator sees every tool', async () => {
    const { crib } = await cribOver({ users: ['nobody'] });
    const identity = await crib.identify(await crib.operatorToken());
    if (!identity.ok) throw new Error('it is the token');
    expect(await (await crib.openAll(identity.caller)).call('tool')).toMatchObject({ ok: true });
  });

  it('a caller that lost a role sees less with the next token', async () => {
    const { crib, issuer } = await cribOver({ roles: ['ops'] });
    expect(await use(crib, await issuer.sign({ roles: ['ops'] }))).toBe(SEEN);
    run.mockClear();
    expect(await use(crib, await issuer.sign({ roles: ['dev'] }))).toBe(HIDDEN);
  });
});

describe('Access: hours are evaluated per call', () => {
  it.each<[string, Hours, string, string]>([
    ['inside', { from: '09:00', to: '17:00' }, '2030-01-02T09:00:00Z', SEEN],
    ['before', { from: '09:00', to: '17:00' }, '2030-01-02T08:59:59.999Z', REFUSED],
    ['after', { from: '09:00', to: '17:00' }, '2030-01-02T17:00:00Z', REFUSED],
    ['across midnight, before it', { from: '22:00', to: '06:00' }, '2030-01-02T23:59:59Z', SEEN],
    ['across midnight, at it', { from: '22:00', to: '06:00' }, '2030-01-03T00:00:00Z', SEEN],
    ['across midnight, at the end', { from: '22:00', to: '06:00' }, '2030-01-03T06:00:00Z', REFUSED],
    ['across midnight elsewhere', { from: '22:00', to: '06:00', timeZone: 'Asia/Tokyo' }, '2030-01-02T14:00:00Z', SEEN],
    [
      'on a day that is another one there',
      { from: '00:00', to: '01:00', timeZone: 'Pacific/Kiritimati', days: [4] },
      '2030-01-02T10:30:00Z',
      SEEN,
    ],
    ['in winter', { from: '09:00', to: '17:00', timeZone: 'Europe/Berlin' }, '2030-01-02T07:30:00Z', REFUSED],
    ['in summer', { from: '09:00', to: '17:00', timeZone: 'Europe/Berlin' }, '2030-07-02T07:30:00Z', SEEN],
    [
      'before the hour that summer time leaves out',
      { from: '02:00', to: '03:00', timeZone: 'America/New_York' },
      '2030-03-10T06:59:00Z',
      REFUSED,
    ],
    [
      'after the hour that summer time leaves out',
      { from: '02:00', to: '03:00', timeZone: 'America/New_York' },
      '2030-03-10T07:00:00Z',
      REFUSED,
    ],
    [
      'the hour that comes twice, first',
      { from: '01:00', to: '02:00', timeZone: 'America/New_York' },
      '2030-11-03T05:30:00Z',
      SEEN,
    ],
    [
      'the hour that comes twice, again',
      { from: '01:00', to: '02:00', timeZone: 'America/New_York' },
      '2030-11-03T06:30:00Z',
      SEEN,
    ],
    [
      'after the hour that comes twice',
      { from: '01:00', to: '02:00', timeZone: 'America/New_York' },
      '2030-11-03T07:00:00Z',
      REFUSED,
    ],
    [
      'a night shorter by summer time',
      { from: '22:00', to: '03:30', timeZone: 'Europe/Berlin' },
      '2030-03-31T01:29:00Z',
      SEEN,
    ],
    [
      'the end of a night shorter by summer time',
      { from: '22:00', to: '03:30', timeZone: 'Europe/Berlin' },
      '2030-03-31T01:30:00Z',
      REFUSED,
    ],
  ])('%s', async (_, hours, at, expected) => {
    const { crib, issuer } = await cribOver({ hours }, () => at);
    expect(await use(crib, await issuer.sign())).toBe(expected);
  });

  it('a chest that was opened in time does not stay open', async () => {
    let at = '2030-01-02T16:59:59Z';
    const { crib, issuer } = await cribOver({ hours: { from: '09:00', to: '17:00', days: [1, 3] } }, () => at);
    const identity = await crib.identify(await issuer.sign());
    if (!identity.ok) throw new Error('it is a good token');
    const chest = await crib.open(undefined, identity.caller);
    expect(await chest.call('tool')).toMatchObject({ ok: true });
    at = '2030-01-02T17:00:00Z';
    expect(await chest.call('tool')).toMatchObject({
      error: { code: 'denied', message: '"tool" may only be used from 09:00 to 17:00 (UTC) on Monday, Wednesday.' },
    });
  });

  it('hours apply to the operator, too', async () => {
    const { crib } = await cribOver({ hours: { from: '13:00', to: '14:00' } });
    const identity = await crib.identify(await crib.operatorToken());
    if (!identity.ok) throw new Error('it is the token');
    expect(await (await crib.openAll(identity.caller)).call('tool')).toMatchObject({ error: { code: 'denied' } });
  });

  it('a clock that is set back does not reopen them', async () => {
    run.mockClear();
    const steady = performance.now.bind(performance);
    const noon = Date.parse(NOON);
    const hours = { from: '11:00', to: '12:00' };
    const later = vi.spyOn(performance, 'now').mockImplementation(() => noon - performance.timeOrigin + steady());
    const backwards = vi.spyOn(Date, 'now').mockReturnValue(noon - 1_800_000);
    onTestFinished(() => [later, backwards].forEach((spy) => void spy.mockRestore()));
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', policy: { access: { hours } }, run }] });
    expect(await (await crib.open()).call('tool')).toMatchObject({ error: { code: 'denied' } });
    expect(run).not.toHaveBeenCalled();
  });
});
