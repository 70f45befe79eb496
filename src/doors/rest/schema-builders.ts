import type { JsonSchema } from '../../core/json.ts';

/** A text. */
export function text(description?: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'string', ...(description !== undefined && { description }), ...more };
}

/** A text with an end. */
export function shortText(description: string, maxLength = 200): JsonSchema {
  return text(description, { minLength: 1, maxLength });
}

/** A moment, as ISO 8601 in UTC. */
export function time(description?: string): JsonSchema {
  return text(description, { format: 'date-time' });
}

/** One word of a few. */
export function choice(words: readonly string[], description?: string): JsonSchema {
  return text(description, { enum: words });
}

/** A whole number of at least `minimum`. */
export function whole(description?: string, minimum = 0, maximum?: number): JsonSchema {
  const limits = { minimum, ...(maximum !== undefined && { maximum }) };
  return { type: 'integer', ...limits, ...(description !== undefined && { description }) };
}

/** Any number. */
export function number(description?: string): JsonSchema {
  return { type: 'number', ...(description !== undefined && { description }) };
}

/** True or false. */
export function flag(description?: string): JsonSchema {
  return { type: 'boolean', ...(description !== undefined && { description }) };
}

/** A list. */
export function list(items: JsonSchema, description?: string): JsonSchema {
  return { type: 'array', items, ...(description !== undefined && { description }) };
}

/** Any JSON object. */
export function anyObject(description?: string): JsonSchema {
  return { type: 'object', ...(description !== undefined && { description }) };
}

/** Any JSON. */
export function anything(description: string): JsonSchema {
  return { description };
}

/** An object of these members and no others; a key that ends in `?` may be absent. */
export function object(members: Readonly<Record<string, JsonSchema>>, description?: string): JsonSchema {
  const entries = Object.entries(members);
  const required = entries.map(([key]) => key).filter((key) => !key.endsWith('?'));
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(entries.map(([key, schema]) => [key.replace(/\?$/, ''), schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
