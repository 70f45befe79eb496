import { frozenCopy } from '../../core/json.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';

/** The most characters of each text of a spec: lists, prompts and searches carry them. */
const TEXTS = { title: 500, version: 500, category: 500, description: 16_000, instructions: 64_000 } as const;
const SCHEMAS = ['input', 'output'] as const;
const DATA = ['examples', 'meta'] as const;
/** The most characters of a schema, of examples or of meta, about as JSON has them. */
const LONGEST_DATA = 1_000_000;
/** The most characters of one text that only explains a part of a schema. */
const LONGEST_NOTE = 16_000;
const NOTES: readonly string[] = ['title', 'description', '$comment'];
/** Under these keys stands data that arguments are compared with. */
const VALUES: readonly string[] = ['const', 'enum', 'default', 'examples'];

/** What of a spec is longer than it may be, in words. */
export function tooLongIn(spec: ToolSpec): readonly string[] {
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

/** The spec with long texts cut, and without long examples and meta. A schema that is still too large refuses the tool: cut, it would let other arguments in. */
export function cutTexts(spec: ToolSpec): ToolSpec {
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
  const keys = Object.keys(TEXTS) as (keyof typeof TEXTS)[]; // its own keys
  return keys.filter((key) => (spec[key]?.length ?? 0) > TEXTS[key]);
}

/** Whole characters, with a sign that something is missing. */
function cutText(text: string, longest: number): string {
  return `${text.slice(0, longest - 1).toWellFormed()}…`;
}

/** Each part is looked at once: a schema may hold the same part many times, or itself. */
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

/** Stops counting where too much is certain, so that a value that holds itself ends as well. */
function isTooLarge(value: unknown): boolean {
  const waiting: unknown[] = [value];
  let room = LONGEST_DATA;
  while (waiting.length > 0 && room >= 0) {
    const one = waiting.pop();
    if (typeof one === 'string') room -= one.length;
    if (typeof one !== 'object' || one === null) continue;
    for (const key in one) {
      room -= key.length + 1;
      if (room < 0) break;
      waiting.push((one as Record<string, unknown>)[key]); // any member will do
    }
  }
  return room < 0;
}
