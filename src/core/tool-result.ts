import { copyJson, isJson, isRecord, type JsonSchema, type JsonValue, NotJsonError } from './json.ts';
import { TOOL_ERROR_CODES, type ToolError, toolError } from './tool-error.ts';

/** Optional annotations of content, as in MCP. */
export interface ContentAnnotations {
  readonly audience?: readonly ('user' | 'assistant')[];
  readonly priority?: number;
  readonly lastModified?: string;
}

interface ContentExtras {
  readonly annotations?: ContentAnnotations;
  readonly _meta?: { readonly [key: string]: unknown };
}

/** One part of a tool's answer. The shapes are those of MCP. */
export type Content =
  | ({ readonly type: 'text'; readonly text: string } & ContentExtras)
  | ({ readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string } & ContentExtras)
  | ({
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name: string;
      readonly title?: string;
      readonly description?: string;
      readonly mimeType?: string;
      readonly size?: number;
    } & ContentExtras)
  | ({
      readonly type: 'resource';
      readonly resource: {
        readonly uri: string;
        readonly mimeType?: string;
        readonly text?: string;
        readonly blob?: string;
      };
    } & ContentExtras);

/** True for content of one of these shapes; other fields are not checked. */
export function isContent(part: unknown): part is Content {
  if (!isRecord(part)) return false;
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string';
    case 'image':
    case 'audio':
      return typeof part.data === 'string' && typeof part.mimeType === 'string';
    case 'resource_link':
      return typeof part.uri === 'string' && typeof part.name === 'string';
    case 'resource':
      return isRecord(part.resource) && typeof part.resource.uri === 'string';
    default:
      return false;
  }
}

interface ResultExtras {
  /** Set when an extension turned a failure into this result. */
  readonly recovered?: true;
  readonly meta?: { readonly [key: string]: unknown };
}

/** The result of a tool that ran. */
export interface DoneResult extends ResultExtras {
  readonly ok: true;
  readonly status: 'done';
  readonly content: readonly Content[];
  readonly data?: JsonValue;
}

/** The result of a call that was refused, or whose tool failed. */
export interface FailedResult extends ResultExtras {
  readonly ok: false;
  readonly status: 'failed';
  readonly error: ToolError;
  /** The tool's own output about its failure, if it is more than the message. */
  readonly content?: readonly Content[];
  readonly data?: JsonValue;
}

/** The result of a call that waits for an answer. */
export interface WaitingResult extends ResultExtras {
  readonly ok: false;
  readonly status: 'waiting';
  readonly waiting: {
    readonly for: 'approval' | 'input' | 'task';
    readonly id: string;
    readonly expiresAt: number;
    readonly ask?: JsonValue;
    /** The id of an earlier identical call, under which the result will be found. */
    readonly callId?: string;
    /** A hint about who can answer. */
    readonly note?: string;
  };
}

/** Done with content, failed with a code, or waiting for an answer. Always a value, never an exception. */
export type ToolResult = DoneResult | FailedResult | WaitingResult;

/** One result of `callAll`, with the vendor's id of the call. */
export interface CallAnswer {
  readonly id: string;
  readonly name: string;
  readonly result: ToolResult;
}

/** Creates a successful result. */
export function done(content: string | readonly Content[], data?: JsonValue): DoneResult {
  const list: readonly Content[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return data === undefined
    ? { ok: true, status: 'done', content: list }
    : { ok: true, status: 'done', content: list, data };
}

/** Creates a failed result. */
export function failed(error: ToolError): FailedResult {
  return { ok: false, status: 'failed', error };
}

/** The text that a model should read: the text content, or the error. */
export function textOf(result: ToolResult): string {
  if (result.status === 'waiting') {
    const { id, expiresAt, note } = result.waiting;
    const until = `until ${new Date(expiresAt).toISOString()}.`;
    return `Waiting for ${result.waiting.for} (id ${id}) ${until}${note === undefined ? '' : ` ${note}`}`;
  }
  const text = (result.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  if (result.ok || text !== '') return text;
  const issues = (result.error.issues ?? []).map(
    (issue) => `\n- ${issue.path === '' ? 'arguments' : issue.path}: ${issue.message}`,
  );
  return `${result.error.code}: ${result.error.message}${issues.join('')}`;
}

/** The outcome of a change: the names it applied to, and those it rejected with reasons. `ok` if nothing was rejected. */
export interface Outcome {
  readonly ok: boolean;
  readonly applied: readonly string[];
  readonly rejected: readonly Rejection[];
}

/** A name that a change rejected. */
export interface Rejection {
  readonly name: string;
  readonly reason: string;
}

/** Creates an `Outcome`. */
export function outcome(applied: readonly string[], rejected: readonly Rejection[] = []): Outcome {
  return { ok: rejected.length === 0, applied, rejected };
}

const NOTHING_TO_SAY = 'Done.';

/** Converts a tool's return value to a result. A `ToolResult` is kept; a value that is not JSON becomes a failure. With an output schema, null is data. */
export function toResult(value: unknown, output?: JsonSchema): ToolResult {
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
      if (value !== null) return objectToResult(value);
      return output === undefined ? done(NOTHING_TO_SAY) : done(NOTHING_TO_SAY, null);
    default:
      return notJson(`a ${typeof value}`);
  }
}

/** Converts JSON that a model or a script wrote: it is data, even if it looks like a `ToolResult`. */
export function dataToResult(value: unknown, output?: JsonSchema): ToolResult {
  return isRecord(value) ? jsonToResult(value) : toResult(value, output);
}

function objectToResult(value: object): ToolResult {
  if (value instanceof Error) throw value; // returned instead of thrown
  return readyResult(value) ?? jsonToResult(value);
}

function jsonToResult(value: object): ToolResult {
  try {
    const data: JsonValue = isJson(value) ? value : copyJson(value);
    return done(JSON.stringify(data), data);
  } catch (error) {
    if (error instanceof NotJsonError) return notJson(`an invalid value (${error.message})`);
    throw error;
  }
}

/** The value itself, if it is a complete `ToolResult`. */
function readyResult(value: object): ToolResult | undefined {
  const { ok, status, content, error, waiting } = value as Record<string, unknown>; // read as unknown, then checked
  if (ok === true) return status === 'done' && isContentList(content) ? (value as ToolResult) : undefined; // checked here
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
  return failed(toolError('invalid_output', `The tool returned ${what}. A tool must return JSON, text or nothing.`));
}

/** Average length of a token of text. */
const CHARACTERS_PER_TOKEN = 4;

/** Estimates the tokens that the texts of a result cost the model; undefined while it waits. */
export function tokensOf(result: ToolResult): number | undefined {
  if (result.status === 'waiting') return undefined;
  if (!result.ok) return Math.ceil(result.error.message.length / CHARACTERS_PER_TOKEN);
  let length = 0;
  for (const part of result.content) {
    if (part.type === 'text') length += part.text.length;
    else if (part.type === 'resource') length += part.resource.text?.length ?? 0;
  }
  return Math.ceil(length / CHARACTERS_PER_TOKEN);
}
