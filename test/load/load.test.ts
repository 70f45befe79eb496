import { expect, it } from 'vitest';
import { describeCalls, waitsOf } from './describe-load.ts';
import { judgeLoad } from './judge-load.ts';
import { runLoad } from './run-load.ts';

/** Bound on how long a call may take while upstreams are killed (docs/reliability.md), times three for a busy machine. */
const MAX_WAIT_MS = 3 * 3000;

it('while upstreams are killed no call is lost, runs twice, is answered wrongly or is missing in the audit', async () => {
  const report = await runLoad({ durationMs: 20_000, clients: 8, killEveryMs: 2000, stillMs: 0 });
  console.log(describeCalls(report));
  expect(judgeLoad(report)).toEqual({ lost: 0, twice: 0, wrong: 0, misrecorded: 0 });
  expect(report.verifyCode).toBe(0);
  expect(report.kills).toBeGreaterThan(4);
  expect(report.sent.filter(({ outcome }) => outcome === 'done').length).toBeGreaterThan(report.sent.length / 4);
  expect(waitsOf(report.sent).maxMs).toBeLessThan(MAX_WAIT_MS);
}, 180_000);
