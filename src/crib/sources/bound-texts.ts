import { frozenCopy } from '../../core/json.ts';
import type { Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';

/** Maximum length of each text of a spec, as lists, prompts and search include them. */
const TEXTS = { title: 500, version: 500, category: 500, description: 16_000, instructions: 64_000 } as const;
const TEXT_KEYS = Object.keys(TEXTS) as readonly (keyof typeof TEXTS)[]; // its own keys
const SCHEMAS = ['input', 'output'] as const;
const DATA = ['examples', 'meta'] as const;
/** Maximum approximate JSON length of a schema, of examples or of meta. */
const LONGEST_DATA = 1_000_000;
/** Maximum length of one description inside a schema. */
const LONGEST_NOTE = 16_000;
const NOTES: readonly string[] = ['title', 'description', '$comment'];
/** Keys of data that arguments are compared with, which must not be cut. */
const VALUES: readonly string[] = ['const', 'enum', 'default', 'examples'];

const NOTHING: readonly string[] = Object.freeze([]);

/** The spec with texts of bounded length. The operator can fix a trusted source, which is refused; texts of an untrusted one are cut. */
export function boundTexts(spec: ToolSpec, source: Source, warn: (message: string) => void): ToolSpec {
  const tooLong = tooLongIn(spec);
  if (tooLong.length === 0) return spec;
  const message = `Tool "${spec.name}" of ${source.name}: ${tooLong.join('; ')}`;
  if (source.trust === true) throw new ToolcribError('too_long', `${message}; shorten it.`);
  const cut = cutTexts(spec);
  warn(`${message}; longer texts were cut, and larger examples and meta were removed.`);
  return cut;
}

/** Lists the parts of a spec that are too long. */
export function tooLongIn(spec: ToolSpec): readonly string[] {
  if (isSurelyShort(spec)) return NOTHING;
  return [
    ...textKeysOf(spec).map((key) => `its ${key} has more than ${TEXTS[key]} characters`),
    ...SCHEMAS.filter((key) => hasLongNote(spec[key])).map(
      (key) => `its ${key} schema has a text of more than ${LONGEST_NOTE} characters`,
    ),
    ...[...SCHEMAS, ...DATA]
      .filter((key) => isTooLarge(spec[key]))
      .map((key) => `its ${key} has more than ${LONGEST_DATA} characters`),
  ];
}

/** True for most specs: no part of a value as short as this can be too long. A start checks every spec, so this check comes first. */
function isSurelyShort(spec: ToolSpec): boolean {
  const { input, output, examples, meta } = spec;
  if (isLonger(input, LONGEST_NOTE) || isLonger(output, LONGEST_NOTE)) return false;
  return !isTooLarge(examples) && !isTooLarge(meta) && textKeysOf(spec).length === 0;
}

/** Cuts long texts and removes large examples and meta. Throws if a schema is still too large, as a cut schema would accept other arguments. */
function cutTexts(spec: ToolSpec): ToolSpec {
  const schemas = SCHEMAS.map((key) => [key, hasLongNote(spec[key]) ? cutNotes(spec[key]) : spec[key]] as const);
  const [large] = schemas.find(([, schema]) => isTooLarge(schema)) ?? [];
  if (large !== undefined) {
    const message = `Tool "${spec.name}" of ${spec.source}: its ${large} schema has more than ${LONGEST_DATA} characters; make it smaller at its source.`;
    throw new ToolcribError('too_long', message);
  }
  const texts = textKeysOf(spec).map((key) => [key, cutText(spec[key] ?? '', TEXTS[key])]);
  const changed = schemas
    .filter(([key, schema]) => schema !== spec[key])
    .map(([key, schema]) => [key, frozenCopy(schema)]);
  const { examples, meta, ...rest } = spec;
  return Object.freeze({
    ...rest,
    ...(examples !== undefined && !isTooLarge(examples) && { examples }),
    ...(meta !== undefined && !isTooLarge(meta) && { meta }),
    ...Object.fromEntries([...texts, ...changed]),
  });
}

function textKeysOf(spec: ToolSpec): readonly (keyof typeof TEXTS)[] {
  return TEXT_KEYS.filter((key) => (spec[key]?.length ?? 0) > TEXTS[key]);
}

/** Cuts a text without splitting a character, and appends an ellipsis. */
function cutText(text: string, longest: number): string {
  return `${text.slice(0, longest - 1).toWellFormed()}…`;
}

/** Visits each part once, as a schema may share parts or contain itself. */
function hasLongNote(value: unknown, seen = new Set<object>()): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  return Object.entries(value).some(([key, member]) =>
    isNote(key, member) ? member.length > LONGEST_NOTE : !VALUES.includes(key) && hasLongNote(member, seen),
  );
}

function cutNotes(value: unknown, known = new Map<object, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  const cut: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
  known.set(value, cut);
  const cutMember = (key: string, member: unknown): unknown => {
    if (isNote(key, member)) return member.length > LONGEST_NOTE ? cutText(member, LONGEST_NOTE) : member;
    return VALUES.includes(key) ? member : cutNotes(member, known);
  };
  const members = Object.entries(value).map(([key, member]) => [key, cutMember(key, member)] as const);
  for (const [key, value] of members) Object.defineProperty(cut, key, { value, enumerable: true });
  return cut;
}

function isNote(key: string, member: unknown): member is string {
  return typeof member === 'string' && NOTES.includes(key);
}

function isTooLarge(value: unknown): boolean {
  return isLonger(value, LONGEST_DATA);
}

/** Compares the approximate JSON length. Stops at the limit, so it also ends for a value that contains itself. */
function isLonger(value: unknown, limit: number): boolean {
  if (value === undefined) return false;
  const waiting: unknown[] = [value];
  let room = limit;
  while (waiting.length > 0 && room >= 0) {
    const one = waiting.pop();
    if (typeof one === 'string') room -= one.length;
    if (typeof one !== 'object' || one === null) continue;
    for (const key in one) {
      room -= key.length + 1;
      if (room < 0) break;
      waiting.push((one as Record<string, unknown>)[key]); // keys come from the object itself
    }
  }
  return room < 0;
}
