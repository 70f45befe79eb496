import { describe, expect, it } from 'vitest';
import { clampTuning, ownedBy, tightenPolicy, withFallback } from '../../src/core/policy.ts';

describe('tightenPolicy', () => {
  it('The stricter approval wins: never, dangerous, cautious, always.', () => {
    expect(tightenPolicy({ approval: 'never' }, { approval: 'dangerous' }).approval).toBe('dangerous');
    expect(tightenPolicy({ approval: 'cautious' }, { approval: 'dangerous' }).approval).toBe('cautious');
    expect(tightenPolicy({ approval: 'cautious' }, { approval: 'always' }).approval).toBe('always');
  });

  it('Only callers that both policies accept may approve.', () => {
    const both = tightenPolicy({ approvers: ['caller', 'role:lead'] }, { approvers: ['role:lead', 'operator'] });
    expect(both.approvers).toEqual(['role:lead']);
    expect(tightenPolicy({ approvers: ['caller'] }, { approvers: ['operator'] }).approvers).toEqual([]);
  });

  it('The lower number wins.', () => {
    expect(tightenPolicy({ maxTimeoutMs: 5, maxResultBytes: 7 }, { maxTimeoutMs: 6, maxResultBytes: 2 })).toEqual({
      maxTimeoutMs: 5,
      maxResultBytes: 2,
    });
  });

  it('Rates, slots and access clauses of both hold, equal ones once.', () => {
    const rate = { scope: 'caller', amount: 1, perMs: 1000 } as const;
    const slots = { scope: 'tool', amount: 1 } as const;
    const held = tightenPolicy(
      { rates: [rate, { ...rate, amount: 2 }], concurrency: [slots], access: [{ roles: ['dev'] }] },
      { rates: [rate], concurrency: [slots], access: [{ roles: ['ops'] }] },
    );
    expect(held.rates).toHaveLength(2);
    expect(held.concurrency).toEqual([slots]);
    expect(held.access).toEqual([{ roles: ['dev'] }, { roles: ['ops'] }]);
  });

  it('Tuning is not a limit: the value of the first, nearer layer wins.', () => {
    expect(tightenPolicy({ timeoutMs: 9, retries: 3 }, { timeoutMs: 1, retries: 0, cacheMs: 4 })).toEqual({
      timeoutMs: 9,
      retries: 3,
      cacheMs: 4,
    });
  });

  it('A field that no layer sets is absent, not undefined.', () => {
    expect(Object.keys(tightenPolicy({}, {}))).toEqual([]);
  });

  it('Neither policy is changed.', () => {
    const a = Object.freeze({ approvers: Object.freeze(['operator', 'caller'] as const) });
    tightenPolicy(a, { approvers: ['caller'] });
    expect(a.approvers).toEqual(['operator', 'caller']);
  });
});

describe('withFallback', () => {
  it('A default is a fallback, never a layer.', () => {
    expect(withFallback({ approval: 'never' }, { approval: 'always', timeoutMs: 5 })).toEqual({
      approval: 'never',
      timeoutMs: 5,
    });
  });
});

describe('clampTuning', () => {
  it('A timeout above the limit, or none, becomes the limit.', () => {
    expect(clampTuning({ timeoutMs: 9, maxTimeoutMs: 5 }).timeoutMs).toBe(5);
    expect(clampTuning({ maxTimeoutMs: 5 }).timeoutMs).toBe(5);
  });

  it('A timeout within the limit, or without one, stays.', () => {
    expect(clampTuning({ timeoutMs: 4, maxTimeoutMs: 5 }).timeoutMs).toBe(4);
    expect(clampTuning({ timeoutMs: 9 })).toEqual({ timeoutMs: 9 });
  });
});

describe('ownedBy', () => {
  const counted = {
    rates: [{ scope: 'all', amount: 1, perMs: 1 }],
    concurrency: [{ scope: 'all', amount: 1 }],
  } as const;

  it('Counted limits are marked with their layer, so that two layers count separately.', () => {
    const held = tightenPolicy(ownedBy(counted, 'tool:a'), ownedBy(counted, 'profile:p'));
    expect(held.rates?.map((rate) => rate.of)).toEqual(['profile:p', 'tool:a']);
    expect(held.concurrency?.map((slots) => slots.of)).toEqual(['profile:p', 'tool:a']);
  });

  it('A limit that has an owner keeps it.', () => {
    const once = ownedBy(counted, 'tool:a');
    expect(ownedBy(once, 'tool:b')).toEqual(once);
  });
});
