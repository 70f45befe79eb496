import { describe } from 'vitest';
import { missingPackage, sharedPostgres } from '../store/postgres-server.ts';
import { approvalSuite } from './approval-suite.ts';
import { otherConfigurationsSuite } from './other-configurations-suite.ts';

const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(`approvals on ${title}`, () => {
  const server = sharedPostgres();

  describe('replicas with other configurations', () => otherConfigurationsSuite(() => server.createStore()));
  approvalSuite(() => server.createStore());
});
