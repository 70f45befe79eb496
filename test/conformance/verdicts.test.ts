import { describe, expect, it } from 'vitest';
import { type Check, judge, type Run, unknownEntries } from './verdicts.ts';

const run = (...checks: readonly Check[]): Run => ({ side: 'server', era: '2026-07-28', scenario: 'caching', checks });
const check = (id: string, status: string): Check => ({ id, status });
const listed = (...server: readonly string[]) => [{ reason: 'not yet', server }];

describe('a run of a scenario', () => {
  it('passes if no check fails', () => {
    const { kind } = judge(run(check('a', 'SUCCESS'), check('b', 'SKIPPED'), check('c', 'INFO')), []);
    expect(kind).toBe('pass');
  });

  it.each(['FAILURE', 'WARNING'])('with a %s that is not listed is unexpected', (status) => {
    expect(judge(run(check('a', 'SUCCESS'), check('b', status)), [])).toEqual({
      kind: 'unexpected',
      why: ['b: fails'],
    });
    expect(judge(run(check('b', status)), listed('prompts-list')).kind).toBe('unexpected');
  });

  it('fails as expected if it is listed, and says why', () => {
    const verdict = judge(run(check('a', 'FAILURE')), listed('caching'));
    expect(verdict).toEqual({ kind: 'expected', reasons: ['not yet'], isPart: false });
  });

  it('is unexpected if it is listed and passes', () => {
    expect(judge(run(check('a', 'SUCCESS')), listed('caching')).kind).toBe('unexpected');
  });

  it('is unexpected if it is listed for another revision or for the other side', () => {
    const failing = run(check('a', 'FAILURE'));
    expect(judge(failing, [{ reason: 'old', server: ['caching'], era: '2025-11-25' }]).kind).toBe('unexpected');
    expect(judge(failing, [{ reason: 'old', client: ['caching'] }]).kind).toBe('unexpected');
  });
});

describe('a single check that is listed', () => {
  it('excuses itself and no other', () => {
    const entries = listed('caching:a');
    expect(judge(run(check('a', 'FAILURE'), check('b', 'SUCCESS')), entries)).toMatchObject({
      kind: 'expected',
      isPart: true,
    });
    expect(judge(run(check('a', 'FAILURE'), check('b', 'FAILURE')), entries)).toMatchObject({ why: ['b: fails'] });
  });

  it('is unexpected if it passes, not if it was never reached', () => {
    expect(judge(run(check('a', 'SUCCESS')), listed('caching:a')).kind).toBe('unexpected');
    expect(judge(run(check('a', 'SKIPPED')), listed('caching:a')).kind).toBe('pass');
    expect(judge(run(check('b', 'SUCCESS')), listed('caching:a')).kind).toBe('pass');
  });

  it('fails if one of several of its name does', () => {
    expect(judge(run(check('a', 'SUCCESS'), check('a', 'FAILURE')), listed('caching:a')).kind).toBe('expected');
  });
});

it('listed scenarios that never ran are reported', () => {
  expect(unknownEntries([run()], listed('caching', 'cachign', 'caching:a'))).toEqual(['cachign']);
});
