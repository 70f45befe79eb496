import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LabelledRequest } from '../../src/search/evaluate.ts';
import type { ToolRow } from '../retrieval-data.ts';
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
  const problems = problemsOfRequests((name) => readCatalogue(name));
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) process.exitCode = 1;
  const all = [...CATALOGUES.keys()].map((name) => [name, readRequests(name)] as const);
  for (const [name, requests] of all) {
    const tools = readCatalogue(name)?.length ?? 'unknown';
    console.log(`${name}${HELD_BACK.has(name) ? ' (held back)' : ''}: ${requests.length} requests, ${tools} tools`);
  }
  const voices = all.flatMap(([, requests]) => requests).map(({ voice }) => voice);
  console.log(VOICES.map((voice) => `${voice} ${voices.filter((one) => one === voice).length}`).join(', '));
}

/** The problems of the requests as sentences. Ids of catalogues that `toolsOf` does not have are not checked. */
export function problemsOfRequests(toolsOf: (name: string) => readonly ToolRow[] | undefined): readonly string[] {
  const seen = new Set<string>();
  return [...CATALOGUES.keys()].flatMap((name) => {
    const ids = new Set(toolsOf(name)?.map(({ id }) => id));
    return readRequests(name).flatMap((request) => {
      const problems = problemsOf(request, { name, ids });
      const keys = [`${name} ${request.query}`, `id ${request.id}`];
      if (keys.some((key) => seen.has(key))) problems.push('another request has its text or its id');
      for (const key of keys) seen.add(key);
      return problems.map((problem) => `${name}, request ${request.id}: ${problem}.`);
    });
  });
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
