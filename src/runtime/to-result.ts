import { copyJson, isJson, type JsonValue, NotJsonError } from '../core/json.ts';
import { TOOL_ERROR_CODES, toolError } from '../core/tool-error.ts';
import { done, failed, type ToolResult } from '../core/tool-result.ts';

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
  if (isReadyResult(value)) return value;
  try {
    const data: JsonValue = isJson(value) ? value : copyJson(value);
    return done(JSON.stringify(data), data);
  } catch (error) {
    if (error instanceof NotJsonError) return notJson(`something of which ${error.message}`);
    throw error;
  }
}

/** True for a value that is a `ToolResult` already. */
function isReadyResult(value: object): value is ToolResult {
  const { ok, status, content, error, waiting } = value as Record<string, unknown>; // read as unknown, then checked
  if (ok === true) return status === 'done' && Array.isArray(content);
  if (ok !== false) return false;
  if (status === 'waiting') return isObject(waiting) && typeof waiting.id === 'string';
  return (
    status === 'failed' &&
    isObject(error) &&
    typeof error.message === 'string' &&
    TOOL_ERROR_CODES.some((code) => code === error.code)
  );
}

function isObject(
  value: unknown,
): value is { readonly id?: unknown; readonly code?: unknown; readonly message?: unknown } {
  return typeof value === 'object' && value !== null;
}

function notJson(what: string): ToolResult {
  return failed(toolError('invalid_output', `The tool returned ${what}; a tool must return JSON, text or nothing.`));
}
