import { isRecord } from '../core/json.ts';
import type { Confidence } from '../core/retriever.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';
import { builtinRetriever } from '../search/builtin-retriever.ts';
import { evaluate, type LabelledRequest, type Quality } from '../search/evaluate.ts';
import { systemClock } from '../system/clock.ts';

export type { LabelledRequest, Quality } from '../search/evaluate.ts';

interface Found {
  readonly name: string;
  readonly confidence?: Confidence;
}

/** What finds tools: a chest, or anything else that searches. */
interface Searching {
  search(query: string, options: { readonly limit: number }): Promise<readonly Found[]>;
}

const DEPTH = 10;

/** How well requests whose answers are known find them among the tools of a chest. */
export function measureSearch(chest: Searching, requests: readonly LabelledRequest[]): Promise<Quality> {
  return evaluate(requests, async (query) =>
    (await chest.search(query, { limit: DEPTH })).map(({ name, confidence }) => ({ id: name, confidence })),
  );
}

/** The same for a catalogue that no crib holds: rows of `{ id, name, description, server?, category?, schema? }`. */
export function measureCatalogue(
  rows: readonly unknown[],
  requests: readonly LabelledRequest[],
  warn: (message: string) => void,
): Promise<Quality> {
  const ids = new Map<string, string>();
  const retriever = builtinRetriever({ clock: systemClock, warn });
  retriever.add(rows.flatMap((row, index) => toSpec(row, index, ids)));
  return evaluate(requests, async (query) =>
    (await retriever.rank(query, { limit: DEPTH })).map(({ name, confidence }) => ({
      id: ids.get(name) ?? '',
      confidence,
    })),
  );
}

/** Reads labelled requests; whatever is none is named by its place, which holes keep. */
export function readRequests(rows: readonly unknown[]): readonly LabelledRequest[] {
  return rows.flatMap((row, index) => {
    if (!isRecord(row)) throw unreadable('request', index, 'it is no object');
    const { id, query, relevant } = row;
    if (typeof query !== 'string') throw unreadable('request', index, '"query" is no text');
    if (!Array.isArray(relevant) || relevant.some((one) => typeof one !== 'string'))
      throw unreadable('request', index, '"relevant" is no list of ids; an empty one means that nothing fits');
    const isNamed = typeof id === 'string' || typeof id === 'number';
    return { id: isNamed ? String(id) : `${index + 1}`, query, relevant };
  });
}

/** The ids that requests ask for and no tool has. */
export function unknownIds(requests: readonly LabelledRequest[], isKnown: (id: string) => boolean): readonly string[] {
  return [...new Set(requests.flatMap(({ relevant }) => relevant))].filter((id) => !isKnown(id));
}

/** The ids of a catalogue's rows; one that stands there twice is an error. */
export function catalogueIds(rows: readonly unknown[]): ReadonlySet<string> {
  const seen = new Set<string>();
  rows.forEach((row, index) => {
    const id = isRecord(row) ? row.id : undefined;
    if (typeof id !== 'string') throw unreadable('tool', index, '"id" is no text');
    if (seen.has(id)) throw unreadable('tool', index, `there is another with the id "${id}"`);
    seen.add(id);
  });
  return seen;
}

// Names may be there twice: in a catalogue the id tells tools apart.
function toSpec(row: unknown, index: number, ids: Map<string, string>): ToolSpec {
  if (!isRecord(row)) throw unreadable('tool', index, 'it is no object');
  const { id, name, description, server, category, schema } = row;
  if (typeof name !== 'string') throw unreadable('tool', index, '"name" is no text');
  let unique = name;
  while (ids.has(unique)) unique += `_${index}`;
  ids.set(unique, String(id));
  return {
    name: unique,
    description: textOf(description),
    input: isRecord(schema) ? schema : {},
    effects: {},
    policy: {},
    tags: [],
    ...(typeof category === 'string' && { category }),
    source: textOf(server),
    origin: name,
    [RUN]: { kind: 'function' },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function unreadable(what: 'request' | 'tool', index: number, why: string): ToolcribError {
  return new ToolcribError('invalid_rows', `The ${what} in line ${index + 1} cannot be used: ${why}.`);
}
