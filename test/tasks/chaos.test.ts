import { expect, it } from 'vitest';
import { describeChaos, judgeChaos } from './judge-chaos.ts';
import { runChaos } from './run-chaos.ts';

it('while a server and its workers are killed, every accepted task ends once on SQLite', async () => {
  const report = await runChaos({ url: '', tasks: 200, kills: 6, workers: 2 });
  console.log(describeChaos(report));
  judgeChaos(report);
  expect(report.accepted).toHaveLength(200);
}, 180_000);
