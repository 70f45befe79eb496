import { isJsonObject, type JsonValue } from '../../core/json.ts';
import { readTemplate } from '../../specs/template.ts';
import { argumentOf, type Filling, fillText, onlyName } from './fill-text.ts';
import type { HttpParameter, HttpPart, HttpRun } from './http-run.ts';
import { decodeBase64, fillMultipart, readPart } from './multipart.ts';
import { fillParameter, readParameters } from './parameters.ts';

/** A body and what it is. */
interface FilledBody {
  readonly bytes: string | Uint8Array;
  readonly contentType: string;
}

/** Makes the body of a call; nothing where all of it is absent. */
export type FillBody = (filling: Filling) => FilledBody | undefined;

const TEXT_TYPE = 'text/plain; charset=utf-8';

/** Reads the body of a run. */
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

/** A list, so that a value that is a list itself stays one. */
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

/** A text, unless it is one argument that is none. */
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
  const parameters = readParameters(body as Readonly<Record<string, HttpParameter>>); // checked when the spec was let in
  return (filling) => ({
    bytes: parameters.flatMap((parameter) => fillParameter(parameter, filling)).join('&'),
    contentType: 'application/x-www-form-urlencoded',
  });
}

function multipartBody(body: Readonly<Record<string, JsonValue>>): FillBody {
  const parts = Object.entries(body).map(([name, value]) => readPart(name, value as HttpPart)); // checked when the spec was let in
  return (filling) => fillMultipart(parts, filling);
}
