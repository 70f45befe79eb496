import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { readTemplate, type Template } from '../../specs/template.ts';
import type { HttpParameter, StyledParameter } from './http-run.ts';

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

type Style = NonNullable<StyledParameter['style']>;

/** A parameter of a query or a form, ready to be filled. */
export interface Parameter {
  /** As it is written into the address. */
  readonly name: string;
  /** None where the name is all there is. */
  readonly templates: readonly Template[];
  /** Absent: a list is repeated, an object is JSON. */
  readonly style?: Style;
  readonly explode?: boolean;
  /** Names that are not for the members of an argument which is spread. */
  readonly taken?: ReadonlySet<string>;
  /** True where the text around the arguments was written into an address, and is encoded already. */
  readonly isEncoded?: boolean;
}

/** Reads a parameter of a run. */
function readParameter(name: string, given: HttpParameter): Parameter {
  const styled = typeof given === 'object' && 'value' in given ? given : { value: given };
  const values = Array.isArray(styled.value) ? styled.value : [styled.value];
  return { ...styled, name: encode(name), templates: values.map((value) => readTemplate(String(value))) };
}

/** The parameters of one place, none of which an argument that is spread may set again. */
export function readParameters(
  given: Readonly<Record<string, HttpParameter>>,
  others: readonly string[] = [],
): readonly Parameter[] {
  const parameters = Object.entries(given).map(([name, value]) => readParameter(name, value));
  const taken = new Set([...others, ...parameters.map(({ name }) => name)]);
  return parameters.map((parameter) => ({ ...parameter, taken }));
}

/** The pairs that a parameter becomes; none where its argument is absent. */
export function fillParameter(parameter: Parameter, filling: Filling): readonly string[] {
  const { templates, style } = parameter;
  if (templates.length === 0) return [parameter.name];
  const values = templates.flatMap((template) => valuesOf(template, filling, parameter));
  if (values.length === 0) return [];
  if (style === undefined) return values.flatMap(spread).map(({ text }) => `${parameter.name}=${text}`);
  // A list in the run is one value; a single template is the argument itself.
  const value = templates.length === 1 ? values[0] : { json: values.map(({ json }) => json), text: '' };
  return value === undefined ? [] : fillStyled(parameter, value.json);
}

/** A value, and how it is written. */
interface Value {
  readonly json: JsonValue;
  readonly text: string;
}

function valuesOf(template: Template, filling: Filling, { isEncoded = false }: Parameter): readonly Value[] {
  const name = onlyName(template);
  if (name === undefined) {
    const literal = isEncoded ? (text: string) => text : encode;
    const text = fillText(template, filling, { literal, value: (value) => encode(textOf(value)), secret: encode });
    return text === undefined ? [] : [{ json: fillText(template, filling) ?? '', text }];
  }
  const json = argumentOf(name, filling);
  if (json === undefined || json === null) return [];
  return [{ json, text: encode(textOf(json)) }];
}

function spread({ json, text }: Value): readonly Value[] {
  return Array.isArray(json) ? json.map((item) => ({ json: item, text: encode(textOf(item)) })) : [{ json, text }];
}

const SEPARATORS: Readonly<Record<string, string>> = { form: ',', spaceDelimited: '%20', pipeDelimited: '%7C' };

function fillStyled(parameter: Parameter, value: JsonValue): readonly string[] {
  const { name, style = 'form', explode } = parameter;
  if (style === 'json') return [`${name}=${encode(JSON.stringify(value))}`];
  if (style === 'deepObject') return deepPairs(name, value);
  const isSpread = explode ?? style === 'form';
  const separator = SEPARATORS[style] ?? ',';
  const join = (items: readonly JsonValue[]) => items.map((item) => encode(textOf(item))).join(separator);
  if (Array.isArray(value)) {
    if (value.length === 0) return [];
    return isSpread ? value.map((item) => `${name}=${encode(textOf(item))}`) : [`${name}=${join(value)}`];
  }
  if (!isJsonObject(value)) return [`${name}=${encode(textOf(value))}`];
  const members = Object.entries(value);
  if (isSpread) return members.map(([key, member]) => `${freeName(key, parameter)}=${encode(textOf(member))}`);
  return members.length === 0 ? [] : [`${name}=${join(members.flat())}`];
}

/** The name of a member as a parameter of its own, unless the run has one of that name. */
function freeName(key: string, { name, templates: [template], taken }: Parameter): string {
  const own = encode(key);
  if (own === name || taken?.has(own) !== true) return own;
  const argument = template === undefined ? undefined : onlyName(template);
  throw new BadArgument(argument ?? '', `may have no member "${key}": the request has a parameter of that name`);
}

function deepPairs(name: string, value: JsonValue): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => deepPairs(name, item));
  if (!isJsonObject(value)) return [`${name}=${encode(textOf(value))}`];
  return Object.entries(value).flatMap(([key, member]) => deepPairs(`${name}${encode(`[${key}]`)}`, member));
}

/** A text as a part of an address, where none of its characters means anything. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()); // half a character would throw
}
