import { describe } from 'vitest';
import { missingPackage, sharedPostgres } from '../store/postgres-server.ts';
import { approvalSuite } from './approval-suite.ts';

const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(`approvals on ${title}`, () => {
  const server = sharedPostgres();

  approvalSuite(() => server.createStore());
});
