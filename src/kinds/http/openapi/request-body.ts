import { isRecord, type JsonValue } from '../../../core/json.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { HttpBodyType, HttpRun } from '../http-run.ts';
import type { Fields } from './load-description.ts';
import { followRefs } from './local-refs.ts';
import type { Arguments } from './operation-arguments.ts';
import type { Draft } from './plain-keywords.ts';
import { type Operation, type Reading, shortText } from './reading.ts';
import type { Part } from './schema-conversion.ts';

/** The parts of a run that come from the request body. */
export interface BodyFields {
  readonly body?: JsonValue;
  readonly bodyType?: HttpBodyType;
  readonly headers: NonNullable<HttpRun['headers']>;
}

const NO_BODY: BodyFields = { headers: {} };

interface Media {
  readonly type: string;
  readonly fields: Fields;
  readonly bodyType: HttpBodyType;
}

/** Converts the body of an operation to arguments: one for each property if possible, otherwise one for the whole. */
export function readBody(operation: Operation, given: Arguments, reading: Reading): BodyFields {
  const { requestBody } = operation.fields;
  if (requestBody === undefined || operation.method === 'GET' || operation.method === 'HEAD') return NO_BODY;
  const body = followRefs(reading.description, requestBody, 'its body');
  if (isRecord(body.content)) reading.description.work.spend(Object.keys(body.content).length);
  const media = chooseMedia(body.content);
  if (media === undefined) return NO_BODY;
  const headers = isUsualType(media) ? {} : { 'content-type': media.type };
  const isRequired = body.required === true;
  const { bodyType } = media;
  if (bodyType === 'text' || bodyType === 'base64') {
    const part = describeBody({ schema: rawSchema(bodyType), uses: new Set() }, body);
    return { body: given.add('body', { part, isRequired, place: 'request' }), bodyType, headers };
  }
  const converted = reading.requests.convert(media.fields.schema ?? {});
  const at = { isRequired, given, reading };
  const flat = bodyType === 'json' ? flatJson(converted, at) : flatForm(converted, media.type, at);
  if (flat !== undefined) {
    reading.description.work.spend(10 * Object.keys(flat.properties).length);
    return { body: flatten(flat, media, given), bodyType, headers };
  }
  const part = describeBody(converted, body);
  return { body: given.add('body', { part, isRequired, place: 'request' }), bodyType, headers };
}

const KINDS: readonly (readonly [RegExp, HttpBodyType])[] = [
  [/^application\/json$/, 'json'],
  [/^application\/(.+\+)?json$/, 'json'],
  [/^\*\/\*$/, 'json'],
  [/^application\/x-www-form-urlencoded$/, 'form'],
  [/^multipart\/form-data$/, 'multipart'],
  [/^text\/|^application\/(.+\+)?(xml|yaml|x-yaml|graphql|javascript|sql|x-ndjson)$/, 'text'],
  [/^[\w.+*-]+\/[\w.+*-]+$/, 'base64'],
];

/** The media type that describes the body best. */
function chooseMedia(content: unknown): Media | undefined {
  if (!isRecord(content)) return undefined;
  const offered = Object.entries(content).filter(([, fields]) => isRecord(fields));
  for (const [pattern, bodyType] of KINDS) {
    for (const [written, fields] of offered) {
      const type = written.split(';', 1)[0]?.trim().toLowerCase() ?? '';
      if (pattern.test(type)) return { type, bodyType, fields: fields as Fields }; // filtered above
    }
  }
  return undefined;
}

/** True for a type that is sent by default, or that is only a pattern. */
function isUsualType({ type }: Media): boolean {
  return (
    type.includes('*') ||
    /^(application\/(json|x-www-form-urlencoded|octet-stream)|multipart\/form-data|text\/plain)$/.test(type)
  );
}

function rawSchema(bodyType: 'text' | 'base64'): Draft {
  return bodyType === 'text' ? { type: 'string' } : { type: 'string', contentEncoding: 'base64' };
}

function describeBody({ schema, uses }: Pick<Part, 'schema' | 'uses'>, body: Fields): Pick<Part, 'schema' | 'uses'> {
  const description = schema.description ?? shortText(body.description, 300);
  return { uses, schema: { ...schema, ...(description !== '' && { description }) } };
}

interface Flat {
  readonly schema: Draft;
  readonly properties: Readonly<Record<string, Draft>>;
  readonly required: ReadonlySet<unknown>;
  readonly uses: ReadonlySet<string>;
}

interface Surroundings {
  readonly isRequired: boolean;
  readonly given: Arguments;
  readonly reading: Reading;
}

