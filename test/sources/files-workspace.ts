import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import { type Changes, type Crib, type CribOptions, createCrib } from '../../src/index.ts';

/** A folder for one test. */
export interface Workspace {
  readonly path: string;
  at(name: string): string;
  write(name: string, content: string | Uint8Array): string;
  /** Writes beside the file and renames, as careful editors do. */
  replace(name: string, content: string): void;
  link(name: string, target: string): void;
  move(from: string, to: string): void;
  remove(name: string): void;
}

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Makes a folder that is removed after the test. */
export function makeWorkspace(): Workspace {
  const path = mkdtempSync(join(tmpdir(), 'toolcrib-files-'));
  cleanUps.push(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 }));
  const at = (name: string) => join(path, name);
  const write = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
    return at(name);
  };
  return {
    path,
    at,
    write,
    replace(name, content) {
      write(`${name}.swap`, content);
      renameSync(at(`${name}.swap`), at(name));
    },
    link: (name, target) => symlinkSync(target, at(name)),
    move: (from, to) => renameSync(at(from), at(to)),
    remove: (name) => rmSync(at(name), { recursive: true }),
  };
}

/** A crib that is closed after the test. */
export async function openCrib(options: CribOptions): Promise<Crib> {
  const crib = await createCrib(options);
  cleanUps.push(() => crib.close());
  return crib;
}

/** The text of a spec file with these tools. */
export function yamlOf(...names: readonly string[]): string {
  return `tools:\n${names.map((name) => `- { name: ${name}, description: Does ${name}, run: { kind: http, method: GET, url: "https://example.com/${name}" } }\n`).join('')}`;
}

export function namesIn(crib: Crib): readonly string[] {
  return crib.catalog.specs.map((spec) => spec.name);
}

/** What the next change of the catalog is; listens before it resolves. */
export function nextChange(crib: Crib): Promise<Changes> {
  return new Promise((resolve) => {
    const stop = crib.onChange((changes) => {
      stop();
      resolve(changes);
    });
  });
}

/** Waits until the catalog holds these names and no others. */
export async function untilNames(crib: Crib, names: readonly string[]): Promise<void> {
  while (JSON.stringify(namesIn(crib)) !== JSON.stringify(names)) await nextChange(crib);
}

export function statusOf(crib: Crib, name: string) {
  return crib.sources().find((source) => source.name === name);
}
