import { isRecord } from '../../../core/json.ts';
import { isSameData } from '../../../specs/spec-list.ts';
import type { Fields } from './load-description.ts';
import type { Draft } from './plain-keywords.ts';

/** The direction of a value: requests omit readOnly properties, responses omit writeOnly ones. */
export type Direction = 'request' | 'response';

/** Size of a schema, counted during conversion. */
export interface Tally {
  /** Number of schemas, maps and lists. */
  nodes: number;
  /** Nesting depth. */
  height: number;
  /** References that remain as `$ref`. */
  readonly uses: Set<string>;
}

/** The position of a schema during conversion. */
export interface SchemaSpot {
  readonly depth: number;
  readonly tally: Tally;
}

/** Converts a schema and everything below it. */
export type Convert = (node: unknown, spot: SchemaSpot) => Draft;

export interface MemberOptions extends SchemaSpot {
  readonly convert: Convert;
  readonly direction: Direction;
  /** True if a property exists only in the other direction. */
  isHidden(property: unknown): boolean;
}

/** Wider schemas can neither be checked nor read by a model. */
const MAX_WIDTH = 1000;

/** Converts the subschemas of a schema into its draft. */
export function convertMembers(node: Fields, draft: Draft, options: MemberOptions): Draft {
  convertProperties(node, draft, options);
  convertOthers(node, draft, options);
  convertItems(node, draft, options);
  return convertChoices(node, draft, options);
}

function below({ depth, tally }: SchemaSpot): SchemaSpot {
  return { depth: depth + 1, tally };
}

function convertProperties({ properties, required }: Fields, draft: Draft, options: MemberOptions): void {
  const { tally, convert, isHidden } = options;
  const names = isRecord(properties) ? Object.keys(properties) : [];
  if (names.length > MAX_WIDTH) return; // left to the API to check
  const hidden = new Set<unknown>(['__proto__']);
  if (isRecord(properties) && names.length > 0) {
    tally.nodes += 1;
    const converted: Draft = {};
    for (const name of names) {
      if (isHidden(properties[name])) hidden.add(name);
      else if (name !== '__proto__') converted[name] = convert(properties[name], below(options));
    }
    draft.properties = converted;
  }
  if (!Array.isArray(required) || required.length > MAX_WIDTH) return;
  const wanted = required.filter((name) => typeof name === 'string' && !hidden.has(name));
  if (wanted.length > 0) draft.required = [...new Set(wanted)];
}

function convertOthers({ additionalProperties: others, ...node }: Fields, draft: Draft, options: MemberOptions): void {
  // Patterns of names are left to the API, so names that match a pattern must stay allowed.
  if (node.patternProperties !== undefined || (isRecord(node.properties) && draft.properties === undefined)) return;
  if (isRecord(others)) draft.additionalProperties = options.convert(others, below(options));
  // An API may return more fields later.
  else if (typeof others === 'boolean' && options.direction === 'request') draft.additionalProperties = others;
}

function convertItems({ items, prefixItems }: Fields, draft: Draft, options: MemberOptions): void {
  const { tally, convert } = options;
  if (isRecord(items)) draft.items = convert(items, below(options));
  if (!isList(prefixItems)) return;
  tally.nodes += 1;
  draft.prefixItems = prefixItems.map((item) => convert(item, below(options)));
}

/**
 * `oneOf` becomes `anyOf`, because overlapping alternatives would reject what the API accepts. `not` and `if` are left
 * to the API, because their subschemas were loosened.
 */
function convertChoices(node: Fields, draft: Draft, options: MemberOptions): Draft {
  const { tally, convert } = options;
  const convertList = (list: unknown): readonly Draft[] => {
    if (!isList(list)) return [];
    tally.nodes += 1;
    return list.map((member) => convert(member, below(options)));
  };
  const [first = [], second = []] = [node.anyOf, node.oneOf]
    .map((list) => withoutOpen(convertList(list)))
    .sort((a, b) => b.length - a.length);
  const rest = first.length === 1 ? [...first, ...second] : second.length > 0 ? [{ anyOf: second }] : [];
  const members = [...convertList(node.allOf), ...rest];
  const whole = first.length < 2 ? draft : { ...draft, anyOf: first };
  return members.length === 0 ? whole : foldAllOf(whole, members);
}

/** If one alternative accepts anything, so does the whole. */
function withoutOpen(alternatives: readonly Draft[]): readonly Draft[] {
  return alternatives.some((one) => Object.keys(one).length === 0) ? [] : alternatives;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && value.length <= MAX_WIDTH;
}

const OBJECT_KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'description',
  'examples',
]);

/** Folds `allOf` into the schema if the result is shorter: for one member, or plain objects. Other members stay. */
function foldAllOf(own: Draft, members: readonly Draft[]): Draft {
  const telling = members.filter((member) => Object.keys(member).length > 0);
  if (telling.length === 0) return own;
  const [first] = telling;
  const saysNothing = Object.keys(own).every((key) => key === 'description' || key === 'examples');
  if (telling.length === 1 && first !== undefined && saysNothing) return { ...first, ...own };
  return mergeObjects([...telling, own], own) ?? { ...own, allOf: telling };
}

function mergeObjects(parts: readonly Draft[], own: Draft): Draft | undefined {
  if (!parts.every(isPlainObject)) return undefined;
  const properties: Draft = {};
  for (const part of parts) {
    for (const [name, schema] of Object.entries(isRecord(part.properties) ? part.properties : {})) {
      if (Object.hasOwn(properties, name) && !isSameData(properties[name], schema)) return undefined;
      properties[name] = schema;
    }
  }
  const required = [...new Set(parts.flatMap((part) => (Array.isArray(part.required) ? part.required : [])))];
  const description = own.description ?? parts.find((part) => part.description !== undefined)?.description;
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    ...(required.length > 0 && { required }),
  };
}

/** Ignores `additionalProperties: false` below `allOf`: each member would reject the properties of the others. */
function isPlainObject(part: Draft): boolean {
  const keys = Object.keys(part);
  if (keys.some((key) => !OBJECT_KEYWORDS.has(key))) return false;
  if (part.type !== 'object')
    return !keys.some((key) => key === 'type' || key === 'properties') && !isRecord(part.additionalProperties);
  return !isRecord(part.additionalProperties);
}

/** Allows null: `nullable` of OpenAPI 3.0. */
export function orNull(draft: Draft): Draft {
  const { type, enum: choices } = draft;
  if (Array.isArray(choices) && !choices.includes(null)) return orNull({ ...draft, enum: [...choices, null] });
  if (typeof type === 'string') return type === 'null' ? draft : { ...draft, type: [type, 'null'] };
  if (Array.isArray(type)) return type.includes('null') ? draft : { ...draft, type: [...type, 'null'] };
  const { description, examples, ...checks } = draft;
  const says = { ...(description !== undefined && { description }), ...(examples !== undefined && { examples }) };
  if (Object.keys(checks).length === 0 || choices !== undefined) return draft;
  return { ...says, anyOf: [checks, { type: 'null' }] };
}
