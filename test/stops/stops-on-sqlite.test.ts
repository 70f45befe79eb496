import { describe } from 'vitest';
import { stopSuite } from './stop-suite.ts';

describe('stops of processes on SQLite', () => stopSuite(async () => ''));
