import { hash } from 'node:crypto';
import type { JsonSchema } from '../../../core/json.ts';
import type { Draft } from './schemas/plain-keywords.ts';
import type { Part, SchemaConversion } from './schemas/schema-conversion.ts';
import { toWholeSchema } from './schemas/whole-schema.ts';

/** The arguments of a tool, as they are collected from where an operation wants them. */
export interface Arguments {
  /** True if the name, made safe, is free. */
  isFree(name: string): boolean;
  /** Adds one and says how it is written in a template: `{name}`. */
  add(name: string, argument: Argument): string;
  /** The schema of all of them. */
  schema(conversion: SchemaConversion): JsonSchema;
}

interface Argument {
  readonly part: Pick<Part, 'schema' | 'uses'>;
  readonly isRequired: boolean;
  /** Where it goes; tells it apart from another one of its name. */
  readonly place: string;
}

export function createArguments(): Arguments {
  const properties: Draft = {};
  const required: string[] = [];
  const uses = new Set<string>();
  const isFree = (name: string) => !Object.hasOwn(properties, safeName(name));
  return {
    isFree,
    add(name, { part, isRequired, place }) {
      let free = safeName(name);
      if (!isFree(free)) free = safeName(`${name}_${place}`);
      for (let count = 2; !isFree(free); count++) free = safeName(`${name}_${place}_${count}`);
      properties[free] = part.schema;
      if (isRequired) required.push(free);
      for (const used of part.uses) uses.add(used);
      return `{${free}}`;
    },
    schema(conversion) {
      const schema = {
        type: 'object',
        properties,
        ...(required.length > 0 && { required }),
        additionalProperties: false,
      };
      return toWholeSchema(schema, uses, conversion);
    },
  };
}

/** A name that every vendor takes for an argument, and every template for a placeholder. */
function safeName(name: string): string {
  const plain = name.replace(/^[^A-Za-z0-9]*[^A-Za-z0-9_-]|[^A-Za-z0-9_-]+$/g, '').replace(/[^A-Za-z0-9_-]+/g, '_');
  const named = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  const whole = named === '__proto__' ? 'proto' : named;
  return whole.length <= 64 ? whole : `${whole.slice(0, 55)}_${hash('sha256', name).slice(0, 8)}`;
}
