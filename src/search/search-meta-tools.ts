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
/** Each with its schema: more would fill the context that the search is to save. */
const MOST_EXPANDED = 60;

const READ_ONLY = { readOnly: true, destructive: false, idempotent: true, openWorld: false };

/** Finds tools; each hit comes with all that is needed to call it. */
const searchTools: ToolSpec = defineTool({
  name: 'search_tools',
  title: 'Search tools',
  description:
    'Finds tools by what they do. Say in a sentence what should be done; each tool that is found comes with its name, description and input schema. Call it by its name where it is among your tools, otherwise with call_tool.',
  input: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 4000, description: 'What should be done, in words.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_HITS,
        description: `At most so many; ${FEW_HITS} if absent.`,
      },
      expand: { type: 'boolean', description: 'Adds the tools that belong with those that were found.' },
    },
    required: ['query'],
    additionalProperties: false,
  },
  effects: READ_ONLY,
  async run(input, call) {
    const { query, limit = FEW_HITS, expand = false } = input as SearchInput; // as its schema demands
    const { hits, ...answer } = toSearchAnswer(await call.tools.search(query, { limit, expand }));
    const tools = hits.slice(0, MOST_EXPANDED);
    if (tools.length === 0)
      return { tools: [], ...answer, note: 'No tool fits. Say it in other words, or look at list_bundles.' };
    const more = hits.length - tools.length;
    return {
      tools: tools.map(toFound),
      ...answer,
      ...(more > 0 && { note: `${more} more belong with these; list_bundles names them.` }),
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

/** What is listed; a call of it is a call of the tool that it names, see `unwrap-call.ts`. */
const callTool: ToolSpec = defineTool({
  name: 'call_tool',
  title: 'Call a tool',
  description: 'Calls a tool that search_tools has found, with the arguments that its input schema asks for.',
  input: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 200, description: 'The name of the tool.' },
      arguments: { type: 'object', description: 'Its arguments, as its input schema says.' },
    },
    required: ['name'],
    additionalProperties: false,
  },
  run: () => failed(toolError('internal', 'call_tool was reached without the tool that it names.')),
});

/** What there is to be searched. */
const listBundles: ToolSpec = defineTool({
  name: 'list_bundles',
  title: 'List bundles',
  description: 'Lists the bundles of tools that can be searched, or with a name the tools of one bundle.',
  input: {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1, maxLength: 200, description: 'The bundle to look into.' } },
    additionalProperties: false,
  },
  effects: READ_ONLY,
  run: (input, call) => showBundles((input as { readonly name?: string }).name, call), // as its schema demands
});

function showBundles(wanted: string | undefined, { tools }: ToolCall) {
  const bundles = tools.bundles();
  if (wanted === undefined)
    return {
      bundles: bundles.map(({ name, description, toolCount }) => defined({ name, description, toolCount })),
    };
  const found = bundles.find(({ name }) => name === wanted);
  if (found === undefined)
    return failed(toolError('tool_error', `There is no bundle "${wanted}"; list_bundles without a name lists them.`));
  const { name, description, toolNames } = found;
  return { name, ...(description !== undefined && { description }), tools: toolNames };
}

/** The tools for a model that searches instead of being shown everything. */
export const SEARCH_META_TOOLS: readonly ToolSpec[] = [searchTools, callTool, listBundles];

/** Enough to know what can be found, and little to carry in every request. */
const MOST_TOKENS = 500;
/** Of one description. */
const MOST_OF_ONE = 120;

/** All that some reader takes for one: what a tool says must not look like a line of ours. */
const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]/;

const described = new WeakMap<View, ToolSpec>();

/** `search_tools` with a description that says what the caller can find by it; every other spec as it is. */
export function describeSearch(spec: ToolSpec, view: View, bundles: Bundles): ToolSpec {
  if (spec.source !== META_SOURCE || spec.name !== 'search_tools') return spec;
  const known = described.get(view);
  if (known !== undefined) return known;
  const made = Object.freeze({ ...spec, description: `${spec.description}\n\n${contentsOf(view, bundles)}` });
  described.set(view, made);
  return made;
}

/** Bundles first, each with its size and what it is for; then the tools that are in none. */
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

/** One after the other: of a large catalogue only the first ones are looked at. */
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

/** The first line of a description, cut where it is long. */
function sentenceOf(description = ''): string {
  const [line = ''] = description.trim().split(LINE_ENDS, 1);
  if (line === '') return '';
  const text = Array.from(line.slice(0, 2 * MOST_OF_ONE))
    .slice(0, MOST_OF_ONE)
    .join('');
  return `: ${text.length < line.length ? `${text}…` : text}`;
}
