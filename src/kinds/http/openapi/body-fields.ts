import { isRecord, type JsonValue } from '../../../core/json.ts';
import type { Fields } from './description.ts';
import type { Draft } from './schemas/plain-keywords.ts';

/** A part of a multipart body: how a caller gives it, and how it is sent. */
export interface MultipartField {
  readonly schema: Draft;
  toPart(value: string): JsonValue;
}

/** A file is given as base64; an object is sent as JSON. */
export function multipartField(name: string, schema: Draft, encoding: Fields): MultipartField {
  const contentType = concreteType(encoding.contentType);
  const typed = contentType === undefined ? {} : { contentType };
  const { items } = schema;
  if (isFile(schema) || (schema.type === 'array' && isRecord(items) && isFile(items))) {
    const given = schema.type === 'array' ? { ...schema, items: toBase64(items as Draft) } : toBase64(schema); // as was checked
    return { schema: given, toPart: (value) => ({ value, encoding: 'base64', filename: fileName(name), ...typed }) };
  }
  if (schema.type === 'object' || schema.$ref !== undefined) {
    return { schema, toPart: (value) => ({ value, encoding: 'json', ...typed }) };
  }
  return { schema, toPart: (value) => (contentType === undefined ? value : { value, ...typed }) };
}

/** Some APIs take a part for a file only if it has a name. */
function fileName(name: string): string {
  return name.replace(/[^\w.-]+/g, '_').slice(0, 64);
}

/** 3.0 says it by the format; since 3.1 a file is what has a media type and is no text. */
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

/** A field of a form, in the style that the description asks for. */
export function toFormField(value: string, { style, explode, contentType }: Fields): JsonValue {
  if (typeof contentType === 'string' && /json$/.test(contentType)) return { value, style: 'json' };
  const known = STYLES.find((one) => one === style) ?? (style === 'form' || explode !== undefined ? 'form' : undefined);
  if (known === undefined) return value;
  return { value, style: known, ...(typeof explode === 'boolean' && { explode }) };
}
