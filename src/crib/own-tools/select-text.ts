import type { JsonValue } from '../../core/json.ts';
import { unescapePointer } from '../../core/json-pointer.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { createLinearPatterns } from '../../schemas/linear-pattern.ts';
import { createWorkLimit, TooMuchWorkError } from '../../schemas/work-limit.ts';

/** A long text, and its value if it is JSON. */
export interface LongText {
  readonly text: string;
  readonly data?: JsonValue;
}

/** The part to select. `pointer` is applied first, then the lines, then `grep`, then `offset` and `length`. */
export interface TextPart {
  /** JSON Pointer (RFC 6901). */
  readonly pointer?: string;
  /** The first line to show, counted from 1. */
  readonly fromLine?: number;
  /** The last line to show. */
  readonly toLine?: number;
  /** Shows only lines that match this regular expression, with their numbers. */
  readonly grep?: string;
  /** Number of characters to skip. */
  readonly offset?: number;
  /** Number of characters to show. */
  readonly length?: number;
}

/** A part of the selected text, and its offset. */
export interface SelectedText {
  readonly text: string;
  readonly offset: number;
  /** Length of the whole selected text in characters. */
  readonly total: number;
}

const MOST_CHARACTERS = 100_000;
const USUAL_CHARACTERS = 20_000;
const GREP_WORK = 400_000_000;

/** Selects a part of a text. Throws a `ToolcribError` for an invalid selection. */
export function selectText(whole: LongText, part: TextPart): SelectedText {
  const { offset = 0, length = USUAL_CHARACTERS } = part;
  const pointed = part.pointer === undefined ? whole.text : textAt(whole, part.pointer);
  const lines = selectLines(pointed, part);
  const selected = part.grep === undefined ? lines.map(({ line }) => line) : grep(lines, part.grep);
  const text = selected.join('\n');
  return { text: text.slice(offset, offset + Math.min(length, MOST_CHARACTERS)), offset, total: text.length };
}

interface Line {
  readonly number: number;
  readonly line: string;
}

function selectLines(
  text: string,
  { fromLine = 1, toLine = Number.POSITIVE_INFINITY, grep }: TextPart,
): readonly Line[] {
  if (fromLine === 1 && toLine === Number.POSITIVE_INFINITY && grep === undefined) return [{ number: 1, line: text }];
  const lines = text.split('\n').map((line, index) => ({ number: index + 1, line }));
  if (fromLine > lines.length)
    throw new ToolcribError('invalid_option', `Line ${fromLine} does not exist; the text has ${lines.length} lines.`);
  return lines.slice(fromLine - 1, toLine);
}

/** Matches lines with a linear-time engine and a work limit. */
function grep(lines: readonly Line[], pattern: string): readonly string[] {
  const work = createWorkLimit();
  work.start(GREP_WORK);
  const matcher = createLinearPatterns(work)(pattern);
  if (typeof matcher === 'string')
    throw new ToolcribError(
      'invalid_option',
      `grep: the pattern ${JSON.stringify(pattern)} ${matcher}; use a simpler one.`,
    );
  try {
    return lines.filter(({ line }) => matcher.test(line)).map(({ number, line }) => `${number}: ${line}`);
  } catch (cause) {
    if (!(cause instanceof TooMuchWorkError)) throw cause;
    throw new ToolcribError(
      'invalid_option',
      'grep: the pattern takes too long on this text; select fewer lines with fromLine and toLine, or use a simpler pattern.',
      { cause },
    );
  }
}

function textAt(whole: LongText, pointer: string): string {
  if (pointer !== '' && !pointer.startsWith('/'))
    throw new ToolcribError(
      'invalid_option',
      `A pointer must start with "/", such as "/items/0/name"; got ${JSON.stringify(pointer)}.`,
    );
  let value = dataOf(whole);
  for (const [index, step] of pointer.split('/').slice(1).entries()) {
    const key = unescapePointer(step);
    const found = memberOf(value, key);
    if (found === undefined) {
      const at = pointer
        .split('/')
        .slice(0, index + 1)
        .join('/');
      throw new ToolcribError(
        'invalid_option',
        `${JSON.stringify(key)} does not exist at "${at}", which is ${shapeOf(value)}.`,
      );
    }
    value = found;
  }
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function dataOf({ text, data }: LongText): JsonValue {
  if (data !== undefined) return data;
  try {
    return JSON.parse(text) as JsonValue; // JSON.parse returns JSON
  } catch (cause) {
    throw new ToolcribError('invalid_option', 'The result is not JSON; select by offset, lines or grep.', { cause });
  }
}

function memberOf(value: JsonValue, key: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as { readonly [key: string]: JsonValue })[key]; // an object, not an array
}

const MOST_KEYS = 20;

function shapeOf(value: JsonValue): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== 'object' || value === null) return `a ${value === null ? 'null' : typeof value}`;
  const keys = Object.keys(value);
  return `an object with ${keys
    .slice(0, MOST_KEYS)
    .map((key) => JSON.stringify(key))
    .join(', ')}${keys.length > MOST_KEYS ? ' and more' : ''}`;
}
