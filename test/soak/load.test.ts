import { expect, it } from 'vitest';
import { describeCalls, describeFigures, waitsOf } from '../load/describe-load.ts';
import { judgeLoad } from '../load/judge-load.ts';
import { runLoad } from '../load/run-load.ts';

/** V8 collects the garbage of an idle process at the latest 100 s after its last collection, with up to 8 s until it looks. */
const IDLE_MS = 120_000;

it('during ten minutes with 64 clients and killed upstreams, no call is lost, doubled or wrong, and nothing leaks', async () => {
  const report = await runLoad({ durationMs: 600_000, clients: 64, killEveryMs: 5000, stillMs: IDLE_MS });
  console.log(`${describeCalls(report)}\n\n${describeFigures(report)}`);
  const { before, after } = report;
  expect(judgeLoad(report)).toEqual({ lost: 0, twice: 0, wrong: 0, misrecorded: 0 });
  expect(report.verifyCode).toBe(0);
  expect(report.sent.filter(({ outcome }) => outcome === 'done').length).toBeGreaterThan(report.sent.length / 2);
  expect(waitsOf(report.sent).maxMs).toBeLessThan(3000);
  expect(after.rssMb - before.rssMb).toBeLessThan(20);
  expect(after.descriptors - before.descriptors).toBeLessThanOrEqual(4);
  expect(after.children).toBeLessThanOrEqual(before.children);
});
