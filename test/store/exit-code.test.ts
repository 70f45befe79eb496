import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { missingPackage } from './postgres-server.ts';

function afterPostgres(end: string): string {
  return `
    import { startPostgres } from ${JSON.stringify(join(import.meta.dirname, 'postgres-server.ts'))};
    const server = await startPostgres();
    await server.stop();
    ${end}
  `;
}

it.skipIf(missingPackage() !== undefined).each([
  ['sets 3', 'process.exitCode = 3;', 3],
  ['exits with 3', 'process.exit(3);', 3],
  ['exits with 3 from a timer', 'setTimeout(() => process.exit(3));', 3],
  ['exits with 0 from a timer', 'setTimeout(() => process.exit(0));', 0],
  ['exits with 0 from a promise', 'await Promise.resolve(); process.exit(0);', 0],
  ['just ends', '', 0],
])('a process that used a PostgreSQL of the tests and %s ends with that code', (_name, end, code) => {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', afterPostgres(end)], {
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(code);
});
