import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonValue } from '../../core/json.ts';
import { readTemplate, type Template } from '../../specs/template.ts';
import {
  argumentOf,
  BadArgument,
  type Filling,
  fillParameter,
  fillText,
  onlyName,
  readParameters,
  textOf,
} from './fill-text.ts';
import type { HttpFilePart, HttpParameter, HttpPart, HttpRun } from './http-run.ts';

/** A body with its content type. */
interface FilledBody {
  readonly bytes: string | Uint8Array;
  readonly contentType: string;
}

/** Builds the body of a call; undefined if all of it is absent. */
export type FillBody = (filling: Filling) => FilledBody | undefined;

const TEXT_TYPE = 'text/plain; charset=utf-8';

/** Compiles the body of a run. */
export function readBody({ body, bodyType }: HttpRun): FillBody {
  if (body === undefined) return () => undefined;
  switch (bodyType ?? (typeof body === 'string' ? 'auto' : 'json')) {
    case 'form':
      return formBody(isJsonObject(body) ? body : {});
    case 'multipart':
      return multipartBody(isJsonObject(body) ? body : {});
    case 'text':
      return textBody(String(body));
    case 'base64':
      return base64Body(String(body));
    case 'auto':
      return autoBody(String(body));
    default:
      return jsonBody(body);
  }
}

function jsonBody(body: JsonValue): FillBody {
  const fill = readJson(body);
  return (filling) => {
    const value = fill(filling);
    return value === undefined ? undefined : { bytes: JSON.stringify(value), contentType: 'application/json' };
  };
}

type FillJson = (filling: Filling) => JsonValue | undefined;

function readJson(value: JsonValue): FillJson {
  if (typeof value === 'string') return readJsonText(value);
  if (Array.isArray(value)) {
    const items = value.map(readJson);
    return (filling) => items.flatMap((fill) => present(fill(filling)));
  }
  if (!isJsonObject(value)) return () => value;
  const members = Object.entries(value).map(([key, member]) => [key, readJson(member)] as const);
  return (filling) =>
    Object.fromEntries(members.flatMap(([key, fill]) => present(fill(filling)).map((member) => [key, member])));
}

/** Wraps a value in a list, so that flatMap keeps a value that is itself a list. */
function present(value: JsonValue | undefined): readonly [JsonValue] | readonly [] {
  return value === undefined ? [] : [value];
}

function readJsonText(text: string): FillJson {
  const template = readTemplate(text);
  const name = onlyName(template);
  return name === undefined ? (filling) => fillText(template, filling) : (filling) => argumentOf(name, filling);
}

function textBody(text: string): FillBody {
  const template = readTemplate(text);
  return (filling) => {
    const filled = fillText(template, filling);
    return filled === undefined ? undefined : { bytes: filled, contentType: TEXT_TYPE };
  };
}

/** Sent as text, unless the template is a single argument that is not text. */
function autoBody(text: string): FillBody {
  const name = onlyName(readTemplate(text));
  const [asText, asJson] = [textBody(text), jsonBody(text)];
  return (filling) => {
    const isText = name === undefined || typeof argumentOf(name, filling) === 'string';
    return isText ? asText(filling) : asJson(filling);
  };
}

function base64Body(text: string): FillBody {
  const template = readTemplate(text);
  const name = onlyName(template) ?? '';
  return (filling) => {
    const filled = fillText(template, filling);
    return filled === undefined
      ? undefined
      : { bytes: decodeBase64(filled, name), contentType: 'application/octet-stream' };
  };
}

function formBody(body: Readonly<Record<string, JsonValue>>): FillBody {
  const parameters = readParameters(body as Readonly<Record<string, HttpParameter>>); // checked when the spec was loaded
  return (filling) => ({
    bytes: parameters.flatMap((parameter) => fillParameter(parameter, filling)).join('&'),
    contentType: 'application/x-www-form-urlencoded',
  });
}

function multipartBody(body: Readonly<Record<string, JsonValue>>): FillBody {
  const parts = Object.entries(body).map(([name, value]) => readPart(name, value as HttpPart)); // checked when the spec was loaded
  return (filling) => fillMultipart(parts, filling);
}

/** A part of a multipart body, ready to be filled. */
interface Part {
  readonly name: string;
  readonly value: Template;
  readonly encoding: NonNullable<HttpFilePart['encoding']>;
  readonly filename: Template | undefined;
  readonly contentType: Template | undefined;
}

/** Compiles a part of a run. */
function readPart(name: string, given: HttpPart): Part {
  const part: HttpFilePart = typeof given === 'object' ? given : { value: given };
  const { value, encoding = 'text', filename, contentType } = part;
  return {
    name,
    value: readTemplate(String(value)),
    encoding,
    filename: filename === undefined ? undefined : readTemplate(filename),
    contentType: contentType === undefined ? undefined : readTemplate(contentType),
  };
}

/** Builds a multipart body from the parts of a call. */
function fillMultipart(
  parts: readonly Part[],
  filling: Filling,
): { readonly bytes: Uint8Array; readonly contentType: string } {
  const boundary = `toolcrib-${randomUUID()}`;
  const chunks = parts.flatMap((part) =>
    contentsOf(part, filling).flatMap((bytes) => [
      Buffer.from(`--${boundary}\r\n${headOf(part, filling)}\r\n\r\n`),
      bytes,
      Buffer.from('\r\n'),
    ]),
  );
  const bytes = Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]);
  return { bytes, contentType: `multipart/form-data; boundary=${boundary}` };
}

/** One buffer for each item of a list; none if the argument is absent. */
function contentsOf({ value, encoding }: Part, filling: Filling): readonly Buffer[] {
  const name = onlyName(value);
  const given = name === undefined ? fillText(value, filling) : argumentOf(name, filling);
  if (given === undefined || given === null) return [];
  const values = Array.isArray(given) && encoding !== 'json' ? given : [given];
  return values.map((one: JsonValue) => {
    if (encoding === 'json') return Buffer.from(JSON.stringify(one));
    return encoding === 'base64' ? decodeBase64(one, name ?? '') : Buffer.from(textOf(one));
  });
}

/** Decodes base64; rejects any other character. */
function decodeBase64(value: JsonValue, name: string): Buffer {
  if (typeof value === 'string' && /^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) return Buffer.from(value, 'base64');
  throw new BadArgument(name, 'must be base64');
}

function headOf({ name, filename, contentType, encoding }: Part, filling: Filling): string {
  const file = filename === undefined ? undefined : fillText(filename, filling);
  const isFile = file !== undefined || encoding === 'base64';
  const type = contentType === undefined ? undefined : requireType(contentType, filling);
  const usual = encoding === 'json' ? 'application/json' : isFile ? 'application/octet-stream' : undefined;
  const lines = [
    `Content-Disposition: form-data; name="${quoted(name)}"${isFile ? `; filename="${quoted(file ?? name)}"` : ''}`,
    ...((type ?? usual) === undefined ? [] : [`Content-Type: ${type ?? usual}`]),
  ];
  return lines.join('\r\n');
}

/** Escapes as browsers do. */
function quoted(text: string): string {
  return text.toWellFormed().replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function requireType(template: Template, filling: Filling): string | undefined {
  const text = fillText(template, filling);
  if (text === undefined || /^[\x20-\x7e]+$/.test(text)) return text;
  throw new BadArgument(
    onlyName(template) ?? '',
    'is used as a content type, which allows printable ASCII characters only',
  );
}
