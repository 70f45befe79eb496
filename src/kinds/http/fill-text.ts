import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { Template } from '../../specs/template.ts';

/** An argument that cannot stand where the run puts it. The message goes to the caller. */
export class BadArgument extends Error {
  readonly argument: string;
  constructor(argument: string, message: string) {
    super(message);
    this.name = 'BadArgument';
    this.argument = argument;
  }
}

/** What templates are filled from. */
export interface Filling {
  readonly input: JsonObject;
  /** By name, looked up for the host that gets them. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** How the pieces of a text are written where it stands. */
export interface Encoding {
  literal(text: string): string;
  value(value: JsonValue): string;
  secret(text: string): string;
}

const asIs = (text: string) => text;
/** For texts in which nothing has a meaning. */
const PLAIN: Encoding = { literal: asIs, value: textOf, secret: asIs };

/** The argument of this name; nothing for one that is absent, or inherited. */
export function argumentOf(name: string, { input }: Filling): JsonValue | undefined {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}

/** The name of the argument that a template is, if it is nothing else. */
export function onlyName({ parts }: Template): string | undefined {
  const [first] = parts;
  return parts.length === 1 && typeof first === 'object' && 'name' in first ? first.name : undefined;
}

/** The text with everything filled in; nothing where an argument in it is absent or null. */
export function fillText({ parts }: Template, filling: Filling, encoding: Encoding = PLAIN): string | undefined {
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += encoding.literal(part);
    else if ('secret' in part) text += encoding.secret(filling.secrets.get(part.secret) ?? '');
    else {
      const value = argumentOf(part.name, filling);
      if (value === undefined || value === null) return undefined;
      text += encoding.value(value);
    }
  }
  return text;
}

/** A value as text: what is no text is JSON. */
export function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A value as text in which a list is its items, with commas between them. */
export function listText(value: JsonValue, write: (text: string) => string): string {
  return Array.isArray(value) ? value.map((item) => write(textOf(item))).join(',') : write(textOf(value));
}
