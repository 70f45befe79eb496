import { defined } from '../core/read-options.ts';
import { type SearchHit, toSearchAnswer } from '../core/retriever.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { defineTool } from '../define/define-tool.ts';
import { estimateTokens } from '../formats/token-cost.ts';
import { toSignature } from '../formats/typescript.ts';

const FEW_HITS = 5;
const FEW_FOR_GOAL = 10;
const MOST_HITS = 20;
/** Limit of expanded hits, each with its schema: more would fill the context that search is meant to save. */
const MOST_EXPANDED = 60;

const READ_ONLY = { readOnly: true, destructive: false, idempotent: true, openWorld: false };

/** Finds tools. Each hit contains everything that is needed to call it. */
const searchTools: ToolSpec = defineTool({
  name: 'search_tools',
  title: 'Search tools',
  description:
    'Finds tools by what they do. Describe in one sentence what should be done. Pass a job of several steps as goal. Each result has the name, description and input schema of a tool. If the tool is in your list of tools, call it by its name; otherwise call it with call_tool.',
  input: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 4000, description: 'A description of what should be done.' },
      goal: {
        type: 'string',
        minLength: 1,
        maxLength: 4000,
        description: 'Instead of query: a job of several steps. Finds the tools for each step.',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_HITS,
        description: `Maximum number of results; default ${FEW_HITS}, for a goal ${FEW_FOR_GOAL}.`,
      },
      expand: { type: 'boolean', description: 'Also return the tools that belong with the results.' },
    },
    additionalProperties: false,
  },
  effects: READ_ONLY,
  async run(input, call) {
    const found = await searchFor(input as SearchInput, call); // validated by its schema
    if (found === undefined)
      return failed(toolError('invalid_input', 'search_tools: pass query, or goal for a job of several steps.'));
    const { hits, ...answer } = toSearchAnswer(found);
    const tools = hits.slice(0, MOST_EXPANDED);
    const isForScripts = call.tools.list().some(({ name }) => name === 'execute_script');
    if (tools.length === 0)
      return {
        tools: [],
        ...answer,
        note: `No tool found. Use other words${isForScripts ? '' : ', or call list_bundles'}.`,
      };
    if (isForScripts) return { ...toSignatures(tools), ...answer };
    const more = hits.length - tools.length;
    return {
      tools: tools.map(toFound),
      ...answer,
      ...(more > 0 && { note: `${more} more tools belong with these; call list_bundles to see them.` }),
    };
  },
});

interface SearchInput {
  readonly query?: string;
  readonly goal?: string;
  readonly limit?: number;
  readonly expand?: boolean;
}

/** Searches for a query or a goal; undefined if both or neither are given. */
async function searchFor({ query, goal, limit, expand = false }: SearchInput, { tools }: ToolCall) {
  if (query !== undefined && goal !== undefined) return undefined;
  if (query !== undefined) return tools.search(query, { limit: limit ?? FEW_HITS, expand });
  return goal === undefined ? undefined : tools.search({ goal }, { limit: limit ?? FEW_FOR_GOAL, expand });
}

function toFound({ name, description, bundle, score, spec }: SearchHit) {
  return defined({ name, description, inputSchema: spec.input, bundle, score: Math.round(score * 1000) / 1000 });
}

/** Token limit for the signatures in one answer. */
const MOST_SIGNATURE_TOKENS = 2000;

/** The hits for a script: their TypeScript signatures, within a token budget; further hits only by name. */
function toSignatures(hits: readonly SearchHit[]) {
  let left = MOST_SIGNATURE_TOKENS;
  return {
    tools: hits.map(({ name, description, bundle, spec }) => {
      const full = defined({ signature: toSignature(spec), description, bundle });
      left -= estimateTokens(JSON.stringify(full));
      return left < 0 ? { name } : full;
    }),
  };
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
