import { afterAll, beforeAll, describe } from 'vitest';
import { missingPackage, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { approvalSuite } from './approval-suite.ts';

const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(`approvals on ${title}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 120_000);
  afterAll(() => server?.stop());

  approvalSuite(async () => server.urlOf(await server.createDatabase()));
});
