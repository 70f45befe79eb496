import type { ServerEventBus } from '@modelcontextprotocol/server';
import { isRecord, type JsonSchema } from '../../core/json.ts';
import { META_SOURCE } from '../../core/meta-tools.ts';
import type { KindTraits, TraitsOf } from '../../core/ports/extension-ports.ts';
import { kindOf, type ToolSpec } from '../../core/tool-spec.ts';
import type { CribServer } from '../../crib/crib-server.ts';
import { type McpTool, toMcp } from '../../formats/mcp.ts';
import { type Era, listedOutput, type OutputShape } from './output-schema.ts';

/** The list of one caller at one moment. Equal lists are the same object while it is cached. */
export interface ToolListing {
  /** One page; undefined if the cursor is invalid. */
  page(era: Era, cursor?: string): Page | undefined;
}

/** One page of tools. */
interface Page {
  tools(): readonly McpTool[];
  /** The tools as JSON, cached. */
  text(): string;
  readonly nextCursor?: string;
}

/** Finds or creates the listing of these specs. */
export type Listings = (specs: readonly ToolSpec[], options: { readonly mayBeKept: boolean }) => ToolListing;

/** Tools per page. Few clients ask for a second page, so the first one is large. */
const PAGE_TOOLS = 1000;
/** Maximum number of pages: clients treat a longer list as endless. */
const MOST_PAGES = 60;
/** Number of cached listings: profiles times callers with different views. */
const REMEMBERED = 32;

/** Creates the cache of listings and tool texts. */
export function createListings(traitsOf: TraitsOf): Listings {
  const writer = createToolWriter(traitsOf);
  const recent: { readonly specs: readonly ToolSpec[]; readonly mayBeKept: boolean; readonly listing: ToolListing }[] =
    [];
  return (specs, { mayBeKept }) => {
    const at = recent.findIndex((known) => known.mayBeKept === mayBeKept && isSameList(known.specs, specs));
    const [found] = at === -1 ? [] : recent.splice(at, 1);
    const entry = found ?? { specs, mayBeKept, listing: createListing(specs, mayBeKept, writer) };
    recent.unshift(entry);
    recent.length = Math.min(recent.length, REMEMBERED);
    return entry.listing;
  };
}

function isSameList(a: readonly ToolSpec[], b: readonly ToolSpec[]): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((spec, index) => isSameEntry(spec, b[index]));
}

/** The listed members of a spec. An unchanged tool keeps these objects when the catalog changes. */
const LISTED = ['name', 'title', 'description', 'input', 'output', 'effects', 'meta', 'source'] as const;

function isSameEntry(a: ToolSpec, b: ToolSpec | undefined): boolean {
  return a === b || (b !== undefined && LISTED.every((key) => a[key] === b[key]));
}

/** Writes entries of `tools/list`. */
interface ToolWriter {
  toolOf(spec: ToolSpec, shape: OutputShape): McpTool;
  /** The entry as JSON, cached. */
  textOf(spec: ToolSpec, shape: OutputShape): string;
}

function createListing(specs: readonly ToolSpec[], mayBeKept: boolean, { toolOf, textOf }: ToolWriter): ToolListing {
  const pageTools = Math.max(PAGE_TOOLS, Math.ceil(specs.length / MOST_PAGES));
  const texts = new Map<string, string>();
  const write = (era: Era, from: number): string => {
    const shape = { era, mayBeKept };
    return `[${specs
      .slice(from, from + pageTools)
      .map((spec) => textOf(spec, shape))
      .join(',')}]`;
  };
  return {
    page(era, cursor) {
      const from = cursor === undefined ? 0 : placeOf(cursor, specs);
      if (from === undefined) return undefined;
      const to = from + pageTools;
      return {
        tools: () => specs.slice(from, to).map((spec) => toolOf(spec, { era, mayBeKept })),
        text() {
          const key = `${era} ${from}`;
          const text = texts.get(key) ?? write(era, from);
          if (from % pageTools === 0) texts.set(key, text); // odd cursors do not fill the cache
          return text;
        },
        ...(to < specs.length && { nextCursor: toCursor(specs, to) }),
      };
    },
  };
}

function createToolWriter(traitsOf: TraitsOf): ToolWriter {
  const known = new WeakMap<ToolSpec, Map<string, string>>();
  const toolOf: ToolWriter['toolOf'] = (spec, shape) => toListedTool(spec, shape, traitsOf(kindOf(spec)));
  return {
    toolOf,
    textOf(spec, shape) {
      const texts = known.get(spec) ?? new Map<string, string>();
      known.set(spec, texts);
      const key = `${shape.era} ${shape.mayBeKept}`;
      const text = texts.get(key) ?? JSON.stringify(toolOf(spec, shape));
      texts.set(key, text);
      return text;
    },
  };
}

