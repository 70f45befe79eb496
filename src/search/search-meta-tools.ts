import { defined } from '../core/defined.ts';
import type { SearchHit } from '../core/retriever.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { defineTool } from '../define/define-tool.ts';

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
    const hits = await call.tools.search(query, { limit, expand });
    const tools = hits.slice(0, MOST_EXPANDED);
    if (tools.length === 0) return { tools: [], note: 'No tool fits. Say it in other words, or look at list_bundles.' };
    const more = hits.length - tools.length;
    return {
      tools: tools.map(toFound),
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
