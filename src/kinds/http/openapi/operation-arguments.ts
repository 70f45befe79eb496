import { hash } from 'node:crypto';
import { isRecord, type JsonSchema } from '../../../core/json.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { withoutEnd } from '../../../core/visible-text.ts';
import type { HttpRun, StyledParameter } from '../http-run.ts';
import type { Fields } from './load-description.ts';
import { followRefs } from './local-refs.ts';
import type { Draft } from './plain-keywords.ts';
import { joinNotes, type Operation, type Reading, shortText } from './reading.ts';
import type { Part } from './schema-conversion.ts';
import { toWholeSchema } from './whole-schema.ts';

/** The parts of a run that come from parameters. */
export type ParameterFields = Pick<HttpRun, 'url'> & {
  readonly query: Readonly<Record<string, string | StyledParameter>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
};

interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly fields: Fields;
}

/** Headers that the transport sets, or that other parts of a description define. */
const NOT_PARAMETERS: ReadonlySet<string> = new Set([
  ...['accept', 'accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'cookie'],
  ...['expect', 'host', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MAX_PARAMETERS = 500;
const MAX_PATH = 4000;

/** Converts the parameters of an operation to arguments, path parameters first. */
export function readParameters(operation: Operation, given: Arguments, reading: Reading): ParameterFields {
  const parameters = listParameters(operation, reading);
  const url = fillPath(operation.path, parameters, (parameter) => add(parameter, given, reading));
  const query: Record<string, string | StyledParameter> = {};
  const headers: Record<string, string> = {};
  const cookies: Record<string, string> = {};
  for (const parameter of parameters) {
    const { name, place } = parameter;
    if (place === 'query') query[name] = styled(parameter, add(parameter, given, reading));
    else if (place === 'cookie' && HEADER_NAME.test(name)) cookies[name] = add(parameter, given, reading);
    else if (place === 'header' && isOwnHeader(name, reading)) headers[name] = add(parameter, given, reading);
  }
  return { url, query, headers, cookies };
}

/** True for a header that the caller may set: not one that the operator configured. */
function isOwnHeader(name: string, { settings }: Reading): boolean {
  const isSet = Object.keys(settings.headers).some((header) => header.toLowerCase() === name);
  return HEADER_NAME.test(name) && !NOT_PARAMETERS.has(name) && !isSet;
}

/** The parameters of an operation. Parameters of the path apply unless the operation overrides them. */
function listParameters({ fields, shared }: Operation, { description }: Reading): readonly Parameter[] {
  const found = new Map<string, Parameter>();
  for (const list of [shared.parameters, fields.parameters]) {
    if (list === undefined) continue;
    if (!Array.isArray(list)) throw new ToolcribError('invalid_description', 'its parameters are not a list');
    if (list.length > MAX_PARAMETERS)
      throw new ToolcribError('invalid_description', `it has more than ${MAX_PARAMETERS} parameters`);
    for (const [index, entry] of list.entries()) {
      const parameter = followRefs(description, entry, `parameters[${index}]`);
      const { name, in: place } = parameter;
      if (typeof name !== 'string' || name === '' || name === '__proto__' || typeof place !== 'string')
        throw new ToolcribError('invalid_description', `parameters[${index}] has no "name" or no "in"`);
      const known = place === 'header' ? name.toLowerCase() : name; // header names ignore case
      found.set(`${place} ${known}`, { name: known, place, fields: parameter });
    }
  }
  return [...found.values()];
}

/** The path as a template. An undescribed path parameter becomes a required text. */
function fillPath(
  path: string,
  parameters: readonly Parameter[],
  toPlaceholder: (parameter: Parameter) => string,
): string {
  if (path.length > MAX_PATH)
    throw new ToolcribError('invalid_description', `its path is longer than ${MAX_PATH} characters`);
  const [before = ''] = path.split('#', 1); // a fragment only distinguishes operations; the path is the same
  if (!before.startsWith('/') || /\s|\$\{/.test(before) || /[{}]/.test(before.replace(/\{[^{}]+\}/g, '')))
    throw new ToolcribError('invalid_description', 'its path is not a valid path template');
  const known = new Map<string, string>();
  return before.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const found = parameters.find((one) => one.place === 'path' && one.name === name);
    const parameter = found ?? { name, place: 'path', fields: { schema: { type: 'string' } } };
    const placeholder = known.get(name) ?? toPlaceholder(parameter);
    known.set(name, placeholder);
    if (parameter.fields.style === 'label') return `.${placeholder}`;
    return parameter.fields.style === 'matrix' ? `;${encodeURIComponent(name)}=${placeholder}` : placeholder;
  });
}

function add({ name, place, fields }: Parameter, given: Arguments, { requests, description }: Reading): string {
  description.work.spend(10 + name.length / 10);
  const part = requests.convert(contentOf(fields)?.schema ?? fields.schema ?? {});
  const isRequired = fields.required === true || place === 'path';
  return given.add(name, { part: describePart(part, fields), isRequired, place });
}

function describePart({ schema, ...part }: Part, { description, deprecated, example }: Fields): Part {
  const said = shortText(description, 300);
  const own = schema.description;
  const isTold = typeof own === 'string' && /(^|\. )Default: /.test(own);
  const notes = [deprecated === true ? 'Deprecated.' : '', said, isTold ? own.slice(own.lastIndexOf('Default: ')) : ''];
  const text = said === '' && deprecated !== true ? own : joinNotes(notes);
  const shown = schema.examples === undefined && isShort(example) ? { examples: [example] } : {};
  return { ...part, schema: { ...schema, ...(text !== undefined && { description: text }), ...shown } };
}

function isShort(value: unknown): boolean {
  return (typeof value === 'string' && value !== '' && value.length <= 100) || Number.isFinite(value);
}

const STYLES = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const;

/** The query style of a parameter, if it is not the default. */
function styled({ fields }: Parameter, value: string): string | StyledParameter {
  if (contentOf(fields) !== undefined) return { value, style: 'json' };
  const style = STYLES.find((known) => known === fields.style) ?? 'form';
  const { explode } = fields;
  const isUsual = style === 'form' && explode !== false;
  if (isUsual) return isObject(fields.schema) ? { value, style, explode: true } : value;
  return { value, style, ...(typeof explode === 'boolean' && { explode }) };
}

function isObject(schema: unknown): boolean {
  return isRecord(schema) && schema.type === 'object';
}

/** The content of a parameter that is sent as JSON. */
function contentOf({ content }: Fields): Fields | undefined {
  const [first] = isRecord(content) ? Object.values(content) : [];
  return isRecord(first) ? first : undefined;
}

/** Collects the arguments of a tool. */
export interface Arguments {
  /** True if the sanitized name is not taken. */
  isFree(name: string): boolean;
  /** Adds an argument and returns its placeholder: `{name}`. */
  add(name: string, argument: Argument): string;
  /** The schema of all arguments. */
  schema(reading: Pick<Reading, 'requests' | 'description'>): JsonSchema;
}

interface Argument {
  readonly part: Pick<Part, 'schema' | 'uses'>;
  readonly isRequired: boolean;
  /** The location of the argument; part of its name if the plain name is taken. */
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
    schema({ requests: conversion, description: { work } }) {
      const schema = {
        type: 'object',
        properties,
        ...(required.length > 0 && { required }),
        additionalProperties: false,
      };
      return toWholeSchema(schema, uses, { conversion, work });
    },
  };
}

/** Sanitizes a name so that every vendor accepts it as an argument, and templates as a placeholder. */
function safeName(name: string): string {
  const begun = withoutEnd(name, /[^A-Za-z0-9_-]/).replace(/^[^A-Za-z0-9]*[^A-Za-z0-9_-]/, '');
  const plain = begun.replace(/[^A-Za-z0-9_-]+/g, '_');
  const named = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  const whole = named === '__proto__' ? 'proto' : named;
  return whole.length <= 64 ? whole : `${whole.slice(0, 55)}_${hash('sha256', name).slice(0, 8)}`;
}
