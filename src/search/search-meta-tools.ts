import type { Bundles } from '../core/bundle.ts';
import { META_SOURCE, RESERVED_NAMES } from '../core/meta-tools.ts';
import { defined } from '../core/read-options.ts';
import { type SearchHit, toSearchAnswer } from '../core/retriever.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { View } from '../core/view.ts';
import { defineTool } from '../define/define-tool.ts';
import { estimateTokens } from '../formats/token-cost.ts';

const FEW_HITS = 5;
const MOST_HITS = 20;
/** Limit of expanded hits, each with its schema: more would fill the context that search is meant to save. */
const MOST_EXPANDED = 60;

const READ_ONLY = { readOnly: true, destructive: false, idempotent: true, openWorld: false };

/** Finds tools. Each hit contains everything that is needed to call it. */
const searchTools: ToolSpec = defineTool({
  name: 'search_tools',
  title: 'Search tools',
  description:
    'Finds tools by what they do. Describe in one sentence what should be done. Each result has the name, description and input schema of a tool. If the tool is in your list of tools, call it by its name; otherwise call it with call_tool.',
  input: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 4000, description: 'A description of what should be done.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_HITS,
        description: `Maximum number of results; default ${FEW_HITS}.`,
      },
      expand: { type: 'boolean', description: 'Also return the tools that belong with the results.' },
    },
    required: ['query'],
    additionalProperties: false,
  },
  effects: READ_ONLY,
  async run(input, call) {
    const { query, limit = FEW_HITS, expand = false } = input as SearchInput; // validated by its schema
    const { hits, ...answer } = toSearchAnswer(await call.tools.search(query, { limit, expand }));
    const tools = hits.slice(0, MOST_EXPANDED);
    if (tools.length === 0)
      return { tools: [], ...answer, note: 'No tool found. Use other words, or call list_bundles.' };
    const more = hits.length - tools.length;
    return {
      tools: tools.map(toFound),
      ...answer,
      ...(more > 0 && { note: `${more} more tools belong with these; call list_bundles to see them.` }),
    };
  },
});

interface SearchInput {
  readonly query: string;
  readonly limit?: number;
  readonly expand?: boolean;
}

function toFound({ name, description, bundle, score, spec }: SearchHit) {
  return defined({ name, description, inputSchema: spec.input, bundle, score: Math.round(score * 1000) / 1000 });
}

/** Only listed; a call of it is turned into a call of the tool that it names, see `unwrap-call.ts`. */
const callTool: ToolSpec = defineTool({
  name: 'call_tool',
  title: 'Call a tool',
  description: 'Calls a tool that search_tools has found, with arguments that match its input schema.',
  input: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 200, description: 'The name of the tool.' },
      arguments: { type: 'object', description: 'Arguments that match its input schema.' },
    },
    required: ['name'],
    additionalProperties: false,
  },
  run: () => failed(toolError('internal', 'call_tool was run itself instead of the tool that it names.')),
});

/** Lists what can be searched. */
const listBundles: ToolSpec = defineTool({
  name: 'list_bundles',
  title: 'List bundles',
  description: 'Lists the bundles of tools that can be searched or, with a name, the tools of one bundle.',
  input: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 200, description: 'The bundle whose tools to list.' },
    },
    additionalProperties: false,
  },
  effects: READ_ONLY,
  run: (input, call) => showBundles((input as { readonly name?: string }).name, call), // validated by its schema
});

function showBundles(wanted: string | undefined, { tools }: ToolCall) {
  const bundles = tools.bundles();
  if (wanted === undefined)
    return {
      bundles: bundles.map(({ name, description, toolCount }) => defined({ name, description, toolCount })),
    };
  const found = bundles.find(({ name }) => name === wanted);
  if (found === undefined)
    return failed(
      toolError('tool_error', `Bundle "${wanted}" not found. Call list_bundles without a name to list all bundles.`),
    );
  const { name, description, toolNames } = found;
  return { name, ...(description !== undefined && { description }), tools: toolNames };
}

/** The tools for a model that searches instead of seeing all tools. */
export const SEARCH_META_TOOLS: readonly ToolSpec[] = [searchTools, callTool, listBundles];

/** Token limit for the contents in the description: enough to know what can be found, but small, because every request carries it. */
const MOST_TOKENS = 500;
/** Length limit of one description. */
const MOST_OF_ONE = 120;

/** Every character that some reader treats as a line end: a tool's text must not look like a line of ours. */
const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]/;

const described = new WeakMap<View, ToolSpec>();

/** Adds the contents to the description of `search_tools`; other specs stay unchanged. */
export function describeSearch(spec: ToolSpec, view: View, bundles: Bundles): ToolSpec {
  if (spec.source !== META_SOURCE || spec.name !== 'search_tools') return spec;
  const known = described.get(view);
  if (known !== undefined) return known;
  const made = Object.freeze({ ...spec, description: `${spec.description}\n\n${contentsOf(view, bundles)}` });
  described.set(view, made);
  return made;
}

/** Lists bundles first, each with its size and description; then the tools without a bundle. */
function contentsOf(view: View, bundles: Bundles): string {
  const total = view.names.filter((name) => !RESERVED_NAMES.includes(name)).length;
  const lines = [`It searches ${tools(total)}:`];
  let left = MOST_TOKENS;
  for (const line of linesOf(view, bundles)) {
    left -= estimateTokens(line);
    if (left < 0) return [...lines, '- and more'].join('\n');
    lines.push(line);
  }
  return lines.join('\n');
}

/** A generator: of a large catalog only the first lines are needed. */
function* linesOf(view: View, bundles: Bundles): Generator<string> {
  for (const { name, definition, members } of bundles.all) {
    const count = members.filter(view.has).length;
    if (count > 0) yield `- ${name} (${tools(count)})${sentenceOf(definition.description)}`;
  }
  for (const name of view.names) {
    if (RESERVED_NAMES.includes(name) || bundles.of(name).length > 0) continue;
    yield `- ${name}${sentenceOf(view.get(name)?.description)}`;
  }
}

function tools(count: number): string {
  return count === 1 ? '1 tool' : `${count} tools`;
}

/** The first line of a description, cut if it is long. */
function sentenceOf(description = ''): string {
  const [line = ''] = description.trim().split(LINE_ENDS, 1);
  if (line === '') return '';
  const text = Array.from(line.slice(0, 2 * MOST_OF_ONE))
    .slice(0, MOST_OF_ONE)
    .join('');
  return `: ${text.length < line.length ? `${text}…` : text}`;
}
