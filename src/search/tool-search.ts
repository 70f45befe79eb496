import { isRecord, type JsonSchema, type MaybePromise } from '../core/json.ts';
import { describe, readMember, readNameList, readOptions } from '../core/read-options.ts';
import type { Embedder, Ranked } from '../core/retriever.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';
import { toSchemaPair } from '../schemas/standard-schema.ts';
import { systemClock } from '../system/clock.ts';
import { guardedFetch } from '../system/fetch/guarded-fetch.ts';
import { builtinRetriever } from './builtin-retriever.ts';
import { createRetriever as createIndex, type KeptRetriever } from './create-retriever.ts';
import { createDenseIndex } from './dense/dense-index.ts';
import { endpointEmbedder } from './dense/endpoint-embedder.ts';

export type { Confidence, Embedder, Ranked } from '../core/retriever.ts';

/** A searchable tool: of Toolcrib, or a definition for MCP, OpenAI, Anthropic or Gemini. Other members are ignored. */
export type SearchableTool = ToolTexts | { readonly type: 'function'; readonly function: ToolTexts };

/** The searched members of a tool; a schema may be a Standard Schema or a JSON Schema. */
export interface ToolTexts {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly category?: string | undefined;
  readonly tags?: string | readonly string[] | undefined;
  /** The server or library of the tool. */
  readonly source?: string | undefined;
  readonly input?: unknown;
  readonly inputSchema?: unknown;
  readonly input_schema?: unknown;
  readonly parameters?: unknown;
}

/** An OpenAI-compatible endpoint: POST {url}/embeddings. */
export interface EmbeddingsEndpoint {
  readonly url: string;
  readonly model: string;
  /** A function is called before each request. */
  readonly key?: string | (() => MaybePromise<string | undefined>);
}

/** Options for creating a retriever. */
export interface ToolRetrieverOptions {
  /** Vectors for comparing meanings: those of the package (default), none (words only), an endpoint, or your own embedder. */
  readonly embeddings?: 'builtin' | 'none' | EmbeddingsEndpoint | Embedder;
  /** A result of `snapshot`: adding the same tools again then costs almost nothing. */
  readonly snapshot?: Uint8Array;
  /** Called when search falls back to words only; default: a process warning. */
  readonly warn?: (message: string) => void;
}

/** Options for a search. */
export interface ToolSearchOptions<Tool> {
  /** Default 10. */
  readonly limit?: number;
  /** Minimum score of a hit. */
  readonly minScore?: number;
  /** Only tools that pass this filter are found. */
  readonly filter?: (tool: Tool) => boolean;
}

/** A tool that fits a request, with a score from 0 to 1 and the reasons. */
export interface ToolHit<Tool> extends Ranked {
  readonly description: string;
  readonly tool: Tool;
}

/** Finds tools by requests in words. */
export interface ToolRetriever<Tool> {
  readonly size: number;
  /** Adds all tools or, if one is invalid, none. A tool replaces another one with the same name. */
  add(tools: Tool | readonly Tool[]): void;
  remove(names: string | readonly string[]): void;
  get(name: string): Tool | undefined;
  /** The best matches, best first. */
  search(query: string, options?: ToolSearchOptions<Tool>): Promise<readonly ToolHit<Tool>[]>;
  /** Everything that was indexed, for the next retriever of the same tools. */
  snapshot(): Uint8Array;
}

interface Kept<Tool> {
  readonly tool: Tool;
  readonly description: string;
}

const DEFAULT_LIMIT = 10;

/** Creates a retriever of tools, without a crib. */
export function createRetriever<Tool extends SearchableTool>(
  tools: readonly Tool[] = [],
  options: ToolRetrieverOptions = {},
): ToolRetriever<Tool> {
  const index = openIndex(readRetrieverOptions(options));
  const kept = new Map<string, Kept<Tool>>();
  const add = (given: Tool | readonly Tool[]) => {
    const list = (Array.isArray(given) ? given : [given]) as readonly Tool[]; // a tool is not a list
    const specs = list.map((tool, place) => toSearchedSpec(tool, `tools[${place}]`));
    index.add(specs);
    for (const [place, { name, description }] of specs.entries())
      kept.set(name, { tool: list[place] as Tool, description }); // one spec for each tool
  };
  add(tools);
  return {
    get size() {
      return kept.size;
    },
    add,
    remove(names) {
      const list = readNameList(names, 'remove');
      index.remove(list);
      for (const name of list) kept.delete(name);
    },
    get: (name) => kept.get(name)?.tool,
    async search(query, given = {}) {
      if (typeof query !== 'string')
        throw new ToolcribError('invalid_option', `search: the query must be text, got ${describe(query)}.`);
      const { limit = DEFAULT_LIMIT, minScore, filter } = readSearchOptions<Tool>(given);
      const isWanted = ({ tool }: Kept<Tool>) => filter === undefined || filter(tool);
      const among = (name: string) => {
        const one = kept.get(name);
        return one !== undefined && isWanted(one);
      };
      const ranked = await index.rank(query, { limit, among, ...(minScore !== undefined && { minScore }) });
      return ranked.flatMap((hit) => {
        const one = kept.get(hit.name); // ranking may have waited: tools that are gone meanwhile are dropped
        return one === undefined ? [] : [{ ...hit, ...one }];
      });
    },
    snapshot: () => index.snapshot(),
  };
}

