import { copyJson, isJson, isRecord, type JsonValue, NotJsonError } from '../core/json.ts';
import { TOOL_ERROR_CODES, toolError } from '../core/tool-error.ts';
import { done, failed, isContent, type ToolResult } from '../core/tool-result.ts';

const NOTHING_TO_SAY = 'Done.';

/** What a tool's function returned, as a result. A ready result passes through; what JSON cannot carry is a failure that says so. */
export function toResult(value: unknown): ToolResult {
  switch (typeof value) {
    case 'string':
      return done(value);
    case 'number':
      return Number.isFinite(value) ? done(String(value), value) : done(String(value));
    case 'boolean':
      return done(String(value), value);
    case 'undefined':
      return done(NOTHING_TO_SAY);
    case 'object':
      return value === null ? done(NOTHING_TO_SAY) : objectToResult(value);
    default:
      return notJson(`a ${typeof value}`);
  }
}

function objectToResult(value: object): ToolResult {
  if (value instanceof Error) throw value; // returned where it was meant to be thrown
  const ready = readyResult(value);
  if (ready !== undefined) return ready;
  try {
    const data: JsonValue = isJson(value) ? value : copyJson(value);
    return done(JSON.stringify(data), data);
  } catch (error) {
    if (error instanceof NotJsonError) return notJson(`something of which ${error.message}`);
    throw error;
  }
}

/** The `ToolResult` a value is already, if it is one to the last part. */
function readyResult(value: object): ToolResult | undefined {
  const { ok, status, content, error, waiting } = value as Record<string, unknown>; // read as unknown, then checked
  if (ok === true) return status === 'done' && isContentList(content) ? (value as ToolResult) : undefined; // seen to be one
  if (ok !== false) return undefined;
  if (status === 'waiting')
    return isRecord(waiting) && typeof waiting.id === 'string' ? (value as ToolResult) : undefined; // likewise
  if (status !== 'failed' || !isRecord(error) || typeof error.message !== 'string') return undefined;
  if (content !== undefined && !isContentList(content)) return undefined;
  const code = TOOL_ERROR_CODES.find((known) => known === error.code);
  if (code === undefined) return undefined;
  return typeof error.retryable === 'boolean' ? (value as ToolResult) : failed(toolError(code, error.message)); // likewise
}

function isContentList(content: unknown): boolean {
  return Array.isArray(content) && content.every(isContent);
}

function notJson(what: string): ToolResult {
  return failed(toolError('invalid_output', `The tool returned ${what}; a tool must return JSON, text or nothing.`));
}
