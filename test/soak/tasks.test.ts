import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnPostgres, startPostgres } from '../store/postgres-server.ts';
import { describeChaos, judgeChaos } from '../tasks/judge-chaos.ts';
import { runChaos } from '../tasks/run-chaos.ts';

const SIZE = { tasks: 2000, kills: 40, workers: 3 };

describe('2,000 background calls while a server and three workers are killed 40 times', () => {
  let postgres: OwnPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  const places: readonly (readonly [string, () => Promise<string>])[] = [
    ['SQLite', async () => ''],
    ['PostgreSQL', async () => postgres.urlOf(await postgres.createDatabase())],
  ];
  it.each(places)('every accepted one ends once on %s', async (name, place) => {
    const report = await runChaos({ url: await place(), ...SIZE });
    console.log(`${name}: ${describeChaos(report)}`);
    judgeChaos(report);
    expect(report.accepted).toHaveLength(SIZE.tasks);
  });
});
