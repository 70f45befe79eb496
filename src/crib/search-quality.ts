import { isRecord } from '../core/json.ts';
import type { Confidence } from '../core/retriever.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';
import { builtinRetriever } from '../search/builtin-retriever.ts';
import { evaluate, type LabelledRequest, type Quality } from '../search/evaluate.ts';
import { systemClock } from '../system/clock.ts';

export { changedRequests, type LabelledRequest, type Quality } from '../search/evaluate.ts';

interface Found {
  readonly name: string;
  readonly confidence?: Confidence;
}

/** A chest, or anything else with a search. */
interface Searching {
  search(query: string, options: { readonly limit: number }): Promise<readonly Found[]>;
}

const DEPTH = 10;

/** Measures how well the search of a chest finds the labelled tools. */
export function measureSearch(chest: Searching, requests: readonly LabelledRequest[]): Promise<Quality> {
  return evaluate(requests, async (query) =>
    (await chest.search(query, { limit: DEPTH })).map(({ name, confidence }) => ({ id: name, confidence })),
  );
}

/** Measures search over a catalogue outside a crib: rows of `{ id, name, description, server?, category?, schema? }`. */
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

/** Reads labelled requests. The error for an invalid row names its line. */
export function readRequests(rows: readonly unknown[]): readonly LabelledRequest[] {
  return rows.flatMap((row, index) => {
    if (!isRecord(row)) throw unreadable('request', index, 'it is not an object');
    const { id, query, relevant } = row;
    if (typeof query !== 'string') throw unreadable('request', index, '"query" is not a string');
    if (!Array.isArray(relevant) || relevant.some((one) => typeof one !== 'string'))
      throw unreadable('request', index, '"relevant" is not a list of ids; use an empty list if no tool matches');
    const isNamed = typeof id === 'string' || typeof id === 'number';
    return { id: isNamed ? String(id) : `${index + 1}`, query, relevant };
  });
}

/** The ids in requests that no tool has. */
export function unknownIds(requests: readonly LabelledRequest[], isKnown: (id: string) => boolean): readonly string[] {
  return [...new Set(requests.flatMap(({ relevant }) => relevant))].filter((id) => !isKnown(id));
}

/** The ids of the rows of a catalogue. Throws for a duplicate. */
export function catalogueIds(rows: readonly unknown[]): ReadonlySet<string> {
  const seen = new Set<string>();
  rows.forEach((row, index) => {
    const id = isRecord(row) ? row.id : undefined;
    if (typeof id !== 'string') throw unreadable('tool', index, '"id" is not a string');
    if (seen.has(id)) throw unreadable('tool', index, `another tool has the id "${id}"`);
    seen.add(id);
  });
  return seen;
}

// Names may repeat: the id identifies a tool.
function toSpec(row: unknown, index: number, ids: Map<string, string>): ToolSpec {
  if (!isRecord(row)) throw unreadable('tool', index, 'it is not an object');
  const { id, name, description, server, category, schema } = row;
  if (typeof name !== 'string') throw unreadable('tool', index, '"name" is not a string');
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
  return new ToolcribError('invalid_rows', `The ${what} in line ${index + 1} is invalid: ${why}.`);
}