function objectOf(converted: Part, { requests }: Reading): Flat | undefined {
  const [ref] = converted.uses;
  const isNamed = converted.schema.$ref !== undefined && ref !== undefined;
  const { schema, uses } = isNamed ? requests.definition(ref) : converted;
  const { type, properties = {}, required } = schema;
  if ((type !== undefined && type !== 'object') || !isRecord(properties)) return undefined;
  const wanted = new Set<unknown>(Array.isArray(required) ? required : []);
  return { schema, properties: properties as Flat['properties'], required: wanted, uses }; // already converted
}

/** The properties of a JSON body that can become arguments: the body is an object with known names, and none is taken. */
function flatJson(converted: Part, { isRequired, given, reading }: Surroundings): Flat | undefined {
  const flat = objectOf(converted, reading);
  if (flat === undefined) return undefined;
  const { properties, additionalProperties, anyOf, allOf } = flat.schema;
  if (properties === undefined || anyOf !== undefined || allOf !== undefined) return undefined;
  if (additionalProperties !== undefined && additionalProperties !== false) return undefined;
  // Once an optional body is spread into arguments, an absent body cannot be expressed.
  if (!isRequired && flat.required.size > 0) return undefined;
  return Object.keys(flat.properties).every(given.isFree) ? flat : undefined;
}

/** A form always consists of fields; constraints that cannot be expressed are left to the API. */
function flatForm(converted: Part, type: string, { isRequired, reading }: Surroundings): Flat {
  const flat = objectOf(converted, reading);
  if (flat === undefined) throw new ToolcribError('invalid_description', `its body of ${type} is not an object`);
  return isRequired ? flat : { ...flat, required: new Set() };
}

function flatten({ properties, required, uses }: Flat, media: Media, given: Arguments): JsonValue {
  const body: Record<string, JsonValue> = {};
  const encodings = isRecord(media.fields.encoding) ? media.fields.encoding : {};
  for (const [name, schema] of Object.entries(properties)) {
    const said = Object.hasOwn(encodings, name) ? encodings[name] : undefined;
    const encoding = isRecord(said) ? said : {};
    const field = media.bodyType === 'multipart' ? multipartField(name, schema, encoding) : undefined;
    const part = { schema: field?.schema ?? schema, uses };
    const value = given.add(name, { part, isRequired: required.has(name), place: 'body' });
    if (field !== undefined) body[name] = field.toPart(value);
    else body[name] = media.bodyType === 'form' ? toFormField(value, encoding) : value;
  }
  return body;
}

/** A part of a multipart body: its argument schema and its encoding. */
interface MultipartField {
  readonly schema: Draft;
  toPart(value: string): JsonValue;
}

/** A file is passed as base64; an object is sent as JSON. */
function multipartField(name: string, schema: Draft, encoding: Fields): MultipartField {
  const contentType = concreteType(encoding.contentType);
  const typed = contentType === undefined ? {} : { contentType };
  const { items } = schema;
  if (isFile(schema) || (schema.type === 'array' && isRecord(items) && isFile(items))) {
    const given = schema.type === 'array' ? { ...schema, items: toBase64(items as Draft) } : toBase64(schema); // checked above
    return { schema: given, toPart: (value) => ({ value, encoding: 'base64', filename: fileName(name), ...typed }) };
  }
  if (schema.type === 'object' || schema.$ref !== undefined) {
    return { schema, toPart: (value) => ({ value, encoding: 'json', ...typed }) };
  }
  return { schema, toPart: (value) => (contentType === undefined ? value : { value, ...typed }) };
}

/** Some APIs accept a part as a file only if it has a file name. */
function fileName(name: string): string {
  return name.replace(/[^\w.-]+/g, '_').slice(0, 64);
}

/** 3.0 marks a file by its format; since 3.1 it has a media type other than text, which formatOf converts. */
function isFile({ type, format }: Draft): boolean {
  return (type === 'string' || type === undefined) && (format === 'binary' || format === 'byte');
}

function toBase64({ format: _format, ...schema }: Draft): Draft {
  const note = 'The bytes of a file, in base64.';
  const description = typeof schema.description === 'string' ? `${schema.description} ${note}` : note;
  return { ...schema, type: 'string', contentEncoding: 'base64', description };
}

function concreteType(type: unknown): string | undefined {
  const [first = ''] = typeof type === 'string' ? type.split(',', 1) : [];
  return /^[\w.+-]+\/[\w.+-]+$/.test(first.trim()) ? first.trim() : undefined;
}

const STYLES = ['spaceDelimited', 'pipeDelimited', 'deepObject'] as const;

/** A form field in the style that the description names. */
function toFormField(value: string, { style, explode, contentType }: Fields): JsonValue {
  if (typeof contentType === 'string' && /json$/.test(contentType)) return { value, style: 'json' };
  const known = STYLES.find((one) => one === style) ?? (style === 'form' || explode !== undefined ? 'form' : undefined);
  if (known === undefined) return value;
  return { value, style: known, ...(typeof explode === 'boolean' && { explode }) };
}
