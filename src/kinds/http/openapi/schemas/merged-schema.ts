import { isRecord } from '../../../../core/json.ts';
import { isSameData } from '../../../../specs/spec-list.ts';
import type { Draft } from './plain-keywords.ts';

const OBJECT_KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'description',
  'examples',
]);

/**
 * The schema with its `allOf` folded in, where that says the same in fewer words: one member, or plain objects. What
 * cannot be folded stays.
 */
export function foldAllOf(own: Draft, members: readonly Draft[]): Draft {
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

/** Each member alone would refuse what the others name: `additionalProperties: false` cannot be meant below `allOf`. */
function isPlainObject(part: Draft): boolean {
  const keys = Object.keys(part);
  if (keys.some((key) => !OBJECT_KEYWORDS.has(key))) return false;
  if (part.type !== 'object')
    return !keys.some((key) => key === 'type' || key === 'properties') && !isRecord(part.additionalProperties);
  return !isRecord(part.additionalProperties);
}

/** The schema, or nothing at all: what 3.0 calls nullable. */
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
