import { describe, readOptions } from '../core/read-options.ts';
import type { CallRequest } from '../core/tool-call.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type Content, failed, type ToolResult, textOf } from '../core/tool-result.ts';
import { withoutEnd } from '../core/visible-text.ts';
import { parseExact } from '../system/exact-json.ts';

/** A member of an untyped value; `undefined` if the value is not an object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The entries of a list, including holes; empty if the value is not a list. */
export function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? Array.from(value) : [];
}

/** Creates a call request from untyped values; the crib validates it. */
export function toRequest(id: unknown, name: unknown, input: unknown): CallRequest {
  const asked = { name: typeof name === 'string' ? name : '', input: input === undefined ? {} : input };
  return typeof id === 'string' || typeof id === 'number' ? { id: String(id), ...asked } : asked;
}

/** Parses arguments of a model. Invalid JSON stays text; an integer that would be rounded is a BigInt, which the call refuses; an empty text means no arguments. */
export function parseArguments(written: unknown): unknown {
  if (typeof written !== 'string') return written;
  if (written.trim() === '') return {};
  try {
    return parseExact(written).value;
  } catch {
    return written;
  }
}

/** A part of a result for a model: text, or media that its vendor accepts. */
export type ResultPart = TextPart | MediaPart;
interface TextPart {
  readonly type: 'text';
  readonly text: string;
}
/** An image, audio or a file. */
export interface MediaPart {
  readonly type: 'media';
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  readonly name?: string;
}

/** Returns true if the vendor accepts this media type in a tool result. */
type Takes = (mimeType: string) => boolean;

/** The content of a result for a model. A failure begins with its code and issues, then the content of the tool. */
export function shownContent(result: ToolResult): readonly Content[] {
  if (result.status === 'waiting') return [toText(textOf(result))];
  if (result.status === 'failed') {
    const reason = textOf(failed(result.error));
    const said = (result.content ?? []).filter((content) => content.type !== 'text' || !reason.includes(content.text));
    return [toText(reason), ...said];
  }
  if (result.content.length > 0 || result.data === undefined) return result.content;
  return [toText(JSON.stringify(result.data))];
}

/** The parts of a result for one vendor. Unsupported media become a text note. */
export function partsOf(result: ToolResult, takes: Takes): readonly ResultPart[] {
  return shownContent(result).map((content) => toPart(content, takes));
}

/** The result as one text, for vendors that accept only text. */
export function plainTextOf(result: ToolResult): string {
  return textIn(partsOf(result, takesNothing));
}

/** The text of all text parts, joined by line breaks. */
export function textIn(parts: readonly ResultPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** Accepts no media, for vendors and failures with text only. */
export const takesNothing: Takes = () => false;

function toPart(content: Content, takes: Takes): ResultPart {
  switch (content.type) {
    case 'text':
      return toText(content.text);
    case 'image':
    case 'audio':
      return toMedia({ type: 'media', mimeType: content.mimeType, data: content.data }, takes);
    case 'resource_link':
      return toText(`[link: ${content.title ?? content.name}, ${content.uri}]`);
    case 'resource':
      return resourcePart(content.resource, takes);
  }
}

function resourcePart(resource: Extract<Content, { type: 'resource' }>['resource'], takes: Takes): ResultPart {
  const { uri, text, blob, mimeType = 'application/octet-stream' } = resource;
  if (blob === undefined) return toText(`[${uri}]\n${text ?? ''}`);
  return toMedia({ type: 'media', mimeType, data: blob, name: uri.split('/').at(-1) || uri }, takes);
}

function toMedia(media: MediaPart, takes: Takes): ResultPart {
  if (takes(media.mimeType)) return media;
  const bytes = Math.floor((withoutEnd(media.data, /=/).length * 3) / 4);
  return toText(
    `[${media.name === undefined ? '' : `${media.name}, `}${media.mimeType}, ${bytes} bytes, cannot be shown here]`,
  );
}

function toText(text: string): TextPart {
  return { type: 'text', text };
}

/** The part of a chest that a format needs to run tools. */
export interface ChestLike {
  call(
    name: string,
    input: unknown,
    options?: { readonly signal?: AbortSignal; readonly park?: boolean },
  ): Promise<ToolResult>;
}

/** Options for running tools through a format. */
export interface RunOptions {
  /** Parks a call that requires approval, and returns the id of the approval. Default: such a call fails. */
  readonly park?: boolean;
}

/** The chest with these options applied to its calls. */
export function runnerOf(chest: ChestLike, given: RunOptions, what: string): ChestLike {
  const { park = false } = readOptions<RunOptions>(given, ['park'], what);
  if (typeof park !== 'boolean')
    throw new ToolcribError('invalid_option', `"park" of ${what} must be true or false, got ${describe(park)}.`);
  return park ? { call: (name, input, options) => chest.call(name, input, { ...options, park }) } : chest;
}

/** Calls a tool with the signal of a vendor's loop, if it has one. */
export function callUnder(
  chest: ChestLike,
  name: string,
  asked: { readonly input: unknown; readonly signal: AbortSignal | undefined },
): Promise<ToolResult> {
  return chest.call(name, asked.input, asked.signal === undefined ? {} : { signal: asked.signal });
}
