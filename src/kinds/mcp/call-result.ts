import { isJson, isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { beginningOf } from '../../core/text/visible-text.ts';
import { toolError } from '../../core/tool-error.ts';
import { type Content, type FailedResult, failed, isContent, type ToolResult, textOf } from '../../core/tool-result.ts';

/** The result of a tool as it came from its server, as ours. Nothing is lost on the way: the shapes of content are those of MCP. */
export function toToolResult(result: JsonObject, tool: string): ToolResult {
  if (!isJson(result)) return malformed(tool, 'it is nested too deeply');
  const { content, structuredContent: data, isError } = result;
  if (content !== undefined && !Array.isArray(content)) return malformed(tool, 'its content is no list');
  const parts = (content ?? []).map(toContent);
  const said = parts.length === 0 && data !== undefined ? [textPart(JSON.stringify(data))] : parts;
  const extras = { ...(data !== undefined && { data }), ...metaOf(result._meta) };
  if (isError !== true) return { ok: true, status: 'done', content: said, ...extras };
  const message = beginningOf(textOf({ ok: true, status: 'done', content: said }), MAX_MESSAGE);
  const error = toolError('tool_error', message === '' ? `"${tool}" failed and does not say why.` : message);
  return { ok: false, status: 'failed', error, content: said, ...extras };
}

const MAX_MESSAGE = 4000;

/** What says nothing that we know of is shown as it is. */
function toContent(part: JsonValue): Content {
  return isContent(part) ? part : textPart(JSON.stringify(part));
}

function textPart(text: string): Content {
  return { type: 'text', text };
}

/** What a server says besides; what it cannot know, and who it is, is not for callers. */
function metaOf(meta: unknown): { readonly meta?: JsonObject } {
  if (!isJsonObject(meta)) return {};
  const theirs = Object.entries(meta).filter(([key]) => !/^(toolcrib|io\.modelcontextprotocol)\//.test(key));
  return theirs.length === 0 ? {} : { meta: Object.fromEntries(theirs) };
}

function malformed(tool: string, what: string): FailedResult {
  return failed(toolError('upstream', `The server of "${tool}" answered with something that is no result: ${what}.`));
}
