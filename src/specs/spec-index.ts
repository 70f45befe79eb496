import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Admission } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { isToolName } from '../core/tool-spec.ts';
import { createEntryCollector, lineEndsOf, readLine, type SpecReading } from './entry-collector.ts';
import { type HeadPattern, type HeadReader, indexedSpec, type SpecHead, toPattern } from './indexed-spec.ts';
import { createEntryReader } from './spec-entry.ts';
import { markLength, type SpecTextOptions } from './spec-text.ts';

/**
 * What is known of the lines of an NDJSON file. A line of which nothing is known is read whenever the file is listed:
 * an index may say little, and problems are never taken from it.
 */
export interface SpecIndex {
  readonly format: typeof INDEX_FORMAT;
  /** By which the specs of all lines that are known were found good. */
  readonly rules: string;
  /** Of the lines that are known, in their order, with spaces between. */
  readonly names: string;
  /** Which of `heads` each of them has. */
  readonly headOf: readonly number[];
  readonly heads: readonly SpecHead[];
  /** Lines, counted from 1, that are not empty and of which nothing is known. */
  readonly others: readonly number[];
  /** What known lines refer to by `${secret:...}`: a spec that names a secret nobody declared is a problem. */
  readonly secrets: readonly string[];
}

/** Goes up when heads say something else, or the same in other words, and when a line is read as another spec than before: indexes of another format are made anew. */
export const INDEX_FORMAT = 1;

export interface ByIndexOptions extends SpecTextOptions {
  readonly admission: Admission;
  /** Of the bytes. */
  readonly hash: string;
  /** Called once, when a line turns out to say something else than the index. */
  onDoubt(): void;
}

/**
 * Lists the specs of a file by its index; `bytes` have the hash that the index was made for. Nothing if the index cannot
 * be used. What it says of a spec is held against the file before that spec shows more than its head.
 */
export function readByIndex(bytes: Buffer, text: string, options: ByIndexOptions): SpecReading | undefined {
  const { admission } = options;
  const index = text.length <= bytes.length && isUtf8(bytes) ? parseIndex(text) : undefined;
  if (index?.rules !== admission.rules() || !index.secrets.every((name) => isDeclared(name, options))) return undefined;
  const read = createEntryReader(options);
  const patterns = patternsOf(index.heads, { read, rules: index.rules });
  const names = index.names === '' ? [] : index.names.split(' ');
  const others = new Set(index.others);
  const collector = createEntryCollector(options.file, read);
  const mark = markOf([INDEX_FORMAT, options.hash, options.source, index.rules]);
  const file = { bytes, mark, read, admits: admission.admits, doubt: once(options.onDoubt) };
  let known = 0;
  let start: number = markLength(bytes);
  let line = 0;
  for (const end of lineEndsOf(bytes)) {
    line += 1;
    if (others.has(line)) readLine(bytes.toString('utf8', start, end), line, collector);
    else if (end > start) {
      const name = names[known];
      const pattern = patterns?.[index.headOf[known] ?? -1];
      if (pattern === undefined || !isToolName(name)) return undefined;
      known += 1;
      collector.spec(indexedSpec(name, pattern, { file, start, end }), line);
    }
    start = end + 1;
  }
  return known === names.length ? collector.reading() : undefined;
}

/** A number above nought to which the places of a file can be added. */
function markOf(parts: readonly unknown[]): number {
  return 1 + Number.parseInt(hash('sha256', JSON.stringify(parts)).slice(0, 12), 16);
}

function once(tell: () => void): () => void {
  let isTold = false;
  return () => {
    if (!isTold) tell();
    isTold = true;
  };
}

function patternsOf(heads: readonly unknown[], reader: HeadReader): readonly HeadPattern[] | undefined {
  try {
    return heads.map((head) => toPattern(head, reader));
  } catch (error) {
    if (error instanceof ToolcribError) return undefined;
    throw error;
  }
}

function isDeclared(secret: string, { readRunText }: SpecTextOptions): boolean {
  return readRunText === undefined || 'text' in readRunText(`\${${secret}}`);
}

/** Whatever lies in a store may be old, damaged or somebody else's. */
function parseIndex(text: string): SpecIndex | undefined {
  let index: unknown;
  try {
    index = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return isIndex(index) ? index : undefined;
}

function isIndex(value: unknown): value is SpecIndex {
  if (typeof value !== 'object' || value === null) return false;
  const { format, rules, names, headOf, heads, others, secrets } = value as Record<keyof SpecIndex, unknown>; // read as unknown
  return (
    format === INDEX_FORMAT &&
    typeof rules === 'string' &&
    typeof names === 'string' &&
    isListOf('number', headOf) &&
    isListOf('object', heads) &&
    isListOf('number', others) &&
    isListOf('string', secrets)
  );
}

function isListOf(type: 'number' | 'object' | 'string', value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === type);
}
