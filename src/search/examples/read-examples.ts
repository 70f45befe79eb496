import { isRecord } from '../../core/json.ts';
import { type ToolExample, type ToolSpec, UNREAD } from '../../core/tool-spec.ts';

/** The requests of one tool in a file of examples. */
export interface WrittenExamples {
  readonly tool: string;
  /** The fingerprint of the description that they were written from. Absent: they are the owner's own. */
  readonly of?: string;
  readonly requests: readonly string[];
}

/** The lines of a file of examples. */
export interface ExampleLines {
  /** By tool; of several lines of a tool the last one counts. */
  readonly entries: ReadonlyMap<string, WrittenExamples>;
  /** The problems of lines, which are left out. */
  readonly mistakes: readonly string[];
  /** True if the last line is not complete, as a crash leaves it. */
  readonly isTorn: boolean;
}

const MOST_REQUESTS = 50;
const MOST_CHARACTERS = 500;
const KEYS: readonly string[] = ['tool', 'of', 'requests'];

/** Reads lines of `{ tool, of?, requests }`. One bad line leaves the others. */
export function readExampleLines(text: string): ExampleLines {
  const entries = new Map<string, WrittenExamples>();
  const mistakes: string[] = [];
  const lines = text.replace(/^\ufeff/, '').split('\n');
  let isTorn = false;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const read = readLine(line);
    if (typeof read !== 'string') entries.set(read.tool, read);
    else if (index === lines.length - 1 && read === NOT_JSON) isTorn = true;
    else mistakes.push(`line ${index + 1} ${read}`);
  }
  return { entries, mistakes, isTorn };
}

const NOT_JSON = 'is not JSON';

function readLine(line: string): WrittenExamples | string {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return NOT_JSON;
  }
  if (!isRecord(entry)) return 'is not an object';
  const { tool, of, requests } = entry;
  const unknown = Object.keys(entry).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return `has the unknown member ${JSON.stringify(unknown.slice(0, 50))}`;
  if (typeof tool !== 'string' || tool === '') return 'has no "tool"';
  if (of !== undefined && typeof of !== 'string') return 'has an "of" that is not text';
  if (!Array.isArray(requests) || !requests.every((one) => typeof one === 'string'))
    return 'has no "requests", a list of texts';
  if (requests.length > MOST_REQUESTS) return `has more than ${MOST_REQUESTS} requests`;
  if (requests.some((one) => one.length > MOST_CHARACTERS))
    return `has a request of more than ${MOST_CHARACTERS} characters`;
  return { tool, requests, ...(of !== undefined && { of }) };
}

/** Requests for search by the names of tools. */
export type ExampleRequests = ReadonlyMap<string, readonly string[]>;

/** The spec as search sees it: with further examples. Listings keep the original. */
export function withRequests(spec: ToolSpec, requests: readonly string[] | undefined): ToolSpec {
  if (requests === undefined || requests.length === 0) return spec;
  const own = Array.isArray(spec.examples) ? spec.examples : [];
  const examples: readonly ToolExample[] = [...own, ...requests.map((request) => ({ request }))];
  if (spec[UNREAD] === undefined) return { ...spec, examples };
  // A spec that is parsed later stays so; its mark does not cover the examples.
  return Object.create(spec, { examples: { value: examples, enumerable: true }, [UNREAD]: { value: undefined } });
}

/** The names of tools whose requests differ. */
export function changedTools(one: ExampleRequests, other: ExampleRequests): ReadonlySet<string> {
  const names = new Set([...one.keys(), ...other.keys()]);
  return new Set([...names].filter((name) => !isSame(one.get(name) ?? [], other.get(name) ?? [])));
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, place) => text === others[place]);
}
