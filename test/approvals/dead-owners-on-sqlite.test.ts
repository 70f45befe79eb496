import { describe } from 'vitest';
import { deadOwnerSuite } from './dead-owner-suite.ts';

describe('claims of processes on SQLite', () => deadOwnerSuite(async () => ''));
