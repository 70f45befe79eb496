import { describe, expect, it } from 'vitest';
import { toGapRow } from '../../src/audit/audit-entry.ts';
import { RowQueue } from '../../src/audit/row-queue.ts';
import { unpackRows } from '../../src/store/audit-append.ts';
import { manualClock } from '../crib/manual-clock.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A queue in a time that stands still, whose batches are written when the test says so. */
function queue() {
  const clock = manualClock(0);
  const batches: (PromiseWithResolvers<void> & { readonly size: number })[] = [];
  const rows = new RowQueue({
    clock,
    idleClock: clock,
    now: clock.now,
    warn: () => {},
    write(packed) {
      const batch = { ...Promise.withResolvers<void>(), size: packed.flatMap((rows) => unpackRows(rows, 1)).length };
      batches.push(batch);
      return batch.promise;
    },
  });
  const push = (count = 1) => {
    for (let row = 0; row < count; row++) rows.push(toGapRow(1, 0, 0));
  };
  const advance = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  return { rows, push, advance, batches };
}

describe('the backlog of the audit', () => {
  it('is empty at first, and empty once all rows are written', async () => {
    const { rows, push, advance, batches } = queue();
    expect(rows.backlog()).toEqual({ rows: 0, oldestMs: 0, lost: 0 });
    push(3);
    await advance(100);
    expect(rows.backlog()).toEqual({ rows: 3, oldestMs: 100, lost: 0 });
    batches[0]?.resolve();
    await settle();
    expect(rows.backlog()).toEqual({ rows: 0, oldestMs: 0, lost: 0 });
  });

  it('grows older while the store fails', async () => {
    const { rows, push, advance, batches } = queue();
    push();
    await advance(100);
    batches[0]?.reject(new Error('full'));
    await settle();
    for (let second = 0; second < 20; second++) {
      await advance(1000);
      push();
      batches.at(-1)?.reject(new Error('full'));
      await settle();
    }
    expect(rows.backlog()).toEqual({ rows: 21, oldestMs: 20_100, lost: 0 });
  });

  it('is only as old as the first row that waits, however long writing goes on', async () => {
    const { rows, push, advance, batches } = queue();
    push();
    for (let round = 0; round < 100; round++) {
      await advance(100);
      push();
      batches.at(-1)?.resolve();
      await settle();
    }
    expect(rows.backlog().rows).toBe(1);
    expect(rows.backlog().oldestMs).toBeLessThanOrEqual(100);
  });

  it('is as old as the batch before it if more rows wait than fit in one batch', async () => {
    const { rows, push, advance, batches } = queue();
    push(600);
    await advance(50);
    push(600);
    await advance(50);
    expect(batches[0]?.size).toBe(500);
    batches[0]?.resolve();
    await settle();
    expect(rows.backlog()).toMatchObject({ rows: 700, oldestMs: 100 });
    batches[1]?.resolve();
    await settle();
    expect(rows.backlog().oldestMs).toBeLessThanOrEqual(100);
    expect(rows.backlog().oldestMs).toBeGreaterThanOrEqual(50);
  });
});
