import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Admission } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { createEntryReader } from '../spec-entry.ts';
import type { SpecEntry } from '../text/entry-collector.ts';
import { lineEndsOf } from '../text/spec-ndjson.ts';
import { markLength } from '../text/spec-text.ts';
import { type HeadReader, headOf, type SpecHead, toPattern } from './lazy-spec.ts';
import { INDEX_FORMAT, type SpecIndex } from './spec-index.ts';

/** After so many lines, others have their turn. */
const LINES_A_TURN = 1000;

/** What was read from a file. */
export interface ReadFile {
  readonly bytes: Buffer;
  readonly entries: readonly SpecEntry[];
}

/** The text of an index. Nothing if it would be larger than the file. */
export async function writeIndex({ bytes, entries }: ReadFile, admission: Admission): Promise<string | undefined> {
  const heads = createHeadList();
  const names: string[] = [];
  const headOf: number[] = [];
  const others: number[] = [];
  const secrets = new Set<string>();
  const referencesAt = createReferenceSearch(bytes);
  let next = 0;
  let start: number = markLength(bytes);
  let line = 0;
  for (const end of lineEndsOf(bytes)) {
    line += 1;
    const spec = entries[next]?.line === line ? entries[next++]?.spec : undefined;
    const references = spec !== undefined && admission.admits(spec) ? referencesAt(start, end) : undefined;
    const head = spec === undefined || references === undefined ? undefined : heads.add(spec);
    if (spec !== undefined && head !== undefined) {
      names.push(spec.name);
      headOf.push(head);
      for (const reference of references ?? []) secrets.add(reference);
    } else if (end > start) others.push(line);
    start = end + 1;
    if (line % LINES_A_TURN === 0) await nextTurn();
  }
  const index: SpecIndex = {
    format: INDEX_FORMAT,
    rules: admission.rules(),
    names: names.join(' '),
    headOf,
    heads: heads.all,
    others,
    secrets: [...secrets],
  };
  const text = JSON.stringify(index);
  return text.length <= bytes.length ? text : undefined;
}

interface HeadList {
  readonly all: readonly SpecHead[];
  /** The place of a spec's head in the list; nothing if the head is not what it was after it was written and read. */
  add(spec: ToolSpec): number | undefined;
}

function createHeadList(): HeadList {
  const all: SpecHead[] = [];
  const places = new Map<string, number | undefined>();
  const read = createEntryReader({ source: 'index' });
  return {
    all,
    add(spec) {
      const head = headOf(spec);
      if (head === undefined) return undefined;
      const text = JSON.stringify(head);
      if (!places.has(text)) places.set(text, isKept(head, text, { read, rules: '' }) ? all.push(head) - 1 : undefined);
      return places.get(text);
    },
  };
}

function isKept(head: SpecHead, text: string, reader: HeadReader): boolean {
  try {
    return isDeepStrictEqual(toPattern(JSON.parse(text), reader).head, head);
  } catch (error) {
    if (error instanceof ToolcribError) return false;
    throw error;
  }
}

/**
 * Finds what lines refer to by `${...}`: only secrets, which are filled in at the moment of use, or none. Nothing for a
 * line whose meaning depends on the environment: it may be a problem tomorrow.
 */
function createReferenceSearch(bytes: Buffer): (start: number, end: number) => readonly string[] | undefined {
  const nextDollar = createSearch(bytes, '$');
  const nextEscape = createSearch(bytes, '\\u0024'); // the same character, written otherwise
  return (start, end) => {
    if (nextEscape(start) < end) return undefined;
    if (nextDollar(start) >= end) return [];
    const text = bytes.toString('utf8', start, end);
    const found = text.match(/\$(?:\{|\\u007b)[^}]*/gi) ?? [];
    const names = found.map((reference) => /^\$\{(secret:[\w-]+)$/.exec(reference)?.[1]);
    return names.every((name) => name !== undefined) ? names : undefined;
  };
}

/** Finds the next place of a text; asked for places in their order, it walks the bytes once. */
function createSearch(bytes: Buffer, text: string): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found < from) found = bytes.indexOf(text, from);
    if (found === -1) found = bytes.length;
    return found;
  };
}
