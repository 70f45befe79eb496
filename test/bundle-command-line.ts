import { execFileSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const BUNDLE = join(ROOT, 'dist/cli/main.js');

/** Bundles the command line before the first test: processes start from one file in a quarter of the time. */
export function setup(): void {
  if (isFresh()) return;
  for (const script of ['scripts/copy-python.ts', 'scripts/bundle-cli.ts'])
    execFileSync(process.execPath, [script], { cwd: ROOT, stdio: 'inherit' });
}

/** Nothing it is made of has changed since, and no file was added or removed. */
function isFresh(): boolean {
  if (!existsSync(BUNDLE)) return false;
  const madeAt = changedAt(BUNDLE);
  const sources = globSync(['src', 'src/**', 'scripts/*.ts', 'package*.json'], { cwd: ROOT });
  return sources.every((path) => changedAt(join(ROOT, path)) < madeAt);
}

const changedAt = (path: string): number => statSync(path).mtimeMs;
