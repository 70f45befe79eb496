import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LabelledRequest } from '../../src/search/evaluate.ts';
import { CATALOGUES, HELD_BACK, readCatalogue, readLines } from './catalogue-list.ts';

/** Whose words a request is in; `none` is one that no tool answers. */
export const VOICES = [
  'agent',
  'short',
  'person',
  'several',
  'misspelt',
  'de',
  'fr',
  'es',
  'zh',
  'ja',
  'hi',
  'none',
] as const;
type Voice = (typeof VOICES)[number];

/** The part of the set that is measured by default, and the part that is kept for the end. */
export type Part = 'dev' | 'held';

/** A request over a catalogue. */
export interface WrittenRequest extends LabelledRequest {
  readonly catalogue: string;
  readonly voice: Voice;
}

/** The file of the requests over a catalogue. */
function requestFile(catalogue: string): string {
  return join(import.meta.dirname, HELD_BACK.has(catalogue) ? 'held' : 'dev', `${catalogue}.jsonl`);
}

/** The requests over a catalogue; none if nobody wrote any. */
export function readRequests(catalogue: string): readonly WrittenRequest[] {
  const file = requestFile(catalogue);
  return existsSync(file) ? (readLines(file) as readonly WrittenRequest[]) : []; // as `checkRequests` has checked
}

/** The names of the catalogues of a part. */
export function cataloguesOf(part: Part): readonly string[] {
  return [...CATALOGUES.keys()].filter((name) => HELD_BACK.has(name) === (part === 'held'));
}

/** Prints what is wrong with the requests, and how many there are of each voice. */
export function checkRequests(): void {
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  for (const name of CATALOGUES.keys()) {
    const ids = new Set(readCatalogue(name)?.map(({ id }) => id));
    const requests = readRequests(name);
    for (const request of requests) {
      const problems = problemsOf(request, { name, ids });
      if (seen.has(request.query)) problems.push('the same request is there twice');
      if (seen.has(`id ${request.id}`)) problems.push('another request has its id');
      seen.add(request.query).add(`id ${request.id}`);
      counts.set(request.voice, (counts.get(request.voice) ?? 0) + 1);
      for (const problem of problems) console.log(`${name}, request ${request.id}: ${problem}.`);
      if (problems.length > 0) process.exitCode = 1;
    }
    console.log(`${name}${HELD_BACK.has(name) ? ' (held back)' : ''}: ${requests.length} requests, ${ids.size} tools`);
  }
  console.log(VOICES.map((voice) => `${voice} ${counts.get(voice) ?? 0}`).join(', '));
}

interface Checked {
  readonly name: string;
  /** The ids of the tools; empty if the catalogue has not been fetched. */
  readonly ids: ReadonlySet<string>;
}

function problemsOf({ id, catalogue, query, relevant, voice }: WrittenRequest, { name, ids }: Checked): string[] {
  const problems: string[] = [];
  if (typeof id !== 'string' || !id.startsWith(`${name}-`)) problems.push(`its id does not begin with "${name}-"`);
  if (catalogue !== name) problems.push('its catalogue is not that of the file');
  if (typeof query !== 'string' || query.trim() === '') problems.push('it has no text');
  if (!VOICES.includes(voice)) problems.push(`"${voice}" is not a voice`);
  if (!Array.isArray(relevant)) return [...problems, '"relevant" is not a list'];
  if ((voice === 'none') !== (relevant.length === 0)) problems.push('only requests of the voice "none" have no tools');
  if (ids.size > 0)
    for (const one of relevant) if (!ids.has(one)) problems.push(`"${one}" is not a tool of the catalogue`);
  return problems;
}
