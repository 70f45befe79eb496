import { isRecord, type JsonValue } from './json.ts';
import type { ToolError } from './tool-error.ts';

/** Optional notes on a piece of content, as MCP has them. */
export interface ContentAnnotations {
  readonly audience?: readonly ('user' | 'assistant')[];
  readonly priority?: number;
  readonly lastModified?: string;
}

interface ContentExtras {
  readonly annotations?: ContentAnnotations;
  readonly _meta?: { readonly [key: string]: unknown };
}

/** One piece of what a tool answers; the shapes are those of MCP, so that nothing is lost on the way. */
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

/** True for a piece of content of one of these shapes; what else it holds is its own affair. */
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

/** The tool ran and this is its answer. */
export interface DoneResult extends ResultExtras {
  readonly ok: true;
  readonly status: 'done';
  readonly content: readonly Content[];
  readonly data?: JsonValue;
}

/** The call was refused, or the tool failed. */
export interface FailedResult extends ResultExtras {
  readonly ok: false;
  readonly status: 'failed';
  readonly error: ToolError;
  /** What the tool itself said about its failure, if more than the message. */
  readonly content?: readonly Content[];
  readonly data?: JsonValue;
}

/** Somebody has to answer before the call goes on. */
export interface WaitingResult extends ResultExtras {
  readonly ok: false;
  readonly status: 'waiting';
  readonly waiting: {
    readonly for: 'approval' | 'input' | 'task';
    readonly id: string;
    readonly expiresAt: number;
    readonly ask?: JsonValue;
    /** The call under whose id the result will be found, where that is another one: it was sent before. */
    readonly callId?: string;
    /** What else has to be known about who can answer. */
    readonly note?: string;
  };
}

/** Done with content, failed with a code, or waiting for an answer. A value, never an exception. */
export type ToolResult = DoneResult | FailedResult | WaitingResult;

/** A result of `callAll`, with the id its vendor gave the call. */
export interface CallAnswer {
  readonly id: string;
  readonly name: string;
  readonly result: ToolResult;
}

/** A successful result. */
export function done(content: string | readonly Content[], data?: JsonValue): DoneResult {
  const list: readonly Content[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return data === undefined
    ? { ok: true, status: 'done', content: list }
    : { ok: true, status: 'done', content: list, data };
}

/** A failed result. */
export function failed(error: ToolError): FailedResult {
  return { ok: false, status: 'failed', error };
}

/** The text a model should read for this result: its text content, or what went wrong and what to do. */
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
