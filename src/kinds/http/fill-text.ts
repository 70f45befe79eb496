import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { readTemplate, type Template } from '../../specs/template.ts';
import type { HttpParameter, StyledParameter } from './http-run.ts';

/** An argument that is not valid at its place in the run. The message is shown to the caller. */
export class BadArgument extends Error {
  readonly argument: string;
  constructor(argument: string, message: string) {
    super(message);
    this.name = 'BadArgument';
    this.argument = argument;
  }
}

/** The values for filling templates. */
export interface Filling {
  readonly input: JsonObject;
  /** By name, resolved for the host that receives them. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Encodes the pieces of a text for the place where it is used. */
export interface Encoding {
  literal(text: string): string;
  value(value: JsonValue): string;
  secret(text: string): string;
}

const asIs = (text: string) => text;
/** For texts without special characters. */
const PLAIN: Encoding = { literal: asIs, value: textOf, secret: asIs };

/** The argument of this name; undefined if it is absent or inherited. */
export function argumentOf(name: string, { input }: Filling): JsonValue | undefined {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}

/** The argument name, if a template consists of one placeholder only. */
export function onlyName({ parts }: Template): string | undefined {
  const [first] = parts;
  return parts.length === 1 && typeof first === 'object' && 'name' in first ? first.name : undefined;
}

/** The filled text; undefined if one of its arguments is absent or null. */
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

/** A value as text; anything but a string becomes JSON. */
export function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A value as text; the items of a list are joined with commas. */
export function listText(value: JsonValue, write: (text: string) => string): string {
  return Array.isArray(value) ? value.map((item) => write(textOf(item))).join(',') : write(textOf(value));
}

type Style = NonNullable<StyledParameter['style']>;

/** A parameter of a query or a form, ready to be filled. */
export interface Parameter {
  /** As written in the URL. */
  readonly name: string;
  /** Empty if the parameter has a name only. */
  readonly templates: readonly Template[];
  /** If absent, a list is repeated and an object is JSON. */
  readonly style?: Style;
  readonly explode?: boolean;
  /** Names that the members of a spread argument must not use. */
  readonly taken?: ReadonlySet<string>;
  /** True if the literal text comes from a URL and is already encoded. */
  readonly isEncoded?: boolean;
}

/** Compiles a parameter of a run. */
function readParameter(name: string, given: HttpParameter): Parameter {
  const styled = typeof given === 'object' && 'value' in given ? given : { value: given };
  const values = Array.isArray(styled.value) ? styled.value : [styled.value];
  return { ...styled, name: encode(name), templates: values.map((value) => readTemplate(String(value))) };
}

/** Compiles the parameters of one place. A spread argument cannot set any of them again. */
export function readParameters(
  given: Readonly<Record<string, HttpParameter>>,
  others: readonly string[] = [],
): readonly Parameter[] {
  const parameters = Object.entries(given).map(([name, value]) => readParameter(name, value));
  const taken = new Set([...others, ...parameters.map(({ name }) => name)]);
  return parameters.map((parameter) => ({ ...parameter, taken }));
}

/** The pairs of a parameter; none if its argument is absent. */
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

/** A value and its encoded text. */
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
  if (style === 'deepObject') return deepPairs(name, value, parameter);
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

/** The member's name as a parameter name; fails if the run already has that parameter. */
function freeName(key: string, { name, templates: [template], taken }: Parameter, own = encode(key)): string {
  if (own === name || taken?.has(own) !== true) return own;
  const argument = template === undefined ? undefined : onlyName(template);
  throw new BadArgument(
    argument ?? '',
    `must not have a member "${key}": the request already has a parameter of that name`,
  );
}

function deepPairs(name: string, value: JsonValue, parameter: Parameter): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => deepPairs(name, item, parameter));
  if (!isJsonObject(value)) return [`${name}=${encode(textOf(value))}`];
  return Object.entries(value).flatMap(([key, member]) => {
    return deepPairs(freeName(key, parameter, `${name}${encode(`[${key}]`)}`), member, parameter);
  });
}

/** Percent-encodes a text for a URL. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()); // a lone surrogate would throw
}
