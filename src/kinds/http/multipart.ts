import { randomUUID } from 'node:crypto';
import type { JsonValue } from '../../core/json.ts';
import { readTemplate, type Template } from '../../specs/template.ts';
import { argumentOf, BadArgument, type Filling, fillText, onlyName, textOf } from './fill-text.ts';
import type { HttpFilePart, HttpPart } from './http-run.ts';

/** A part of a body, ready to be filled. */
export interface Part {
  readonly name: string;
  readonly value: Template;
  readonly encoding: NonNullable<HttpFilePart['encoding']>;
  readonly filename: Template | undefined;
  readonly contentType: Template | undefined;
}

/** Reads a part of a run. */
export function readPart(name: string, given: HttpPart): Part {
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

/** The parts of a call as one body. */
export function fillMultipart(
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

/** One for each item of a list, none where the argument is absent. */
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

/** The bytes of a base64 text; whatever else there is in it is a mistake. */
export function decodeBase64(value: JsonValue, name: string): Buffer {
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

/** As browsers do: what would end the name is written as a code. */
function quoted(text: string): string {
  return text.toWellFormed().replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function requireType(template: Template, filling: Filling): string | undefined {
  const text = fillText(template, filling);
  if (text === undefined || /^[\x20-\x7e]+$/.test(text)) return text;
  throw new BadArgument(onlyName(template) ?? '', 'goes into a content type, which takes plain letters only');
}
