import { describe } from 'vitest';
import { missingPackage, sharedPostgres } from '../store/postgres-server.ts';
import { deadOwnerSuite } from './dead-owner-suite.ts';

const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(`claims of processes on ${title}`, () => {
  const server = sharedPostgres();

  deadOwnerSuite(() => server.createStore());
});
