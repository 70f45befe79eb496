import { isJson, isJsonObject, type JsonValue } from '../../core/json.ts';
import { unescapePointer } from '../../core/json-pointer.ts';
import { toolError } from '../../core/tool-error.ts';
import { type Content, done, failed, type ToolResult } from '../../core/tool-result.ts';
import type { FetchedResponse } from '../../system/fetch/guarded-fetch.ts';
import { parseJson } from '../../system/parse-json.ts';
import type { RequestPlan } from './request-plan.ts';

/** Converts a successful response into a result. */
export function readAnswer(answer: FetchedResponse, plan: RequestPlan, tool: string): ToolResult {
  const { status, headers, bytes } = answer;
  const type = readContentType(headers['content-type']);
  if (plan.method === 'HEAD') return done(statusText(status), { status, headers });
  if (bytes.length === 0 || status === 204 || status === 205) return done(`Done: ${statusText(status)}.`);
  const wanted = plan.response ?? (plan.select === undefined ? undefined : 'json');
  switch (wanted ?? type.is) {
    case 'json':
      return readJson(bodyText(bytes, type), plan, tool);
    case 'text':
      return done(bodyText(bytes, type));
    case 'image':
    case 'audio':
      return done([
        { type: type.is === 'audio' ? 'audio' : 'image', data: bytes.toString('base64'), mimeType: type.name },
      ]);
    case 'bytes':
      return done([toResource(bytes, type.name, tool)]);
    default:
      return readUnknown(bytes, plan, tool);
  }
}

function readJson(text: string, { select }: RequestPlan, tool: string): ToolResult {
  const data = parseJson(text);
  if (data === undefined) return unreadable(tool, 'invalid JSON');
  if (!isJson(data)) return unreadable(tool, 'JSON that is nested too deeply');
  return toJsonResult(select === undefined ? data : selectData(data, select));
}

function toJsonResult(data: JsonValue): ToolResult {
  return done(typeof data === 'string' ? data : JSON.stringify(data), data);
}

/** Without a content type, the type is detected from the content. */
function readUnknown(bytes: Buffer, plan: RequestPlan, tool: string): ToolResult {
  const text = strictText(bytes);
  if (text === undefined) return done([toResource(bytes, 'application/octet-stream', tool)]);
  return /^\s*[[{]/.test(text) && isJson(parseJson(text) ?? new Date()) ? readJson(text, plan, tool) : done(text);
}

function strictText(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The URI does not reveal the origin: how a tool runs is not shown. */
function toResource(bytes: Buffer, mimeType: string, tool: string): Content {
  return { type: 'resource', resource: { uri: `toolcrib:///${tool}`, mimeType, blob: bytes.toString('base64') } };
}

function unreadable(tool: string, what: string): ToolResult {
  return failed(toolError('upstream', `The server of "${tool}" answered with ${what}.`));
}

/** For example `404 Not Found`. */
export function statusText(status: number): string {
  const words = process.getBuiltinModule('node:http').STATUS_CODES[status]; // loaded lazily by the first request
  return words === undefined ? `status ${status}` : `${status} ${words}`;
}

/** One step into data: a member name, an item index, or `*` for all items. */
type Step = string | typeof ALL;
const ALL: unique symbol = Symbol('all');

/** Parses `select`; undefined if the text is neither a JSON pointer nor a path. */
export function readSelect(text: string): readonly Step[] | undefined {
  if (text === '') return [];
  if (text.startsWith('/')) return readPointer(text);
  return readPath(text);
}

function readPointer(text: string): readonly Step[] | undefined {
  if (/~(?![01])/.test(text)) return undefined;
  return text.slice(1).split('/').map(unescapePointer);
}

const STEP = /^(?:\.?([^.[\]]+)|\[(\d+|\*)\])/;

function readPath(text: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = text.replace(/^\$\.?(?=\[|.)/, ''); // JSONPath starts with `$`
  for (let first = true; rest !== ''; first = false) {
    const match = STEP.exec(rest);
    if (match === null || (first && rest.startsWith('.')) || (!first && !/^[.[]/.test(rest))) return undefined;
    const step = match[1] ?? match[2] ?? '';
    steps.push(step === '*' ? ALL : step);
    rest = rest.slice(match[0].length);
  }
  return steps;
}

/** The value at the path: null if it is missing, and a list for `*`. */
function selectData(data: JsonValue, steps: readonly Step[]): JsonValue {
  const [step, ...rest] = steps;
  if (step === undefined) return data;
  if (step === ALL) return Array.isArray(data) ? data.map((item: JsonValue) => selectData(item, rest)) : [];
  return selectData(memberOf(data, step), rest);
}

function memberOf(data: JsonValue, step: string): JsonValue {
  if (Array.isArray(data)) return /^\d+$/.test(step) ? (data[Number(step)] ?? null) : null;
  return isJsonObject(data) && Object.hasOwn(data, step) ? (data[step] ?? null) : null;
}

/** The parsed steps of `select`. */
export type Selection = readonly Step[];

/** A parsed content type. */
export interface ContentType {
  readonly is: 'json' | 'text' | 'image' | 'audio' | 'bytes' | 'unknown';
  /** Lower case, without parameters. */
  readonly name: string;
  readonly charset: string | undefined;
}

const MAX_LENGTH = 200;
const TEXTS =
  /^(text\/|application\/(xml|javascript|ecmascript|x-ndjson|jsonl|yaml|x-yaml|toml|graphql|sql|x-www-form-urlencoded|x-sh)$)|\+(xml|yaml)$/;

const JSON_TYPE: ContentType = { is: 'json', name: 'application/json', charset: undefined };

/** Parses a Content-Type header. */
export function readContentType(header = ''): ContentType {
  if (header === JSON_TYPE.name) return JSON_TYPE; // the most common case
  const [name = '', ...parameters] = header
    .slice(0, MAX_LENGTH)
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  const given = { name, charset: charset?.replaceAll('"', '') };
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(name)) return { ...given, is: 'unknown' };
  if (/\/json$|\+json$/.test(name)) return { ...given, is: 'json' };
  if (TEXTS.test(name)) return { ...given, is: 'text' };
  if (name.startsWith('image/')) return { ...given, is: 'image' };
  return { ...given, is: name.startsWith('audio/') ? 'audio' : 'bytes' };
}

/** Decodes the body in its declared character set; falls back to UTF-8. */
export function bodyText(bytes: Buffer, { charset }: ContentType): string {
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return decodeUtf8(bytes);
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return decodeUtf8(bytes);
  }
}

function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
