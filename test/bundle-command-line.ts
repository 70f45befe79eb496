import { execFileSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
const BUNDLE = join(ROOT, 'dist/cli/main.js');
const SERVERS = 'test/kinds/mcp/servers';
const BUILT_SERVERS = join(ROOT, 'node_modules/.cache/toolcrib-servers');

/** Bundles the command line before the first test, and the MCP servers of the tests: processes start from one file in a part of the time. */
export function setup(): void {
  if (!isFresh(BUNDLE, ['src', 'src/**', 'scripts/*.ts', 'package*.json']))
    for (const script of ['scripts/copy-python.ts', 'scripts/bundle-cli.ts'])
      execFileSync(process.execPath, [script], { cwd: ROOT, stdio: 'inherit' });
  if (!isFresh(join(BUILT_SERVERS, 'rough.mjs'), [SERVERS, `${SERVERS}/*`, 'src', 'src/**', 'package*.json']))
    buildSync({
      absWorkingDir: ROOT,
      entryPoints: globSync(`${SERVERS}/*.ts`, { cwd: ROOT }),
      outdir: BUILT_SERVERS,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
    });
}

/** Nothing it is made of has changed since, and no file was added or removed. */
function isFresh(made: string, of: readonly string[]): boolean {
  if (!existsSync(made)) return false;
  const madeAt = changedAt(made);
  return globSync(of, { cwd: ROOT }).every((path) => changedAt(join(ROOT, path)) < madeAt);
}

const changedAt = (path: string): number => statSync(path).mtimeMs;
