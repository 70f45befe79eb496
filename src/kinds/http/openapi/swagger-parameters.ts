import { isRecord } from '../../../core/json.ts';
import { withoutEnd } from '../../../core/visible-text.ts';
import type { Fields } from './load-description.ts';

/** Options for reading the parameters of an operation. */
interface ParameterReading {
  follow(given: unknown): unknown;
  /** The media types that the operation accepts. */
  readonly consumes: readonly string[];
}

/** The parameters and the body of an operation as in OpenAPI 3.0. */
interface ConvertedParameters {
  readonly parameters?: unknown;
  readonly requestBody?: Fields;
}

const MAX_PARAMETERS = 500;

/** Reads the parameters of the path, then those of the operation. Returns a text if the operation cannot be called: the reason. */
export function readSwaggerParameters(
  lists: readonly unknown[],
  { follow, consumes }: ParameterReading,
): ConvertedParameters | string {
  const found = new Map<string, unknown>();
  for (const list of lists) {
    if (list === undefined) continue;
    if (!Array.isArray(list)) return 'its parameters are not a list';
    if (list.length > MAX_PARAMETERS) return `it has more than ${MAX_PARAMETERS} parameters`;
    for (const written of list) {
      const parameter = follow(written);
      found.set(keyOf(parameter, found.size), parameter);
    }
  }
  const all = [...found.values()];
  const placed = (place: string) => all.filter((one) => isRecord(one) && one.in === place) as readonly Fields[]; // filtered here
  const [bodies, form] = [placed('body'), placed('formData')];
  if (bodies.length > 1) return 'it has more than one body';
  if (bodies.length > 0 && form.length > 0) return 'it has both a body and form fields';
  const others = all.filter((one) => !isRecord(one) || (one.in !== 'body' && one.in !== 'formData'));
  const [body] = bodies;
  return {
    parameters: others.map((one) => (isRecord(one) && one.$ref === undefined ? convertParameter(one) : one)),
    ...(body !== undefined && { requestBody: bodyOf(body, consumes) }),
    ...(form.length > 0 && { requestBody: formOf(form, consumes) }),
  };
}

/** An operation may override a parameter of its path. */
function keyOf(parameter: unknown, count: number): string {
  if (!isRecord(parameter) || parameter.$ref !== undefined) return `?${count}`;
  const { in: place, name } = parameter;
  return place === 'body' ? `body ${name}` : `${place} ${place === 'header' ? String(name).toLowerCase() : name}`;
}

function convertParameter(written: Fields): Fields {
  const { name, in: place, required, description } = written;
  const spread = spreadOf(written, place === 'query' ? QUERY_STYLES : PATH_STYLES);
  return {
    name,
    in: place,
    required: required === true,
    description: describeParts(description, spread),
    schema: spread.schema,
    ...spread.style,
  };
}

/** Keywords of a parameter that OpenAPI 3 puts into its schema. */
const SCHEMA_KEYWORDS = [
  ...['type', 'format', 'items', 'default', 'enum', 'multipleOf', 'pattern', 'uniqueItems', 'x-nullable'],
  ...['maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength', 'maxItems', 'minItems'],
] as const;

function schemaOf(written: Fields): Fields {
  if (written.type === 'file') return { type: 'string', format: 'binary' };
  const said = SCHEMA_KEYWORDS.filter((key) => written[key] !== undefined).map((key) => [key, written[key]]);
  return Object.fromEntries([
    ...said,
    ...(written['x-example'] === undefined ? [] : [['example', written['x-example']]]),
  ]);
}

type Styles = Readonly<Record<string, Fields>>;

/** The OpenAPI 3 styles for lists. */
const QUERY_STYLES: Styles = {
  csv: { style: 'form', explode: false },
  multi: { style: 'form', explode: true },
  ssv: { style: 'spaceDelimited', explode: false },
  pipes: { style: 'pipeDelimited', explode: false },
};
const PATH_STYLES: Styles = { csv: {} };
/** Each value of a list is sent as a separate part. */
const MULTIPART_STYLES: Styles = { multi: {} };

const SEPARATORS: Readonly<Record<string, string>> = {
  csv: 'commas',
  ssv: 'spaces',
  tsv: 'tabs',
  pipes: 'pipes (|)',
  multi: 'commas',
};

/** The style of a value; if there is none for it, the caller passes a list as one text. */
interface Spread {
  readonly schema: Fields;
  readonly style: Fields;
  readonly note?: string;
}

function spreadOf(written: Fields, styles: Styles): Spread {
  const schema = schemaOf(written);
  if (schema.type !== 'array') return { schema, style: {} };
  const { collectionFormat = 'csv' } = written;
  const format =
    typeof collectionFormat === 'string' && Object.hasOwn(SEPARATORS, collectionFormat) ? collectionFormat : 'csv';
  const style = Object.hasOwn(styles, format) ? styles[format] : undefined;
  if (style !== undefined) return { schema, style };
  return { schema: { type: 'string' }, style: {}, note: `Separate several values with ${SEPARATORS[format]}.` };
}

/** More is cut away anyway. */
const MAX_DESCRIPTION = 400;

function describeParts(description: unknown, { note }: Spread): unknown {
  if (note === undefined) return description;
  const said = typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION) : '';
  return said === '' ? note : `${withoutEnd(said, /[.\s]/)}. ${note}`;
}

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

function bodyOf({ description, required, schema = {} }: Fields, consumes: readonly string[]): Fields {
  const offered = consumes.filter((type) => type !== FORM && !type.startsWith('multipart/'));
  const types = offered.length > 0 ? offered : ['application/json'];
  return {
    description,
    required: required === true,
    content: Object.fromEntries(types.map((type) => [type, { schema }])),
  };
}

/** Files need multipart; other fields use a plain form, unless the operation accepts multipart only. */
function formOf(fields: readonly Fields[], consumes: readonly string[]): Fields {
  const hasFile = fields.some(({ type }) => type === 'file');
  const isMultipart = hasFile || (consumes.includes(MULTIPART) && !consumes.includes(FORM));
  const styles = isMultipart ? MULTIPART_STYLES : QUERY_STYLES;
  const read = fields.map((field) => ({ field, name: String(field.name), spread: spreadOf(field, styles) }));
  const required = read.filter(({ field }) => field.required === true).map(({ name }) => name);
  const properties = read.map(({ field, name, spread }) => [
    name,
    { ...spread.schema, description: describeParts(field.description, spread) },
  ]);
  const encoding = read
    .filter(({ spread }) => Object.keys(spread.style).length > 0)
    .map(({ name, spread }) => [name, spread.style]);
  return {
    required: required.length > 0,
    content: {
      [isMultipart ? MULTIPART : FORM]: {
        schema: {
          type: 'object',
          properties: Object.fromEntries(properties),
          ...(required.length > 0 && { required }),
        },
        ...(encoding.length > 0 && { encoding: Object.fromEntries(encoding) }),
      },
    },
  };
}
