import { describe } from 'vitest';
import { missingPackage, sharedPostgres } from '../store/postgres-server.ts';
import { stopSuite } from './stop-suite.ts';

const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(`stops of processes on ${title}`, () => {
  const server = sharedPostgres();

  stopSuite(() => server.createStore());
});
