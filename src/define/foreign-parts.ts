import { isRecord } from '../core/json.ts';
import { nearest, readMember } from '../core/read-options.ts';
import { ToolcribError, toolError } from '../core/tool-error.ts';
import { type Content, failed, type ToolResult } from '../core/tool-result.ts';
import { TOOL_KEYS } from './define-tool.ts';

/** A tool of another library, and its name in messages. */
export interface ForeignTool {
  readonly tool: object;
  readonly about: string;
}

/** Reads a member. Null becomes undefined, as other libraries use both. */
export function partOf({ tool, about }: ForeignTool, key: string): unknown {
  return readMember(tool, key, about) ?? undefined;
}

/** Toolcrib's own members on a tool of another library, such as effects, policy and tags. Throws for a misspelled one, since it may be a limit. */
export function ownParts(foreign: ForeignTool, theirs: readonly string[]): Record<string, unknown> {
  const parts: Record<string, unknown> = {};
  for (const key of Object.keys(foreign.tool)) {
    if (theirs.includes(key)) continue;
    const value = partOf(foreign, key);
    const meant = nearest(key, TOOL_KEYS);
    if (value === undefined || meant === undefined) continue;
    if (meant === key) parts[key] = value;
    else if (typeof value !== 'function')
      // a function is a hook of that library
      throw new ToolcribError('unknown_option', `${foreign.about} has no "${key}". Did you mean "${meant}"?`);
  }
  return parts;
}

/** Converts content parts of other libraries; undefined if one is unknown. */
export function toContents(parts: unknown): readonly Content[] | undefined {
  if (!Array.isArray(parts) || parts.length === 0) return undefined;
  const contents = parts.map(toContent);
  return contents.every((content) => content !== undefined) ? contents : undefined;
}

function toContent(part: unknown): Content | undefined {
  if (!isRecord(part)) return undefined;
  if (part.type === 'text' && typeof part.text === 'string') return { type: 'text', text: part.text };
  const mimeType = textIn(part.mediaType ?? part.mimeType ?? part.mime_type);
  const data = bytesIn(part.data) ?? bytesIn(isRecord(part.data) ? part.data.data : undefined);
  if (data !== undefined && mimeType !== undefined) return toMedia(mimeType, data, textIn(part.filename));
  const link = isRecord(part.image_url) ? part.image_url.url : (part.image_url ?? part.url);
  return typeof link === 'string' ? fromLink(link) : undefined;
}

function fromLink(link: string): Content {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(link);
  if (inline?.[1] !== undefined && inline[2] !== undefined) return toMedia(inline[1], inline[2], undefined);
  return { type: 'resource_link', uri: link, name: link };
}

function toMedia(mimeType: string, data: string, name: string | undefined): Content {
  const kind = mimeType.split('/')[0];
  if (kind === 'image' || kind === 'audio') return { type: kind, data, mimeType };
  return { type: 'resource', resource: { uri: `file:///${encodeURIComponent(name ?? 'file')}`, mimeType, blob: data } };
}

function bytesIn(data: unknown): string | undefined {
  return data instanceof Uint8Array ? Buffer.from(data).toString('base64') : textIn(data);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A failed result with the error that a tool of another library reported. */
export function toFailure(code: 'tool_error' | 'denied', said: unknown): ToolResult {
  return failed(
    toolError(
      code,
      typeof said === 'string' && said !== '' ? said : (JSON.stringify(said) ?? 'The tool failed without a message.'),
    ),
  );
}
