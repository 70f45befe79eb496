import { headersNode, type Kind } from '../../config/records.ts';
import {
  address,
  anything,
  choice,
  flag,
  mapOf,
  NAMES,
  object,
  oneOrMany,
  type SchemaNode,
  text,
  typed,
  whole,
} from '../../config/schema-node.ts';
import type { AgentModelConfig } from '../../config/types/agents.ts';
import type { BuiltInExecutorsConfig } from '../../config/types/guards.ts';
import { listOf } from '../../core/visible-text.ts';

/** The configuration of the kind `agent`. */
export type AgentConfig = NonNullable<BuiltInExecutorsConfig['agent']>;

const price = (what: string): SchemaNode => ({ type: 'number', minimum: 0, description: what });

const pricesNode = typed(
  'AgentPrices',
  object(
    'Prices of a million tokens, in any currency.',
    {
      input: price('Price of a million input tokens.'),
      output: price('Price of a million output tokens.'),
      cachedInput: price('Price of a million input tokens from the cache of the server; default that of input.'),
    },
    ['input', 'output'],
  ),
);

const modelNode = typed(
  'AgentModelConfig',
  object<AgentModelConfig>('A model and its server. The server may be on a private network.', {
    api: choice(['openai', 'anthropic'], 'The API of the server: chat completions (default), or messages.'),
    baseUrl: address('The URL of the API, without /chat/completions or /messages; default: that of the vendor.'),
    model: text('The name of the model at its server; default: the name of this entry.'),
    key: text(`The API key, usually \${secret:NAME}.`, { use: 'secretText' }),
    headers: headersNode,
    prices: pricesNode,
    maxOutputTokens: whole('Most tokens of one answer; default 8192 for anthropic, otherwise that of the server.'),
    stream: flag('Whether answers are streamed; default true.'),
    parameters: mapOf(anything('A value.'), 'Further members of each request, such as temperature.'),
  }),
);

/** Models that call tools in a loop, and agents of the host. */
export const agentKind: Kind<'agent', AgentConfig> = {
  kind: 'agent',
  pathFields: [],
  failsWith: 'tool',
  options: object<AgentConfig>('Agents: models that call tools until they answer.', {
    models: mapOf(modelNode, 'Models by the names that tools use.', NAMES),
    allowPrivate: oneOrMany(text('A host name.'), 'Private hosts that the baseUrl of a tool may name.'),
    maxDepth: whole('Most agents inside each other; default 3.', 1, 10),
    maxSteps: whole('Most requests to the model in one call of an agent; default 20.'),
    maxCalls: whole('Most calls of tools in one call of an agent; default 100.'),
    parallelCalls: whole('Most calls of one agent at the same time; further ones wait. Default 8.'),
    maxTokens: whole('Most tokens of one call of an agent, with the agents inside it; default 500000.'),
    maxCost: {
      type: 'number',
      minimum: 0,
      description: 'Most cost of one call of an agent, with the agents inside it, by the prices of its model.',
    },
    maxResultChars: whole('Most characters of one tool result that the model gets; the rest is cut. Default 50000.'),
    requestTimeoutMs: whole('A request fails if the server sends nothing for this time; default 120000.'),
    retries: whole('How often a request is repeated when the server is busy or fails; default 2.', 0, 10),
  }),
  async open({ options, ...ports }) {
    const { agentExecutor } = await import('./agent-executor.ts');
    return { executor: agentExecutor({ ...ports, options, allowPrivate: () => listOf(options().allowPrivate) }) };
  },
};
