import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { missingPackage } from './postgres-server.ts';

const PROGRAM = `
  import { startPostgres } from ${JSON.stringify(join(import.meta.dirname, 'postgres-server.ts'))};
  const server = await startPostgres();
  await server.stop();
  process.exitCode = 3;
`;

it.skipIf(missingPackage() !== undefined)(
  'a process that used a PostgreSQL of the tests ends with its own exit code',
  () => {
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(3);
  },
);
