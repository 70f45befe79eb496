import { hash } from 'node:crypto';
import { canonicalJson, isJson, isJsonObject, type JsonObject } from '../../core/json.ts';
import type { StoredList } from '../../core/ports/store.ts';
import { messageOf } from '../../core/tool-error.ts';
import type { KeptList, SpecListing, WarnOnce } from '../../specs/spec-listing.ts';
import { toKeptEra } from './learn-tools.ts';
import { McpFailure } from './mcp-failure.ts';
import type { McpConnection } from './open-connection.ts';
import type { ReadToolList } from './tool-entry.ts';
import { MAX_MESSAGE_BYTES, type WireRequest } from './wire-requests.ts';

/** Options for showing and storing the tools of a server. */
export interface ShownToolsOptions {
  readonly listing: SpecListing;
  readonly kept: KeptList;
  readonly told: WarnOnce;
  readonly readTools: ReadToolList;
  /** True if failures may be reported: not during the start, which has its own report, and not after closing. */
  mayTell(): boolean;
}

/** The tools that a source shows: the server's current list, or its last known one. */
export interface ShownTools {
  /** Shows the stored list. */
  showKept(stored: StoredList): void;
  /** Lists the server's tools and shows them. Rejects with an `McpFailure`. */
  update(connection: McpConnection, onAbort?: WireRequest['onAbort']): Promise<void>;
  /** Updates in the background; failures are reported. */
  updateSoon(connection: McpConnection): void;
  /** Drops the cached list of this connection. */
  forget(connection: McpConnection): void;
  /** Reports that the server cannot be reached; the last list stays. */
  fail(reason: string): void;
  /** Reports that the server is back with the same list. */
  recover(): void;
  /** True once the server has listed its tools in this process. */
  isConfirmed(): boolean;
}

const MAX_TOLD = 20;

function listOfOne(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [text];
}

export function createShownTools(options: ShownToolsOptions): ShownTools {
  const { listing, kept, told, readTools } = options;
  const lists = new WeakMap<McpConnection, Promise<ToolList>>();
  let keptHash: string | undefined;
  let leftOut: string | undefined;
  let lastTurn = 0;
  let shownTurn = 0;

  const show = (tools: readonly JsonObject[], problems: readonly string[]): void => {
    const read = readTools(tools);
    const all = [...problems, ...read.problems];
    [leftOut] = all;
    for (const trouble of all.slice(0, MAX_TOLD)) told.tell(trouble);
    listing.show(read.specs, { leftOut });
  };

  const fail = (reason: string): void => {
    listing.fail(reason);
    if (options.mayTell()) told.tell(reason);
  };

  // Concurrent requests share one list until a change is announced.
  const listOf = (connection: McpConnection, onAbort: WireRequest['onAbort']): Promise<ToolList> => {
    const asked = lists.get(connection) ?? listTools(connection, onAbort);
    lists.set(connection, asked);
    asked.catch(() => lists.get(connection) === asked && lists.delete(connection));
    return asked;
  };

  const update: ShownTools['update'] = async (connection, onAbort) => {
    const turn = ++lastTurn;
    const { tools, cut, problems } = await listOf(connection, onAbort);
    if (turn < shownTurn) return; // a later request was answered first
    shownTurn = turn;
    told.forget();
    show(tools, [...listOfOne(cut), ...problems]); // first, so that many problems do not hide it
    const now = hash('sha256', canonicalJson([tools, cut ?? null]));
    const about = { ...toKeptEra(connection.era), ...(cut !== undefined && { cut }) };
    if (now !== keptHash) kept.write(tools, { hash: now, about });
    keptHash = now;
  };

  return {
    update,
    fail,
    showKept(stored) {
      keptHash = stored.hash;
      const cut = stored.about?.cut;
      show(stored.specs.filter(isJsonObject), listOfOne(typeof cut === 'string' ? cut : undefined));
    },
    updateSoon(connection) {
      update(connection).catch((cause) => fail(`its tools cannot be listed: ${messageOf(cause)}`));
    },
    forget: (connection) => lists.delete(connection),
    recover: () => listing.show(listing.specs(), { leftOut }),
    isConfirmed: () => shownTurn > 0,
  };
}

/** The raw tool list of a server. */
interface ToolList {
  readonly tools: readonly JsonObject[];
  /** The reason the list was cut, as a sentence. */
  readonly cut?: string;
  /** Entries that were left out, as sentences. */
  readonly problems: readonly string[];
}

/** Longer lists are taken for a mistake of the server. */
const MAX_TOOLS = 10_000;
const MAX_PAGES = 1000;
const TOO_MANY = `It lists more than ${MAX_TOOLS} tools; only the first ${MAX_TOOLS} are used. Split the server, or let it list fewer tools.`;

/** Reads all pages of the tool list, within limits. */
async function listTools(connection: McpConnection, onAbort?: WireRequest['onAbort']): Promise<ToolList> {
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
      if (!isJsonObject(tool)) problems.push('An entry of its list is not a tool.');
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
      return { tools, cut: 'A page of its list has no new tools; the rest is not read.', problems };
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
  if (cursors.has(cursor)) return 'A page of its list has a cursor that was used before; the rest is not read.';
  cursors.add(cursor);
  if (page >= MAX_PAGES - 1) return `Its list has more than ${MAX_PAGES} pages; the rest is not read.`;
  if (count >= MAX_TOOLS) return TOO_MANY;
  return bytes > MAX_MESSAGE_BYTES
    ? `Its list has more than ${MAX_MESSAGE_BYTES} bytes; the rest is not read.`
    : undefined;
}

function entriesOf(result: JsonObject): readonly unknown[] {
  if (Array.isArray(result.tools)) return result.tools;
  throw new McpFailure('malformed', 'its answer is not a list of tools');
}

/** Parsed JSON can only fail the check by its depth. */
function isTooDeep(tool: unknown): boolean {
  return !isJson(tool);
}

function shortened(name: unknown): unknown {
  return typeof name === 'string' ? name.slice(0, 80) : name;
}
