import { join } from 'node:path';
import { describe } from 'vitest';
import { approvalSuite } from './approval-suite.ts';
import { folderWith } from './workshop.ts';

describe('approvals on SQLite', () => approvalSuite(async () => `sqlite:${join(folderWith({}), 'crib.db')}`));
