import type { Issue } from '../form/issue.ts';
import { type JsonNode, parseJson } from '../json/json-text.ts';
import { childOf, printJson, printPretty, toValue } from '../json/json-value.ts';

/** What a call answered, ready to be shown. Long texts are cut; the whole of them can be downloaded. */
export interface CallAnswer {
  readonly ok: boolean;
  readonly status: string;
  readonly callId?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly error?: AnswerError | undefined;
  readonly waiting?: { readonly for: string; readonly id: string; readonly note?: string } | undefined;
  /** True if an extension replaced a failure by this result. */
  readonly isRecovered: boolean;
  /** Present if the server kept a large result and answered with its beginning. */
  readonly kept?: { readonly id?: string; readonly bytes: number } | undefined;
  readonly parts: readonly AnswerPart[];
  /** The body of the answer as it came, cut where it is long. */
  readonly body: CutText;
}

export interface AnswerError {
  readonly code: string;
  readonly message: string;
  readonly issues: readonly Issue[];
  readonly retryAfterMs?: number | undefined;
}

/** A text of any length: its beginning, its size, and the whole of it as a file if it was cut. */
export interface CutText {
  readonly text: string;
  readonly bytes: number;
  readonly file?: Blob;
}

export type AnswerPart =
  | { readonly kind: 'json' | 'text' | 'markdown'; readonly of: CutText }
  | { readonly kind: 'image' | 'audio'; readonly mimeType: string; readonly base64: string }
  | { readonly kind: 'link'; readonly uri: string; readonly name: string; readonly says: string }
  | {
      readonly kind: 'resource';
      readonly uri: string;
      readonly mimeType: string;
      readonly of: CutText;
      readonly isBinary: boolean;
    };

/** Above this a text is shown by its beginning, its size and a download. */
const MAX_SHOWN_BYTES = 2_000_000;
const HEAD_LENGTH = 64_000;

/** Cuts a text that is too large to be shown. */
function cutText(text: string, type = 'text/plain'): CutText {
  if (text.length <= MAX_SHOWN_BYTES / 3) return { text, bytes: new TextEncoder().encode(text).length };
  const file = new Blob([text], { type });
  if (file.size <= MAX_SHOWN_BYTES) return { text, bytes: file.size };
  return { text: text.slice(0, HEAD_LENGTH).toWellFormed(), bytes: file.size, file };
}

/** Reads the body of an answer: the result of a call, or a refusal. Digits of numbers are kept. */
export function readAnswer(body: string): CallAnswer {
  const parsed = parseJson(body);
  if ('problem' in parsed)
    return failure('internal', 'The server answered with something that is not JSON.', cutText(body));
  const root = parsed.node;
  const { data, content, text, ...head } = split(root);
  const envelope = toValue({ ...root, type: 'object', members: Object.values(head) }) as Envelope; // the shape of every answer
  return {
    ok: envelope.ok === true,
    status: typeof envelope.status === 'string' ? envelope.status : 'failed',
    callId: envelope.callId,
    durationMs: envelope.durationMs,
    waiting: envelope.waiting,
    isRecovered: envelope.recovered === true,
    error: envelope.error === undefined ? undefined : { ...envelope.error, issues: envelope.error.issues ?? [] },
    kept: envelope.meta?.['toolcrib/result'],
    parts: toParts(data?.value, content?.value, text?.value),
    body: cutText(body, 'application/json'),
  };
}

/** An answer that the page makes itself, such as for a lost connection. */
export function failure(code: string, message: string, body: CutText = { text: '', bytes: 0 }): CallAnswer {
  return { ok: false, status: 'failed', error: { code, message, issues: [] }, isRecovered: false, parts: [], body };
}

interface Envelope {
  readonly ok?: boolean;
  readonly status?: string;
  readonly callId?: string;
  readonly durationMs?: number;
  readonly recovered?: boolean;
  readonly meta?: { readonly 'toolcrib/result'?: { readonly id?: string; readonly bytes: number } };
  readonly waiting?: { readonly for: string; readonly id: string; readonly note?: string };
  readonly error?: { readonly code: string; readonly message: string; readonly issues?: readonly Issue[] };
}

type Members = Readonly<Record<string, Extract<JsonNode, { type: 'object' }>['members'][number]>>;

function split(root: JsonNode): Members {
  return root.type === 'object' ? Object.fromEntries(root.members.map((member) => [member.key, member])) : {};
}

/** The parts of a result: its data, then its content; a kept result has a text instead. */
function toParts(data?: JsonNode, content?: JsonNode, text?: JsonNode): readonly AnswerPart[] {
  const items = content?.type === 'array' ? content.items : [];
  const same = data === undefined ? undefined : printJson(data, 'sorted');
  const kept = text?.type === 'string' ? toTextPart(text.value, same) : [];
  const parts = [...kept, ...items.flatMap((item) => toPart(item, same))];
  return data === undefined ? parts : [{ kind: 'json', of: cutText(printPretty(data), 'application/json') }, ...parts];
}

/** One content part. A text that only repeats the data is left out. */
function toPart(item: JsonNode, data: string | undefined): readonly AnswerPart[] {
  const type = textAt(item, 'type');
  if (type === 'text') return toTextPart(textAt(item, 'text') ?? '', data);
  if (type === 'image' || type === 'audio')
    return [{ kind: type, mimeType: textAt(item, 'mimeType') ?? '', base64: textAt(item, 'data') ?? '' }];
  if (type === 'resource_link') {
    const uri = textAt(item, 'uri') ?? '';
    return [{ kind: 'link', uri, name: textAt(item, 'name') ?? uri, says: textAt(item, 'description') ?? '' }];
  }
  const resource = type === 'resource' ? childOf(item, 'resource') : undefined;
  if (resource === undefined) return [{ kind: 'json', of: cutText(printPretty(item), 'application/json') }];
  const text = textAt(resource, 'text');
  const of = cutText(text ?? textAt(resource, 'blob') ?? '');
  const [uri, mimeType] = [textAt(resource, 'uri') ?? '', textAt(resource, 'mimeType') ?? ''];
  return [{ kind: 'resource', uri, mimeType, of, isBinary: text === undefined }];
}

function textAt(node: JsonNode, key: string): string | undefined {
  const child = childOf(node, key);
  return child?.type === 'string' ? child.value : undefined;
}

function toTextPart(text: string, data: string | undefined): readonly AnswerPart[] {
  if (text === '') return [];
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  if (parsed !== undefined && 'node' in parsed) {
    if (printJson(parsed.node, 'sorted') === data) return [];
    return [{ kind: 'json', of: cutText(printPretty(parsed.node), 'application/json') }];
  }
  if (data !== undefined && JSON.stringify(text) === data) return [];
  return [{ kind: isMarkdown(text) ? 'markdown' : 'text', of: cutText(text) }];
}

const MARKDOWN = [
  /^#{1,6} \S/m,
  /^```/m,
  /^[ \t]*[-*] \S.*\n[ \t]*[-*] \S/m,
  /^\|.+\|\s*\n\|[\s:|-]+\|/m,
  /\[[^[\]\n]{1,500}\]\([^()\n]{1,2000}\)/,
  /\*\*[^*\n]+\*\*/,
];
const LONGEST_MARKDOWN = 200_000;

/** True if a text looks like Markdown. */
export function isMarkdown(text: string): boolean {
  return text.length <= LONGEST_MARKDOWN && MARKDOWN.some((pattern) => pattern.test(text));
}
