import { isRecord } from '../core/json.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { splitDescription } from './split-description.ts';

/** The searched fields of a tool, in the order of their bits. */
export const FIELDS = [
  'name',
  'title',
  'description',
  'rest',
  'source',
  'bundle',
  'category',
  'tags',
  'parameters',
  'parameterTexts',
  'examples',
] as const;
export type Field = (typeof FIELDS)[number];

/** The texts of one tool, by field: `description` is its first sentence, `rest` everything after it. */
export interface SearchTexts extends Readonly<Record<Field, string>> {
  /** A verb for the effects of the tool, if they are known. It is not searched. */
  readonly effect: string;
}

/** Longer texts of a field are cut. */
export const MAX_TEXT_LENGTH = 20_000;
const MAX_DEPTH = 5;
const MAX_PARAMETERS = 200;
const MAX_CHOICES = 20;
/** Limit of visited schemas, because a schema may contain itself. */
const MAX_SCHEMAS = 1000;

/** Separates texts that were not written as one. */
const BETWEEN = ' \n';

/** The searched texts of a spec. `take` also receives each text, so that the spec is walked only once. */
export function searchTextsOf(spec: ToolSpec, bundles: readonly string[] = [], take?: TakeText): SearchTexts {
  const texts = Array.from({ length: FIELDS.length + 1 }, () => '');
  eachText(spec, bundles, (place, text) => {
    take?.(place, text);
    const before = texts[place];
    texts[place] = before === '' ? text : before + BETWEEN + text;
  });
  const textOf = (place: number) => cut(texts[place] ?? '');
  const [name, title] = [textOf(PLACE.name), textOf(PLACE.title)];
  const { lead, rest } = splitDescription(textOf(PLACE.description), title === '' ? name : title);
  return {
    ...{ name, title, rest, effect: textOf(EFFECT) },
    description: lead,
    source: textOf(PLACE.source),
    bundle: textOf(PLACE.bundle),
    category: textOf(PLACE.category),
    tags: textOf(PLACE.tags),
    parameters: textOf(PLACE.parameters),
    parameterTexts: textOf(PLACE.parameterTexts),
    examples: textOf(PLACE.examples),
  };
}

function cut(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? text.slice(0, MAX_TEXT_LENGTH) : text;
}

/** Receives a text and the index of its field in `FIELDS`, or the length of that for the effect. */
export type TakeText = (place: number, text: string) => void;

const PLACE = Object.fromEntries(FIELDS.map((field, place) => [field, place])) as Readonly<Record<Field, number>>; // one for each field

/** The place of the effect, behind all fields. */
const EFFECT = FIELDS.length;

/** Visits every searched text of a spec, and its effect. Specs may come from anywhere, so values that are not text are ignored. */
export function eachText(spec: ToolSpec, bundles: readonly string[], take: TakeText): void {
  const { name, title, description, source, category, tags, input, examples, effects } = spec;
  giveText(PLACE.name, name, take);
  giveText(PLACE.title, title, take);
  giveText(PLACE.description, description, take);
  giveText(PLACE.source, source, take);
  giveTexts(PLACE.bundle, bundles, take);
  giveText(PLACE.category, category, take);
  giveTexts(PLACE.tags, tags, take);
  if (effects.readOnly === true) take(EFFECT, 'read');
  else if (effects.destructive === true && effects.readOnly === false) take(EFFECT, 'delete');
  if (isRecord(input)) walkSchema(input, { take, names: 0, texts: 0, count: 0, schemas: 0, depth: 0 });
  if (!Array.isArray(examples)) return;
  const requests = examples.map((example) => example?.request);
  giveTexts(PLACE.examples, requests, take);
}

function giveText(place: number, text: unknown, take: TakeText): void {
  if (typeof text !== 'string' || text === '') return;
  take(place, cut(text));
}

function giveTexts(place: number, given: unknown, take: TakeText): void {
  const texts: readonly unknown[] = Array.isArray(given) ? given : [given];
  let length = 0;
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    if (length < MAX_TEXT_LENGTH) giveText(place, text, take);
    length += text.length;
  }
}

/** The state of walking through the parameters of a tool. */
interface Walk {
  readonly take: TakeText;
  /** Number of characters of names and of texts so far. */
  names: number;
  texts: number;
  count: number;
  schemas: number;
  depth: number;
}

type Schema = Readonly<Record<string, unknown>>;

// Iterates over the keys that a schema has: checking thousands of shapes for missing keys takes longer than everything else.
function walkSchema(schema: Schema, walk: Walk): void {
  if (!enter(walk)) return;
  for (const key in schema) walkInner(key, schema[key], walk);
  walk.depth -= 1;
}

function walkProperty(property: Schema, walk: Walk): void {
  const isWithinLimits = enter(walk);
  for (const key in property) {
    const value = property[key];
    if (key === 'title' || key === 'description') giveParameterText(value, walk);
    else if (key === 'enum') giveChoices(value, walk);
    else if (isWithinLimits) walkInner(key, value, walk);
  }
  if (isWithinLimits) walk.depth -= 1;
}

function enter(walk: Walk): boolean {
  if (walk.depth > MAX_DEPTH || walk.schemas >= MAX_SCHEMAS) return false;
  walk.schemas += 1;
  walk.depth += 1;
  return true;
}

function walkInner(key: string, value: unknown, walk: Walk): void {
  if (key === 'items' || key === 'anyOf' || key === 'oneOf' || key === 'allOf') walkParts(value, walk);
  else if (key === 'properties' && isRecord(value)) walkProperties(value, walk);
}

function walkProperties(properties: Schema, walk: Walk): void {
  for (const name in properties) {
    if (walk.count >= MAX_PARAMETERS) return;
    walk.count += 1;
    if (walk.names < MAX_TEXT_LENGTH) giveText(PLACE.parameters, name, walk.take);
    walk.names += name.length;
    const property = properties[name];
    if (isRecord(property)) walkProperty(property, walk);
  }
}

function giveParameterText(text: unknown, walk: Walk): void {
  if (typeof text !== 'string' || walk.texts >= MAX_TEXT_LENGTH) return;
  giveText(PLACE.parameterTexts, text, walk.take);
  walk.texts += text.length;
}

function giveChoices(choices: unknown, walk: Walk): void {
  if (!Array.isArray(choices)) return;
  const texts = choices.filter((choice) => typeof choice === 'string');
  for (const text of texts.slice(0, MAX_CHOICES)) giveParameterText(text, walk);
}

function walkParts(parts: unknown, walk: Walk): void {
  if (isRecord(parts)) walkSchema(parts, walk);
  if (!Array.isArray(parts)) return;
  for (const part of parts) if (isRecord(part)) walkSchema(part, walk);
}

/** The part of a long description that counts for its meaning. */
const MOST_OF_REST = 400;

/** The texts to embed, most important first: a title and a first sentence say most in the fewest words. */
export function denseTexts({ name, title, description, rest, examples }: SearchTexts): readonly string[] {
  const called = title === '' ? name : title;
  return [
    `${called}. ${called}. ${description} ${rest.slice(0, MOST_OF_REST)}`,
    ...(examples === '' ? [] : [examples]),
  ];
}
