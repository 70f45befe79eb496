import type { ErrorObject } from 'ajv';
import { didYouMean } from '../core/read-options.ts';

const MAX_VALUE = 40;
const MAX_LIST = 200;
const MAX_LISTED = 10;

/** Cuts a text to `length` characters. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** The problem, in words that continue "`/path` ...". */
export function toWords(error: ErrorObject, noun: string): string {
  const words = WORDS[error.keyword];
  return words === undefined ? (error.message ?? 'is not valid') : words(error, noun);
}

/** The expected value as a noun: `a number`, `one of "a", "b"`; undefined if that takes a sentence. */
export function toWanted(error: ErrorObject): string | undefined {
  switch (error.keyword) {
    case 'type':
      return listTypes(error.params.type);
    case 'const':
      return show(error.params.allowedValue);
    case 'enum':
      return `one of ${listValues(error.params.allowedValues)}`;
    default:
      return undefined;
  }
}

/** The wrong value in short form: `the string "abc"`. A value marked as secret in its schema is not shown. */
export function toGot(error: ErrorObject): string {
  const value: unknown = error.data;
  if (typeof value === 'string') return `the string ${showOf(error)}`;
  return typeof value === 'number' ? `the number ${showOf(error)}` : showOf(error);
}

type Words = (error: ErrorObject, noun: string) => string;

const WORDS: Readonly<Record<string, Words>> = {
  type: (error) => `must be ${toWanted(error)}, got ${toGot(error)}`,
  enum: enumWords,
  const: (error) => `must be ${toWanted(error)}; got ${showOf(error)}`,
  required: () => 'is required',
  dependentRequired: dependencyWords,
  dependencies: dependencyWords,
  additionalProperties: unknownNameWords,
  unevaluatedProperties: unknownNameWords,
  minimum: limitWords('at least'),
  maximum: limitWords('at most'),
  exclusiveMinimum: limitWords('more than'),
  exclusiveMaximum: limitWords('less than'),
  multipleOf: (error) => `must be a multiple of ${error.params.multipleOf}; got ${showOf(error)}`,
  minLength: sizeWords('at least', 'character'),
  maxLength: sizeWords('at most', 'character'),
  minItems: sizeWords('at least', 'item'),
  maxItems: sizeWords('at most', 'item'),
  minProperties: sizeWords('at least', 'property'),
  maxProperties: sizeWords('at most', 'property'),
  items: sizeWords('at most', 'item'),
  additionalItems: sizeWords('at most', 'item'),
  unevaluatedItems: (error) => `must have at most ${count(error.params.len, 'item')}`,
  uniqueItems: ({ params }) => `must not have equal items; items ${params.j} and ${params.i} are equal`,
  contains: ({ params }) => containsWords(params.minContains, params.maxContains),
  pattern: (error) => `must match the pattern "${cut(error.params.pattern, MAX_LIST)}"; got ${showOf(error)}`,
  format: (error) => `must be a valid ${formatName(error.params.format)}; got ${showOf(error)}`,
  not: () => 'must not match the excluded schema',
  anyOf: (error) => `must match one of the ${formsOf(error)} allowed forms; got ${toGot(error)}`,
  oneOf: oneOfWords,
  propertyNames: ({ params }) => `the name ${show(params.propertyName)} is not allowed`,
  'false schema': () => 'is not allowed here',
};

function enumWords(error: ErrorObject): string {
  const words = `must be ${toWanted(error)}; got ${showOf(error)}`;
  const allowed: readonly unknown[] = error.params.allowedValues;
  if (allowed.length <= MAX_LISTED || typeof error.data !== 'string') return words;
  return `${words}.${didYouMean(cut(error.data, MAX_VALUE), namesOf(allowed))}`;
}

function dependencyWords({ params }: ErrorObject): string {
  return `is required when ${show(params.property)} is given`;
}

function unknownNameWords(error: ErrorObject, noun: string): string {
  const name: string = error.params.additionalProperty ?? error.params.unevaluatedProperty;
  const top = error.instancePath === '' ? noun : 'property';
  const known = Object.keys(error.parentSchema?.properties ?? {});
  const guess = didYouMean(cut(name, MAX_VALUE), known);
  if (guess !== '' || known.length === 0) return `is not a known ${top}.${guess}`;
  return `is not a known ${top}. Known: ${listValues(known)}.`;
}

function limitWords(comparison: string): Words {
  return (error) => `must be ${comparison} ${error.params.limit}; got ${showOf(error)}`;
}

function sizeWords(comparison: string, noun: string): Words {
  return ({ params, data }) => `must have ${comparison} ${count(params.limit, noun)}; got ${sizeOf(data)}`;
}

function sizeOf(data: unknown): number {
  if (typeof data === 'string') return [...data].length;
  return Array.isArray(data) ? data.length : Object.keys(data ?? {}).length;
}

function containsWords(min: number, max: number | undefined): string {
  const limits =
    max === undefined ? `at least ${count(min, 'item')}` : `at least ${min} and at most ${count(max, 'item')}`;
  return `must contain ${limits} matching its schema`;
}

function oneOfWords(error: ErrorObject): string {
  if (error.params.passingSchemas === null)
    return `must match exactly one of the ${formsOf(error)} allowed forms; got ${toGot(error)}`;
  return `matches more than one of the ${formsOf(error)} allowed forms; make it match exactly one`;
}

function formsOf(error: ErrorObject): number {
  return Array.isArray(error.schema) ? error.schema.length : 0;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function listTypes(type: unknown): string {
  const names = (Array.isArray(type) ? type : String(type).split(',')).map((name) => TYPES[name] ?? String(name));
  return names.join(' or ');
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'email address such as "ada@example.com"',
  'date-time': 'date and time such as "2026-01-31T09:30:00Z"',
  date: 'date such as "2026-01-31"',
  time: 'time such as "09:30:00Z"',
  duration: 'duration such as "PT1H30M"',
  uri: 'URI such as "https://example.com/page"',
  url: 'URL such as "https://example.com/page"',
  uuid: 'UUID such as "123e4567-e89b-12d3-a456-426614174000"',
  ipv4: 'IPv4 address such as "192.0.2.1"',
  ipv6: 'IPv6 address such as "2001:db8::1"',
  hostname: 'host name such as "example.com"',
};

function formatName(format: string): string {
  return Object.hasOwn(FORMATS, format) ? (FORMATS[format] ?? format) : cut(format, MAX_VALUE);
}

function listValues(values: readonly unknown[]): string {
  let text = '';
  for (const [index, value] of values.entries()) {
    const shown = show(value);
    if (index >= MAX_LISTED * 2 || text.length + shown.length > MAX_LIST)
      return `${text} and ${values.length - index} more`;
    text += index === 0 ? shown : `, ${shown}`;
  }
  return text;
}

function namesOf(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

function showOf(error: ErrorObject): string {
  const { writeOnly, format } = error.parentSchema ?? {};
  return writeOnly === true || format === 'password' ? 'another value' : show(error.data);
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value, MAX_VALUE));
  if (Array.isArray(value)) return `an array of ${count(value.length, 'item')}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

function count(number: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${number} ${number === 1 ? noun : plural}`;
}
