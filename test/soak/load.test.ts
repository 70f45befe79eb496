import { expect, it } from 'vitest';
import { describeLoad, judgeLoad } from '../load/judge-load.ts';
import { runLoad } from '../load/run-load.ts';

it('for ten minutes of 64 clients while upstreams are killed, nothing is lost, doubled, wrong or kept', async () => {
  const report = await runLoad({ durationMs: 600_000, clients: 64, killEveryMs: 5000 });
  console.log(describeLoad(report));
  expect(judgeLoad(report)).toEqual({ lost: 0, twice: 0, wrong: 0, misrecorded: 0 });
  expect(report.verifyCode).toBe(0);
  expect(Math.max(...report.sent.map(({ ms }) => ms))).toBeLessThan(3000);
  expect(report.after.rssMb - report.before.rssMb).toBeLessThan(20);
  expect(report.after.descriptors - report.before.descriptors).toBeLessThanOrEqual(4);
  expect(report.after.children).toBeLessThanOrEqual(report.before.children);
});
