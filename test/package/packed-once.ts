import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { linkRuntime, pack, ROOT, unpackTarball } from './install-packed.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly packedFolder: string;
  }
}

let folder: string | undefined;

/** Packs and unpacks the package once for all test files: it takes seconds, and more than a dozen tests install it. */
export async function setup(project: TestProject): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'toolcrib-packed-'));
  await unpackTarball(await pack(ROOT, folder), join(folder, 'toolcrib'));
  project.provide('packedFolder', folder);
}

export function teardown(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** What `npm install` of the packed package would lay down in `home`, without the network: its files, and its runtime dependencies beside it. */
export function installPacked(home: string): string {
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }');
  const installed = join(home, 'node_modules/toolcrib');
  linkFiles(join(inject('packedFolder'), 'toolcrib'), installed);
  linkRuntime(home);
  return installed;
}

/** Where processes keep what they compiled, until the end of the run. */
export const compileCache = (): string => join(inject('packedFolder'), 'compiled');

/** Lays the same files down once more, which takes no copy of what they contain. */
function linkFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [here, there] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFiles(here, there);
    else linkSync(here, there);
  }
}
