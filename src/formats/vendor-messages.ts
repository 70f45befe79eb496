import { describe, readOptions } from '../core/read-options.ts';
import type { CallRequest } from '../core/tool-call.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type Content, failed, type ToolResult, textOf } from '../core/tool-result.ts';

/** A member of whatever a model's message holds; `undefined` where there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The entries of a list, holes included; nothing where it is no list. */
export function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? Array.from(value) : [];
}

/** A request out of whatever stood where id, name and arguments belong; the pipeline judges it. */
export function toRequest(id: unknown, name: unknown, input: unknown): CallRequest {
  const asked = { name: typeof name === 'string' ? name : '', input: input === undefined ? {} : input };
  return typeof id === 'string' || typeof id === 'number' ? { id: String(id), ...asked } : asked;
}

/** Arguments as a model wrote them: what is not JSON stays the raw text, and none at all means no arguments. */
export function parseArguments(written: unknown): unknown {
  if (typeof written !== 'string') return written;
  if (written.trim() === '') return {};
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}

/** A piece of a result as a model gets it: text to read, or media that its vendor takes. */
export type ResultPart = TextPart | MediaPart;
interface TextPart {
  readonly type: 'text';
  readonly text: string;
}
/** An image, a sound or a file. */
export interface MediaPart {
  readonly type: 'media';
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  readonly name?: string;
}

/** Says which media a vendor takes in a tool result. */
type Takes = (mimeType: string) => boolean;

/** What a model is told of a result, in order. A failure begins with its code and issues, whatever the tool itself said. */
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

/** The same for one vendor: media it does not take become a note. */
export function partsOf(result: ToolResult, takes: Takes): readonly ResultPart[] {
  return shownContent(result).map((content) => toPart(content, takes));
}

/** The same for a vendor whose tool results are one text. */
export function plainTextOf(result: ToolResult): string {
  return textIn(partsOf(result, takesNothing));
}

/** The text among the parts, one line each. */
export function textIn(parts: readonly ResultPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** For vendors, and for failures, where only text is allowed. */
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
  const bytes = Math.floor((media.data.replace(/=+$/, '').length * 3) / 4);
  return toText(
    `[${media.name === undefined ? '' : `${media.name}, `}${media.mimeType}, ${bytes} bytes, cannot be shown here]`,
  );
}

function toText(text: string): TextPart {
  return { type: 'text', text };
}

/** What a format needs of a chest to run tools: its `call`. */
export interface ChestLike {
  call(
    name: string,
    input: unknown,
    options?: { readonly signal?: AbortSignal; readonly park?: boolean },
  ): Promise<ToolResult>;
}

/** How a format runs tools. */
export interface RunOptions {
  /** Lets a call that needs an approval wait in the store, and answers with the id of the approval; else it fails. */
  readonly park?: boolean;
}

/** The chest that calls as the options say. */
export function runnerOf(chest: ChestLike, given: RunOptions, what: string): ChestLike {
  const { park = false } = readOptions<RunOptions>(given, ['park'], what);
  if (typeof park !== 'boolean')
    throw new ToolcribError('invalid_option', `"park" of ${what} is true or false, got ${describe(park)}.`);
  return park ? { call: (name, input, options) => chest.call(name, input, { ...options, park }) } : chest;
}

/** Calls a tool under the signal of a vendor's loop, where it has one. */
export function callUnder(
  chest: ChestLike,
  name: string,
  asked: { readonly input: unknown; readonly signal: AbortSignal | undefined },
): Promise<ToolResult> {
  return chest.call(name, asked.input, asked.signal === undefined ? {} : { signal: asked.signal });
}
