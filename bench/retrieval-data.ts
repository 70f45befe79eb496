import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Effects, RUN, type ToolSpec } from '../src/core/tool-spec.ts';
import type { LabelledRequest } from '../src/search/evaluate.ts';

const ROOT = join(import.meta.dirname, '../../shared/retrieval');
const MAX_REQUESTS = 1000;

/** A tool as the sets have it. */
export interface ToolRow {
  readonly id: string;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly server?: string;
  /** Its name at the source, if the crib lists another. */
  readonly origin?: string;
  readonly tags?: readonly string[];
  readonly effects?: Effects;
  /** The HTTP method of an operation. */
  readonly method?: string;
  readonly category?: string;
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** Tools and requests whose answers are known. */
export interface RetrievalSet {
  readonly name: string;
  readonly tools: readonly ToolRow[];
  readonly requests: readonly LabelledRequest[];
}

/** True where the sets are on this machine. */
export const hasSets: boolean = existsSync(ROOT);

/** The names of the sets of a folder; none where they are not at hand. */
export function setsOf(folder: 'dev' | 'train'): readonly string[] {
  return hasSets ? readdirSync(join(ROOT, folder)).sort() : [];
}

/** A set; of its requests at most a thousand, spread evenly, since some sets are sorted by difficulty. */
export function readSet(folder: 'dev' | 'train', name: string): RetrievalSet {
  const tools = readRows<ToolRow>(join(ROOT, folder, name, 'tools.jsonl.gz'));
  const requests = readRows<LabelledRequest>(join(ROOT, folder, name, 'queries.jsonl.gz'));
  return { name, tools, requests: spread(requests, MAX_REQUESTS) };
}

/** At most `count` of a list, evenly spread. */
export function spread<T>(list: readonly T[], count: number): readonly T[] {
  if (list.length <= count) return list;
  return Array.from({ length: count }, (_, index) => list[Math.floor((index * list.length) / count)] as T); // within the list
}

function readRows<T>(file: string): readonly T[] {
  if (!existsSync(file)) return [];
  const text = gunzipSync(readFileSync(file)).toString('utf8').trim();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as T); // as the sets are described
}

/** The rows as specs; some sets have a name twice, where a crib would have given the second another. */
export function toSpecs(rows: readonly ToolRow[]): readonly ToolSpec[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const count = (seen.get(row.name) ?? 0) + 1;
    seen.set(row.name, count);
    return {
      name: count === 1 ? row.name : `${row.name}_${count}`,
      description: row.description,
      input: row.schema ?? {},
      effects: row.effects ?? {},
      policy: {},
      tags: row.tags ?? [],
      ...(row.title !== undefined && { title: row.title }),
      ...(row.category !== undefined && { category: row.category }),
      source: row.server ?? '',
      origin: row.origin ?? row.name,
      [RUN]: row.method === undefined ? { kind: 'function' } : { kind: 'http', method: row.method },
    };
  });
}
