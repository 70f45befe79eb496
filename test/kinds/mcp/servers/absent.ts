// A server of the older era that cannot start as long as the file of its first argument exists.
import { existsSync } from 'node:fs';

if (existsSync(process.argv[2] ?? '')) process.exit(3);
process.argv[2] = 'well';
await import('./rough.ts');
