import { describe, expect, it } from 'vitest';
import { ToolcribError } from '../../src/core/tool-error.ts';
import { readPolicy } from '../../src/define/read-policy.ts';

const RATE = { scope: 'caller', amount: 1, perMs: 1000 };
const HOURS = { from: '09:00', to: '17:00' };

function refusalOf(value: unknown): ToolcribError {
  try {
    readPolicy(value, 'tool "t"');
  } catch (error) {
    if (error instanceof ToolcribError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(value)} was accepted`);
}

describe('readPolicy', () => {
  it.each<[unknown, string]>([
    ['strict', 'The policy of tool "t" must be an object, got "strict"'],
    [null, 'must be an object, got null'],
    [[], 'must be an object, got a list'],
    [{ timeoutMS: 1 }, 'has no "timeoutMS". Did you mean "timeoutMs"?'],
    [{ aproval: 'always' }, 'Did you mean "approval"?'],
    [{ maxTimeoutMs: 0 }, 'maxTimeoutMs must be a number of at least 1, got 0'],
    [{ maxTimeoutMs: -1 }, 'maxTimeoutMs'],
    [{ maxTimeoutMs: '5' }, 'maxTimeoutMs must be a number of at least 1, got "5"'],
    [{ maxTimeoutMs: Number.NaN }, 'maxTimeoutMs'],
    [{ maxTimeoutMs: Number.POSITIVE_INFINITY }, 'maxTimeoutMs'],
    [{ maxTimeoutMs: null }, 'maxTimeoutMs'],
    [{ maxResultBytes: 0 }, 'maxResultBytes must be a number of at least 1'],
    [{ maxResultBytes: '1k' }, 'maxResultBytes'],
    [{ timeoutMs: 0 }, 'timeoutMs must be a number of at least 1, got 0'],
    [{ timeoutMs: -5 }, 'timeoutMs'],
    [{ timeoutMs: true }, 'timeoutMs'],
    [{ retries: -1 }, 'retries must be a number of at least 0, got -1'],
    [{ retries: '2' }, 'retries'],
    [
      { approval: 'alway' },
      'approval must be one of never, dangerous, cautious, always, got "alway". Did you mean "always"?',
    ],
    [{ approval: true }, 'approval must be one of'],
    [{ approval: null }, 'approval must be one of'],
    [{ approvers: 'boss' }, 'an approver must be "operator", "caller" or "role:NAME", got "boss"'],
    [{ approvers: ['operator', 'role:'] }, 'an approver must be'],
    [{ approvers: [7] }, 'an approver must be'],
    [{ approvers: 7 }, 'approvers must be a list'],
    [{ approvers: null }, 'approvers must be a list'],
    [{ approvers: {} }, 'approvers must be a list'],
    [{ access: 'dev' }, 'access must be an object, got "dev"'],
    [{ access: null }, 'access must be an object'],
    [{ access: [{}, 'dev'] }, 'access must be an object'],
    [{ access: { role: ['dev'] } }, 'access has no "role". Did you mean "roles"?'],
    [{ access: { roles: 'dev' } }, 'access must contain lists of names, got "dev"'],
    [{ access: { users: [7] } }, 'access must contain lists of names'],
    [{ access: { permissions: {} } }, 'access must contain lists of names'],
    [{ access: { roles: null } }, 'access must contain lists of names, got null'],
    [{ access: { deny: ['bob'] } }, 'access.deny must be an object'],
    [{ access: { deny: { user: ['bob'] } } }, 'access.deny has no "user". Did you mean "users"?'],
    [{ access: { deny: { users: 'bob' } } }, 'access must contain lists of names, got "bob"'],
    [{ access: { deny: { roles: 'dev' } } }, 'access must contain lists of names, got "dev"'],
    [{ access: { hours: '9-17' } }, 'hours must be an object'],
    [{ access: { hours: { ...HOURS, until: '18:00' } } }, 'hours has no "until"'],
    [{ access: { hours: { ...HOURS, from: '9:00' } } }, 'hours must be "HH:MM", got "9:00"'],
    [{ access: { hours: { ...HOURS, to: '24:00' } } }, 'hours must be "HH:MM", got "24:00"'],
    [{ access: { hours: { ...HOURS, to: '12:60' } } }, 'hours must be "HH:MM"'],
    [{ access: { hours: { from: '09:00' } } }, 'hours must be "HH:MM", got nothing'],
    [{ access: { hours: { ...HOURS, timeZone: 'Mars/Base' } } }, '"Mars/Base" is not a time zone'],
    [{ access: { hours: { ...HOURS, timeZone: 7 } } }, 'is not a time zone'],
    [{ access: { hours: { ...HOURS, days: [0] } } }, 'days must be numbers from 1 (Monday) to 7 (Sunday)'],
    [{ access: { hours: { ...HOURS, days: [8] } } }, 'days'],
    [{ access: { hours: { ...HOURS, days: ['Mon'] } } }, 'days'],
    [{ access: { hours: { ...HOURS, days: 1 } } }, 'days'],
    [{ rates: RATE }, 'rates must be a list, got an object'],
    [{ rates: ['fast'] }, 'rates must be an object, got "fast"'],
    [{ rates: [{ ...RATE, scope: 'callr' }] }, 'rates: scope must be one of all, caller, tool, profile, source'],
    [{ rates: [{ ...RATE, scope: undefined }] }, 'rates: scope must be one of'],
    [{ rates: [{ ...RATE, amount: 0 }] }, 'rates: amount must be a number of at least 1, got 0'],
    [{ rates: [{ ...RATE, amount: undefined }] }, 'rates: amount must be a number of at least 1'],
    [{ rates: [{ ...RATE, perMs: 0 }] }, 'rates: perMs must be a number of at least 1, got 0'],
    [{ rates: [{ scope: 'all', amount: 1 }] }, 'rates: perMs must be a number of at least 1'],
    [{ rates: [{ ...RATE, per: 1 }] }, 'rates has no "per"'],
    [{ concurrency: 3 }, 'concurrency must be a list, got 3'],
    [{ concurrency: [{ scope: 'world', amount: 1 }] }, 'concurrency: scope must be one of'],
    [{ concurrency: [{ scope: 'tool' }] }, 'concurrency: amount must be a number of at least 1'],
    [{ concurrency: [{ scope: 'tool', amount: '2' }] }, 'concurrency: amount'],
    [{ concurrency: [RATE] }, 'concurrency has no "perMs"'],
    [{ price: -1 }, 'price must be a number of at least 0, got -1'],
    [{ price: 'much' }, 'price must be a number'],
    [{ cacheMs: -1 }, 'cacheMs must be a number of at least 0'],
    [{ budgets: 10 }, 'budgets must be a list, got 10'],
    [{ budgets: [{ scope: 'profile', amount: -1, perMs: 1 }] }, 'budgets: amount must be a number of at least 0'],
    [{ budgets: [{ scope: 'profile', amount: 1 }] }, 'budgets: perMs must be a number of at least 1'],
    [{ budgets: [{ ...RATE, price: 1 }] }, 'budgets has no "price"'],
    [{ rules: [] }, 'has no "rules"'],
  ])('%j is refused with a message that names the key.', (value, message) => {
    expect(refusalOf(value).message).toContain(message);
  });

  it('A policy is accepted in full and returned unchanged.', () => {
    const given = {
      approval: 'cautious',
      approvers: ['operator', 'role:lead'],
      access: [
        { roles: ['dev'], deny: { users: ['bob'] }, hours: { ...HOURS, timeZone: 'Europe/Berlin', days: [1, 7] } },
      ],
      rates: [RATE],
      concurrency: [{ scope: 'tool', amount: 2 }],
      price: 0.5,
      budgets: [{ scope: 'profile', amount: 0.5, perMs: 1 }],
      cacheMs: 1,
      maxTimeoutMs: 1,
      maxResultBytes: 1,
      timeoutMs: 1,
      retries: 0,
    };
    expect(readPolicy(given, 'tool "t"')).toEqual(given);
  });

  it('One name or clause is a list of one.', () => {
    expect(readPolicy({ approvers: 'caller', access: { roles: ['dev'] } }, 'x')).toEqual({
      approvers: ['caller'],
      access: [{ roles: ['dev'] }],
    });
  });

  it('The author of a policy cannot change it after it was read.', () => {
    const rate = { ...RATE };
    const read = readPolicy({ rates: [rate] }, 'x');
    rate.amount = 99;
    expect(read.rates).toEqual([RATE]);
    expect(Object.isFrozen(read) && Object.isFrozen(read.rates) && Object.isFrozen(read.rates?.[0])).toBe(true);
  });

  it('The given object is not frozen: the copy is.', () => {
    const given = {
      approvers: ['operator'],
      access: { roles: ['dev'], hours: { ...HOURS, days: [1] } },
      rates: [RATE],
    };
    readPolicy(given, 'x');
    const parts = [given, given.approvers, given.access.roles, given.access.hours.days, given.rates];
    expect(parts.map(Object.isFrozen)).toEqual(parts.map(() => false));
  });

  it('Tools without a policy share one empty policy.', () => {
    expect(readPolicy(undefined, 'a')).toBe(readPolicy(undefined, 'b'));
  });
});
