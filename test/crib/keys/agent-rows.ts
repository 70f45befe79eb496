import { ALICE, calls, outcomeOf, type Row, type Show, tool, type Written } from './rows.ts';

const MODEL = { baseUrl: 'SERVER/model', model: 'm' };

const helper = (run: Written = {}): Written => ({
  name: 'helper',
  description: 'Helps',
  input: { type: 'object' },
  run: { kind: 'agent', model: 'local', ...run },
});

function side(settings: Written, model: Written, run: Written = {}): Written {
  return {
    tools: [tool(), tool({}, 'together'), tool({}, 'large'), helper(run)],
    executors: { agent: { retries: 0, models: { local: { ...MODEL, ...model } }, ...settings } },
    secrets: { one: { env: 'KEYS_ONE', hosts: ['127.0.0.1'] } },
  };
}

/** The result of the agent, and the requests that its server got. */
const asked: Show = async ({ crib, upstream }) => {
  const result = await (await crib.open(undefined, ALICE)).call('helper', {});
  const sent = upstream.asked.map(({ path, body, headers }) => [path, headers.authorization, headers['x-own'], body]);
  return [outcomeOf(result), result.meta, sent];
};

function limit(key: string, [before, after]: readonly [Written, Written], model: Written = {}): Row {
  return {
    key: `executors.agent.${key}`,
    before: side(before, model),
    after: side(after, model),
    show: calls('helper', [ALICE]),
  };
}

function ofModel(key: string, value: unknown): Row {
  const member = key.split('.')[0] ?? '';
  const before = member === 'prices' ? { prices: PRICES } : {};
  return {
    key: `executors.agent.models.*.${key}`,
    before: side({}, before),
    after: side({}, { [member]: value }),
    show: asked,
  };
}

/** A model whose first reply has this many calls of a tool. */
const making = (count: number, name = 'echo'): Written => ({ baseUrl: `SERVER/model/${count}/${name}` });
const nested = (maxDepth: number): readonly [Written, Written] => [{}, { maxDepth }];

const PRICES = { input: 1, output: 2 };

process.env.KEYS_ONE = 'one';

export const agentRows: readonly Row[] = [
  limit('maxDepth', nested(1), making(1, 'helper')),
  limit('maxSteps', [{}, { maxSteps: 1 }], making(1)),
  limit('maxCalls', [{}, { maxCalls: 1 }], making(2)),
  limit('parallelCalls', [{}, { parallelCalls: 1 }], making(2, 'together')),
  limit('maxTokens', [{}, { maxTokens: 1 }], making(1)),
  limit('maxCost', [{}, { maxCost: 1 }], { ...making(1), prices: { input: 1_000_000, output: 1_000_000 } }),
  limit('maxResultChars', [{}, { maxResultChars: 10 }], making(1, 'large')),
  limit('requestTimeoutMs', [{}, { requestTimeoutMs: 20 }], { baseUrl: 'SERVER/model/slow' }),
  limit('retries', [{}, { retries: 1 }], { baseUrl: 'SERVER/model/busy-once' }),
  {
    key: 'executors.agent.allowPrivate',
    before: side({}, {}, { baseUrl: 'SERVER/model' }),
    after: side({ allowPrivate: '127.0.0.1' }, {}, { baseUrl: 'SERVER/model' }),
    show: calls('helper', [ALICE]),
  },
  ofModel('api', 'anthropic'),
  ofModel('baseUrl', 'SERVER/model/other'),
  ofModel('model', 'other'),
  ofModel('key', '$' + '{secret:one}'),
  ofModel('headers', { 'X-Own': 'yes' }),
  ofModel('maxOutputTokens', 7),
  ofModel('stream', false),
  ofModel('parameters', { temperature: 0 }),
  ofModel('prices.input', { ...PRICES, input: 2 }),
  ofModel('prices.output', { ...PRICES, output: 3 }),
  ofModel('prices.cachedInput', { ...PRICES, cachedInput: 0 }),
];