/** A cursor with the last tool sent, so that a changed list continues at the right place. */
function toCursor(specs: readonly ToolSpec[], to: number): string {
  return Buffer.from(`${to}:${specs[to - 1]?.name}`).toString('base64url');
}

function placeOf(cursor: string, specs: readonly ToolSpec[]): number | undefined {
  const [, count, name] = /^(\d{1,9}):([\w-]{1,48})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (count === undefined) return undefined;
  const place = Number(count);
  if (specs[place - 1]?.name === name) return place;
  const found = specs.findIndex((spec) => spec.name === name);
  return found === -1 ? Math.min(place, specs.length) : found + 1;
}

/** An entry of `tools/list`. Icons and `_meta` of an upstream MCP server are passed on unchanged. */
function toListedTool(spec: ToolSpec, shape: OutputShape, { hasMcpMeta }: KindTraits): McpTool {
  const [tool] = toMcp([spec]);
  if (tool === undefined) throw new Error(`"${spec.name}" cannot be listed.`);
  const { outputSchema: _natural, inputSchema, ...rest } = tool;
  const mayBeKept = shape.mayBeKept && spec.source !== META_SOURCE;
  const output = spec.output === undefined ? undefined : listedOutput(spec.output, { ...shape, mayBeKept });
  return {
    ...rest,
    inputSchema: withObjectProperties(inputSchema),
    ...(output !== undefined && { outputSchema: withObjectProperties(output) }),
    ...(hasMcpMeta === true && extrasOf(spec.meta ?? {})),
  } as McpTool; // in the newer revision an output schema may have any root
}

/** Keeps only valid icons: clients reject a whole list because of one icon without a URL. */
function extrasOf({ icons, _meta }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const shown = Array.isArray(icons) ? icons.filter(isIcon) : [];
  return { ...(shown.length > 0 && { icons: shown }), ...(isRecord(_meta) && { _meta }) };
}

function isIcon(icon: unknown): boolean {
  if (!isRecord(icon) || typeof icon.src !== 'string') return false;
  const { mimeType, sizes, theme } = icon;
  const isText = (value: unknown) => typeof value === 'string';
  return (
    (mimeType === undefined || isText(mimeType)) &&
    (sizes === undefined || (Array.isArray(sizes) && sizes.every(isText))) &&
    (theme === undefined || theme === 'light' || theme === 'dark')
  );
}

/** Replaces boolean schemas of properties: they are valid, but older clients reject a list with them. */
function withObjectProperties<Schema extends JsonSchema>(schema: Schema): Schema {
  const { properties } = schema;
  if (!isRecord(properties) || Object.values(properties).every((property) => typeof property === 'object'))
    return schema;
  const entries = Object.entries(properties).map(([name, property]) => {
    if (typeof property !== 'boolean') return [name, property];
    return [name, property ? {} : { not: {} }];
  });
  return { ...schema, properties: Object.fromEntries(entries) };
}

/** Notifies clients of list changes. A client hears only of changes in its own list, so that hidden tools stay hidden. */
export interface ListChanges {
  /** Calls `changed` when the listing changes; returns a function that stops it. */
  follow(look: () => Promise<ToolListing>, changed: () => void): () => void;
  close(): void;
}

/** Watches the crib while at least one client follows. */
export function createListChanges({ onListings }: Pick<CribServer, 'onListings'>): ListChanges {
  const lookers = new Set<() => void>();
  let stop = () => {};
  const lookAll = () => {
    for (const look of lookers) look();
  };
  return {
    follow(look, changed) {
      if (lookers.size === 0) stop = onListings(lookAll);
      const see = () => look().catch(() => undefined); // the profile no longer exists
      // Looks run one after another: with concurrent looks, an outdated one could win.
      let isSeen = false;
      let last = see().finally(() => {
        isSeen = true;
      });
      const lookAgain = () => {
        const isEarly = !isSeen; // the first look may already include this change, and the client never saw the list before it
        last = last.then(async (before) => {
          const now = await see();
          if ((isEarly || now !== before) && lookers.has(lookAgain)) changed();
          return now;
        });
      };
      lookers.add(lookAgain);
      return () => {
        if (lookers.delete(lookAgain) && lookers.size === 0) stop();
      };
    },
    close() {
      lookers.clear();
      stop();
    },
  };
}

/** The event bus of the MCP SDK: each stream follows the listing of its own client. */
export function createEventBus(follow: (changed: () => void) => () => void): ServerEventBus {
  return {
    publish: () => {},
    subscribe: (listener) => follow(() => listener({ kind: 'tools_list_changed' })),
  };
}
