import { describe, expect, it } from 'vitest';
import { callOf, DONE, refusedWith, START, timedTrail } from './trail.ts';

const unknown = refusedWith('unknown_tool');
const MINUTE = 60_000;

describe('floods are aggregated', () => {
  it('some unknown names of one caller get rows, and one row counts the rest', async () => {
    const trail = await timedTrail();
    for (let index = 0; index < 10_000; index++)
      trail.record(callOf({ tool: `no_${index}`, source: '', caller: 'eve' }), unknown);
    trail.pass(MINUTE);
    const rows = await trail.rows();
    expect(rows).toHaveLength(21);
    expect(rows.slice(0, 20).map(({ tool }) => tool)).toEqual(Array.from({ length: 20 }, (_, index) => `no_${index}`));
    expect(rows[20]).toMatchObject({
      kind: 'many',
      outcome: 'unknown_tool',
      caller: 'eve',
      tool: 'no_20',
      count: 9980,
      at: START,
      until: START,
    });
  });

  it('callers and reasons are counted separately, and calls that ran always get rows', async () => {
    const trail = await timedTrail();
    for (let index = 0; index < 30; index++) {
      for (const caller of ['eve', 'bob']) trail.record(callOf({ tool: 'no', source: '', caller }), unknown);
      trail.record(callOf({ caller: 'eve' }), refusedWith('rate_limited'));
      trail.record(callOf({ caller: 'eve' }), refusedWith('denied'));
      trail.record(callOf({ caller: 'eve' }), DONE);
    }
    await trail.close();
    const many = (await trail.rows()).filter(({ kind }) => kind === 'many');
    expect(many.map(({ outcome, caller, count }) => [outcome, caller, count])).toEqual([
      ['unknown_tool', 'eve', 10],
      ['unknown_tool', 'bob', 10],
      ['rate_limited', 'eve', 10],
    ]);
    expect(await trail.rows()).toHaveLength(60 + 60 + 3);
  });

  it('a continuing flood is reported once a minute; after it, calls get rows again', async () => {
    const trail = await timedTrail();
    const refuse = (count: number) => {
      for (let index = 0; index < count; index++)
        trail.record(callOf({ tool: 'no', source: '', caller: 'eve' }), unknown);
    };
    refuse(50);
    trail.pass(MINUTE / 2);
    refuse(50);
    trail.pass(MINUTE / 2);
    refuse(5);
    trail.pass(MINUTE);
    refuse(1);
    const rows = await trail.rows();
    expect(rows.filter(({ kind }) => kind === 'many')).toMatchObject([{ count: 80, until: START + MINUTE / 2 }]);
    expect(rows.filter(({ kind }) => kind === 'call')).toHaveLength(20 + 5 + 1);
  });

  it('a flood of callers needs no more memory: callers after the first thousand are counted together', async () => {
    const trail = await timedTrail();
    for (let index = 0; index < 5000; index++)
      trail.record(callOf({ tool: 'no', source: '', caller: `caller ${index}` }), unknown);
    await trail.close();
    const rows = await trail.rows();
    expect(rows.filter(({ kind }) => kind === 'call')).toHaveLength(1020);
    expect(rows.filter(({ kind }) => kind === 'many')).toMatchObject([{ count: 3980 }]);
  });
});

describe('no secret in any row', () => {
  it('texts from outside are redacted in every column', async () => {
    const trail = await timedTrail({ redact: (text) => text.replaceAll('hunter2-hunter2', '[secret]') });
    const secret = 'hunter2-hunter2';
    trail.record(callOf({ tool: secret, source: '', caller: `of ${secret}`, conversation: secret }), unknown);
    const [row] = await trail.rows();
    expect(row).toMatchObject({ tool: '[secret]', caller: 'of [secret]', conversation: '[secret]' });
    expect(JSON.stringify(row)).not.toContain(secret);
  });
});
