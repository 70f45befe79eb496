import { isJson, isJsonObject, type JsonObject } from '../../../core/json.ts';
import type { McpConnection } from '../connection/mcp-connection.ts';
import { MAX_MESSAGE_BYTES } from '../connection/wire-message.ts';
import type { WireRequest } from '../connection/wire-requests.ts';
import { McpFailure } from '../mcp-failure.ts';

/** What a server lists: each tool as it came. */
export interface ToolList {
  readonly tools: readonly JsonObject[];
  /** Why the list was not read to its end, as a sentence. */
  readonly cut?: string;
  /** What had to be left out, as sentences. */
  readonly problems: readonly string[];
}

/** A list that is longer has a mistake in it, or a server that has one. */
const MAX_TOOLS = 10_000;
const MAX_PAGES = 1000;
const TOO_MANY = `It lists more than ${MAX_TOOLS} tools; the first ${MAX_TOOLS} are read, the rest is left out. Split the server, or have it list fewer.`;

/** Asks for all pages of the tools of a server, and for no more than a list can sensibly have. */
export async function listTools(connection: McpConnection, onAbort?: WireRequest['onAbort']): Promise<ToolList> {
  const tools: JsonObject[] = [];
  const problems: string[] = [];
  const names = new Set<unknown>();
  const cursors = new Set<string>();
  let bytes = 0;
  let cursor: string | undefined;
  for (let page = 0; page === 0 || cursor !== undefined; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await connection.request({ method: 'tools/list', params, onAbort });
    const known = names.size;
    for (const tool of entriesOf(result)) {
      if (!isJsonObject(tool)) problems.push('An entry of its list is no tool.');
      else if (isTooDeep(tool)) problems.push(`Its tool ${JSON.stringify(shortened(tool.name))} is nested too deeply.`);
      else if (names.has(tool.name)) problems.push(`It lists ${JSON.stringify(shortened(tool.name))} twice.`);
      else tools.push(tool);
      names.add(isJsonObject(tool) ? tool.name : tool);
    }
    bytes += JSON.stringify(result).length;
    cursor = typeof result.nextCursor === 'string' ? result.nextCursor : undefined;
    const end = cursor === undefined ? undefined : whyEnough({ cursor, cursors, page, bytes, count: tools.length });
    if (end !== undefined) return { tools: tools.slice(0, MAX_TOOLS), cut: end, problems };
    if (cursor !== undefined && names.size === known)
      return { tools, cut: 'Its list goes on without naming another tool; the rest is not read.', problems };
  }
  if (tools.length <= MAX_TOOLS) return { tools, problems };
  return { tools: tools.slice(0, MAX_TOOLS), cut: TOO_MANY, problems };
}

interface Progress {
  readonly cursor: string | undefined;
  readonly cursors: Set<string>;
  readonly page: number;
  readonly bytes: number;
  readonly count: number;
}

function whyEnough({ cursor = '', cursors, page, bytes, count }: Progress): string | undefined {
  if (cursors.has(cursor)) return 'The pages of its list go in a circle; what was not named so far is not read.';
  cursors.add(cursor);
  if (page >= MAX_PAGES - 1) return `Its list has more than ${MAX_PAGES} pages; the rest is not read.`;
  if (count >= MAX_TOOLS) return TOO_MANY;
  return bytes > MAX_MESSAGE_BYTES
    ? `Its list has more than ${MAX_MESSAGE_BYTES} bytes; the rest is not read.`
    : undefined;
}

function entriesOf(result: JsonObject): readonly unknown[] {
  if (Array.isArray(result.tools)) return result.tools;
  throw new McpFailure('malformed', 'it answered with something that is no list of tools');
}

/** What came as JSON is JSON, but for how deep it may go. */
function isTooDeep(tool: unknown): boolean {
  return !isJson(tool);
}

function shortened(name: unknown): unknown {
  return typeof name === 'string' ? name.slice(0, 80) : name;
}
