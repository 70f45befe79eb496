import type { JsonSchema } from '../core/json.ts';
import { isPromise } from '../core/json.ts';
import type { Issue } from '../core/tool-error.ts';
import { createSchemas } from '../schemas/create-schemas.ts';

/** Checks values that come through a door by JSON Schemas, in the same words as arguments of tools. */
export function createShapeCheck(): (schema: JsonSchema, value: unknown) => readonly Issue[] {
  const schemas = createSchemas();
  return (schema, value) => {
    const parsed = schemas.parser(schema)(value);
    if (isPromise(parsed)) return [{ path: '', message: 'cannot be checked at once' }]; // a JSON Schema is
    return parsed.ok ? [] : parsed.issues;
  };
}
