import type { JsonSchema } from '../../../core/json.ts';
import { messageOf } from '../../../core/tool-error.ts';
import { propertySchema, shapeOf } from './property-schema.ts';
import { usage } from './usage.ts';

/** The arguments that `key=value` words mean, by the types the tool's schema names; what does not fit stays text, and validation says so. */
export function parseArguments(pairs: readonly string[], schema: JsonSchema | undefined): Record<string, unknown> {
  const byKey = new Map<string, string[]>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw usage(`"${pair}" is not key=value.`);
    const key = pair.slice(0, at);
    byKey.set(key, [...(byKey.get(key) ?? []), pair.slice(at + 1)]);
  }
  return Object.fromEntries(
    [...byKey].map(([key, texts]) => [key, parseTexts(key, texts, propertySchema(schema, key), schema)]),
  );
}

function parseTexts(key: string, texts: readonly string[], schema: JsonSchema, root: JsonSchema | undefined): unknown {
  const { types, items } = shapeOf(schema, root);
  const [first = ''] = texts;
  const isList = types.has('array') && !(types.has('string') && texts.length === 1);
  if (isList && !(texts.length === 1 && /^\s*\[/.test(first))) {
    return texts.map((text) => parseText(key, text, items ?? {}, root));
  }
  if (texts.length === 1) return parseText(key, first, schema, root);
  if (types.size > 0) throw usage(`${key} is given ${texts.length} times, and it is no list.`);
  return texts.map((text) => parseText(key, text, {}, root));
}

function parseText(key: string, text: string, schema: JsonSchema, root: JsonSchema | undefined): unknown {
  const { types, choices } = shapeOf(schema, root);
  const choice = choices.find((candidate) => String(candidate) === text);
  if (choice !== undefined) return choice;
  if (types.has('string')) return text;
  if (types.size === 0) return guess(text);
  if (types.has('null') && text === 'null') return null;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if ((types.has('number') || types.has('integer')) && isNumber(text)) return Number(text);
  if (types.has('object') || types.has('array')) return parseJson(key, text);
  return text;
}

// Without a type only what can be nothing else is taken for more than text.
function guess(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parseJson(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usage(`${key} takes JSON: ${messageOf(cause)}.`);
  }
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}
