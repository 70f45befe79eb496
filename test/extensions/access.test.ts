import { describe, expect, it, vi } from 'vitest';
import { access, type Caller, createCrib, type Hours, type ProfileInput } from '../../src/index.ts';

type PolicyInput = NonNullable<ProfileInput['policy']>;

const run = vi.fn(() => 'ran');

async function callAs(caller: Caller, policy: PolicyInput, profile: PolicyInput = {}, at = '2030-01-02T12:00:00Z') {
  run.mockClear();
  const clock = { now: () => Date.parse(at), setTimer: () => () => {} };
  const crib = await createCrib({
    tools: [{ name: 'tool', description: '', policy, run }],
    profiles: { only: { policy: profile } },
    extensions: [access({ clock })],
  });
  const chest = await crib.open('only', caller);
  const result = await chest.call('tool');
  return {
    listed: chest.list().length === 1,
    code: result.status === 'failed' ? result.error.code : result.status,
    ran: run.mock.calls.length === 1,
  };
}

const SEEN = { listed: true, code: 'done', ran: true };
const HIDDEN = { listed: false, code: 'unknown_tool', ran: false };
const REFUSED = { listed: true, code: 'denied', ran: false };

describe('roles, users, permissions and deny decide the view', () => {
  it.each<[string, PolicyInput['access'], Caller, object]>([
    ['any required role', { roles: ['dev', 'boss'] }, { roles: ['boss'] }, SEEN],
    ['none of the required roles', { roles: ['dev', 'boss'] }, { roles: ['guest'] }, HIDDEN],
    ['one clause met, the other not', [{ roles: ['dev'] }, { roles: ['boss'] }], { roles: ['dev'] }, HIDDEN],
    ['all clauses met', [{ roles: ['dev'] }, { roles: ['boss'] }], { roles: ['dev', 'boss'] }, SEEN],
    ['all required permissions', { permissions: ['read', 'write'] }, { permissions: ['write', 'read'] }, SEEN],
    ['one permission missing', { permissions: ['read', 'write'] }, { permissions: ['read'] }, HIDDEN],
    ['denied beats allowed: user', { roles: ['dev'], deny: { users: ['ann'] } }, { id: 'ann', roles: ['dev'] }, HIDDEN],
    [
      'denied beats allowed: role',
      { users: ['ann'], deny: { roles: ['guest'] } },
      { id: 'ann', roles: ['guest'] },
      HIDDEN,
    ],
    ['a named user', { users: ['ann'] }, { id: 'ann' }, SEEN],
    ['no identity and a policy that needs one', { users: ['ann'] }, {}, HIDDEN],
    ['no identity and a denied user', { deny: { users: ['bob'] } }, {}, HIDDEN],
  ])('%s', async (_, clauses, caller, expected) => {
    expect(await callAs(caller, { ...(clauses !== undefined && { access: clauses }) })).toEqual(expected);
  });

  it('the clauses of tool and profile must all hold', async () => {
    const [tool, profile] = [{ access: { roles: ['dev'] } }, { access: { users: ['ann'] } }];
    expect(await callAs({ id: 'ann', roles: ['dev'] }, tool, profile)).toEqual(SEEN);
    expect(await callAs({ id: 'bob', roles: ['dev'] }, tool, profile)).toEqual(HIDDEN);
  });
});

describe('hours are evaluated per call', () => {
  it.each<[string, Hours, string, object]>([
    ['inside', { from: '09:00', to: '17:00' }, '2030-01-02T12:00:00Z', SEEN],
    ['outside', { from: '09:00', to: '17:00' }, '2030-01-02T18:00:00Z', REFUSED],
    ['at the very end', { from: '09:00', to: '17:00' }, '2030-01-02T17:00:00Z', REFUSED],
    ['across midnight: before it', { from: '22:00', to: '06:00' }, '2030-01-02T23:00:00Z', SEEN],
    ['across midnight: after it', { from: '22:00', to: '06:00' }, '2030-01-02T05:59:00Z', SEEN],
    ['across midnight: at noon', { from: '22:00', to: '06:00' }, '2030-01-02T12:00:00Z', REFUSED],
    ['in a time zone', { from: '09:00', to: '10:00', timeZone: 'Asia/Tokyo' }, '2030-01-02T00:30:00Z', SEEN],
    ['on the wrong day', { from: '09:00', to: '17:00', days: [1] }, '2030-01-02T12:00:00Z', REFUSED],
    ['of the night that began on the day', { from: '22:00', to: '06:00', days: [2] }, '2030-01-02T05:00:00Z', SEEN],
  ])('%s', async (_, hours, at, expected) => {
    expect(await callAs({ id: 'ann' }, { access: { hours } }, {}, at)).toEqual(expected);
  });
});
