import { STATUS_CODES } from 'node:http';
import { isJson, type JsonValue } from '../../core/json.ts';
import { toolError } from '../../core/tool-error.ts';
import { type Content, done, failed, type ToolResult } from '../../core/tool-result.ts';
import type { FetchedResponse } from '../../system/fetch/guarded-fetch.ts';
import { parseJson } from '../../system/parse-json.ts';
import { bodyText, readContentType } from './content-type.ts';
import type { RequestPlan } from './request-plan.ts';
import { selectData } from './select-data.ts';

/** The result that a good answer is. */
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
  if (data === undefined) return unreadable(tool, 'something that is no JSON');
  if (!isJson(data)) return unreadable(tool, 'JSON that is nested too deeply');
  return toJsonResult(select === undefined ? data : selectData(data, select));
}

function toJsonResult(data: JsonValue): ToolResult {
  return done(typeof data === 'string' ? data : JSON.stringify(data), data);
}

/** Without a content type it is what it looks like. */
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

/** The address says nothing about where it came from: how a tool runs is not shown. */
function toResource(bytes: Buffer, mimeType: string, tool: string): Content {
  return { type: 'resource', resource: { uri: `toolcrib:///${tool}`, mimeType, blob: bytes.toString('base64') } };
}

function unreadable(tool: string, what: string): ToolResult {
  return failed(toolError('upstream', `The server of "${tool}" answered with ${what}.`));
}

/** `404 Not Found`. */
export function statusText(status: number): string {
  const words = STATUS_CODES[status];
  return words === undefined ? `status ${status}` : `${status} ${words}`;
}