const SEARCH_KEYS = ['limit', 'minScore', 'filter'] as const;

function readSearchOptions<Tool>(given: unknown): ToolSearchOptions<Tool> {
  const options = readOptions<ToolSearchOptions<Tool>>(given, SEARCH_KEYS, 'search');
  const { limit = 0, minScore = 0, filter = () => true } = options;
  const wrong = (key: string, wanted: string, value: unknown) =>
    new ToolcribError('invalid_option', `search: "${key}" must be ${wanted}, got ${describe(value)}.`);
  if (typeof limit !== 'number' || !(limit >= 0)) throw wrong('limit', 'a number of at least 0', limit);
  if (typeof minScore !== 'number' || Number.isNaN(minScore)) throw wrong('minScore', 'a number', minScore);
  if (typeof filter !== 'function') throw wrong('filter', 'a function', filter);
  return options;
}

const OPTION_KEYS = ['embeddings', 'snapshot', 'warn'] as const;

function readRetrieverOptions(given: unknown): ToolRetrieverOptions {
  const options = readOptions<ToolRetrieverOptions>(given, OPTION_KEYS, 'createRetriever');
  const { snapshot, warn } = options;
  if (snapshot !== undefined && !(snapshot instanceof Uint8Array))
    throw invalid(`snapshot must be the result of snapshot(), got ${describe(snapshot)}`);
  if (warn !== undefined && typeof warn !== 'function') throw invalid(`warn must be a function, got ${describe(warn)}`);
  return options;
}

function invalid(what: string): ToolcribError {
  return new ToolcribError('invalid_option', `createRetriever: ${what}.`);
}

function openIndex({ embeddings = 'builtin', snapshot, warn = warnProcess }: ToolRetrieverOptions): KeptRetriever {
  const settings = snapshot === undefined ? {} : { snapshot };
  if (embeddings === 'none') return createIndex(settings);
  if (embeddings === 'builtin') return builtinRetriever({ ...settings, clock: systemClock, warn });
  const embedder = readEmbedder(embeddings);
  const dense = (kept: Uint8Array | undefined) =>
    createDenseIndex({ embedder, snapshot: kept, clock: systemClock, warn });
  return createIndex({ ...settings, dense });
}

function warnProcess(message: string): void {
  process.emitWarning(message, 'ToolcribWarning');
}

function readEmbedder(given: unknown): Embedder {
  if (!isRecord(given))
    throw invalid(
      `embeddings must be "builtin", "none", { url, model, key? } or { model, embed }, got ${describe(given)}`,
    );
  const { model, embed, url, key } = given;
  if (typeof model !== 'string' || model === '') throw invalid('embeddings must have a model');
  if (typeof embed === 'function') return given as unknown as Embedder; // it has both members
  const address = typeof url === 'string' ? URL.parse(url) : null;
  if (typeof url !== 'string' || address === null || !/^https?:$/.test(address.protocol))
    throw invalid(`embeddings.url must be an http or https address, got ${describe(url)}`);
  return endpointEmbedder({
    url,
    model,
    clock: systemClock,
    ...(key !== undefined && { key: typeof key === 'function' ? () => key() : () => String(key) }),
    fetch: (place, request) => guardedFetch(place, { ...request, allowPrivate: 'first' }), // the program itself names the host
  });
}

const SCHEMA_KEYS = ['input', 'inputSchema', 'input_schema', 'parameters'] as const;

/** The searched members of a tool as a spec, which never runs. */
function toSearchedSpec(tool: unknown, place: string): ToolSpec {
  const texts = isRecord(tool) ? (readMember(tool, 'function', place) ?? tool) : undefined;
  if (!isRecord(texts))
    throw new ToolcribError(
      'not_a_tool',
      `${place} is not a tool: it is ${describe(tool)}; a tool is an object with a name.`,
    );
  const name = readMember(texts, 'name', place);
  if (typeof name !== 'string' || name === '') throw new ToolcribError('not_a_tool', `${place} has no name.`);
  const what = `"${name}"`;
  const [description, title, category, source] = ['description', 'title', 'category', 'source'].map((key) =>
    readText(readMember(texts, key, what), `${what}: ${key}`),
  );
  const tags = readMember(texts, 'tags', what);
  const schema = SCHEMA_KEYS.map((key) => readMember(texts, key, what)).find((one) => one !== undefined);
  return {
    name,
    description: description ?? '',
    ...(title !== undefined && { title }),
    ...(category !== undefined && { category }),
    input: schema === undefined ? {} : toJsonSchema(schema, what),
    tags: tags === undefined ? [] : readNameList(tags, `${what}: tags`),
    effects: {},
    policy: {},
    source: source ?? '',
    origin: name,
    [RUN]: { kind: 'function' },
  };
}

function readText(value: unknown, what: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new ToolcribError('invalid_option', `${what} must be text, got ${describe(value)}.`);
}

function toJsonSchema(schema: unknown, what: string): JsonSchema {
  // Only texts of a JSON Schema are searched, so the rest need not be checked here.
  if (isRecord(schema) && Object.getPrototypeOf(schema) === Object.prototype && schema['~standard'] === undefined)
    return schema;
  try {
    return toSchemaPair(schema, 'input').schema;
  } catch (cause) {
    throw new ToolcribError('invalid_schema', `${what}: ${messageOf(cause)}`, { cause });
  }
}
