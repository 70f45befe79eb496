import { join } from 'node:path';
import { describe } from 'vitest';
import { folderWith } from '../crib/workshop.ts';
import { approvalSuite } from './approval-suite.ts';

describe('approvals on SQLite', () => approvalSuite(async () => `sqlite:${join(folderWith({}), 'crib.db')}`));
