import { describe, expect, it } from 'vitest';
import { missingPackage, sharedPostgres } from '../store/postgres-server.ts';
import { describeChaos, judgeChaos } from './judge-chaos.ts';
import { runChaos } from './run-chaos.ts';

const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(title, () => {
  const server = sharedPostgres();

  it('while a server and its workers are killed, every accepted task ends once', async () => {
    const report = await runChaos({ url: await server.createStore(), tasks: 200, kills: 6, workers: 2 });
    console.log(describeChaos(report));
    judgeChaos(report);
    expect(report.accepted).toHaveLength(200);
  }, 180_000);
});
