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
 * An index of the lines of an NDJSON file. Lines that are not in it are read whenever the file is listed, so an index
 * may be incomplete. Problems are never taken from it.
 */
export interface SpecIndex {
  readonly format: typeof INDEX_FORMAT;
  /** The admission rules under which the specs of the indexed lines were accepted. */
  readonly rules: string;
  /** Names of the indexed specs, in order, separated by spaces. */
  readonly names: string;
  /** The position in `heads` for each of them. */
  readonly headOf: readonly number[];
  readonly heads: readonly SpecHead[];
  /** Lines, counted from 1, that are not empty and not indexed. */
  readonly others: readonly number[];
  /** Secrets that indexed lines refer to by `${secret:...}`; a spec that names an undeclared secret is a problem. */
  readonly secrets: readonly string[];
}

/** Increased when the format of heads changes, or when a line is read as another spec than before. Indexes of other formats are rebuilt. */
export const INDEX_FORMAT = 1;

export interface ByIndexOptions extends SpecTextOptions {
  readonly admission: Admission;
  /** The hash of the bytes. */
  readonly hash: string;
  /** Called once, when a line contradicts the index. */
  onDoubt(): void;
}

/**
 * Lists the specs of a file from its index; `bytes` must have the hash that the index was made for. Undefined if the
 * index cannot be used. The index is checked against the file before a spec shows more than its head.
 */
export function readByIndex(bytes: Buffer, text: string, options: ByIndexOptions): SpecReading | undefined {
  const { admission } = options;
  const index = text.length <= bytes.length && isUtf8(bytes) ? parseIndex(text) : undefined;
  if (index?.rules !== admission.rules() || !index.secrets.every((name) => isDeclared(name, options))) return undefined;
  const read = createEntryReader(options);
  const patterns = patternsOf(index.heads, { read, rules: index.rules });
  const names = index.names === '' ? [] : index.names.split(' ');
  const others = new Set(index.others);
  const collector = createEntryCollector(options.file, { ...options, read });
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

/** A positive number to which offsets in the file can be added. */
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

/** Stored data may be old, damaged or written by another program. */
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
