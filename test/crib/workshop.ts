import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Crib, type CribOptions, createCrib } from '../../src/index.ts';

/** A folder with these files, gone after the test. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-configured-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  write(folder, files);
  return folder;
}

/** Writes files into a folder. */
export function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** A crib of the configuration in a folder, closed after the test. */
export async function cribOf(folder: string, options: CribOptions = {}): Promise<Crib> {
  const crib = await createCrib({ store: { url: 'memory:' }, ...options, configFile: folder });
  onTestFinished(() => crib.close());
  return crib;
}

/** Resolves when the crib tells of its next change. */
export function nextChange(crib: Crib): Promise<unknown> {
  return new Promise((resolve) => {
    const stop = crib.onChange((changes) => {
      stop();
      resolve(changes);
    });
  });
}

/** The names of all tools. */
export function namesOf(crib: Crib): readonly string[] {
  return crib.catalog.specs.map((spec) => spec.name);
}
