import { frozenCopy } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

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
  const texts = textKeysOf(spec).map((key) => [key, cutText(spec[key] ?? '', TEXTS[key])]);
  const schemas = SCHEMAS.filter((key) => hasLongNote(spec[key])).map((key) => [key, frozenCopy(cutNotes(spec[key]))]);
  const { examples, meta, ...rest } = spec;
  const cut: ToolSpec = Object.freeze({
    ...rest,
    ...(examples !== undefined && !isTooLarge(examples) && { examples }),
    ...(meta !== undefined && !isTooLarge(meta) && { meta }),
    ...Object.fromEntries([...texts, ...schemas]),
  });
  const large = SCHEMAS.find((key) => isTooLarge(cut[key]));
  if (large === undefined) return cut;
  const message = `Tool "${spec.name}" of ${spec.source}: its ${large} schema has more than ${LONGEST_DATA} characters; make it smaller at its source.`;
  throw new ToolcribError('too_long', message);
}

function textKeysOf(spec: ToolSpec): readonly (keyof typeof TEXTS)[] {
  const keys = Object.keys(TEXTS) as (keyof typeof TEXTS)[]; // its own keys
  return keys.filter((key) => (spec[key]?.length ?? 0) > TEXTS[key]);
}

/** Whole characters, with a sign that something is missing. */
function cutText(text: string, longest: number): string {
  return `${text.slice(0, longest - 1).toWellFormed()}…`;
}

function hasLongNote(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) =>
    isNote(key, member) ? member.length > LONGEST_NOTE : !VALUES.includes(key) && hasLongNote(member),
  );
}

function cutNotes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cutNotes);
  const members = Object.entries(value).map(([key, member]) => {
    if (isNote(key, member)) return [key, member.length > LONGEST_NOTE ? cutText(member, LONGEST_NOTE) : member];
    return [key, VALUES.includes(key) ? member : cutNotes(member)];
  });
  return Object.fromEntries(members);
}

function isNote(key: string, member: unknown): member is string {
  return typeof member === 'string' && NOTES.includes(key);
}

function isTooLarge(value: unknown): boolean {
  return roomAfter(value, LONGEST_DATA) < 0;
}

/** What is left of some characters after this value; it stops counting where nothing is left. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null) return room - 1;
  let left = room;
  for (const key in value) {
    if (left < 0) return left;
    left = roomAfter((value as Record<string, unknown>)[key], left - key.length); // any member will do
  }
  return left;
}
