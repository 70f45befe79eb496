// A tool that is an agent: a model answers with the tools of another profile. The model is a fake server: no network, no key.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createCrib, defineTool, textOf } from 'toolcrib';
import { fromOpenAICalls } from 'toolcrib/formats/openai';
import { z } from 'zod';

const stock: Record<string, number> = { chair: 4, table: 0 };
const count = defineTool({
  name: 'stock_count',
  description: 'Count an article in stock',
  input: z.object({ article: z.string() }),
  effects: { readOnly: true },
  run: ({ article }) => stock[article] ?? 0,
});
const discard = defineTool({
  name: 'stock_discard',
  description: 'Throw an article away',
  input: z.object({ article: z.string() }),
  effects: { destructive: true },
  run: ({ article }) => delete stock[article],
});
const question = { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] };

const server = await startModel();
const { port } = server.address() as AddressInfo;
const crib = await createCrib({
  tools: [
    count,
    discard,
    {
      name: 'clerk',
      description: 'Answer questions about the stock',
      input: question,
      run: { kind: 'agent', profile: 'store', model: 'local', instructions: 'Be brief.', maxSteps: 5, maxCost: 0.01 },
    },
    {
      name: 'own_clerk',
      description: 'The same, by a function of this program',
      input: question,
      run: { kind: 'agent', profile: 'store', host: 'clerk' },
    },
  ],
  profiles: {
    desk: { include: ['clerk', 'own_clerk'], delegate: { store: 'open' } },
    store: { include: ['stock_*'] },
  },
  agents: {
    // An agent of the AI SDK, LangChain, Mastra or OpenAI Agents stands here: toAiSdk(chest.list(), chest).
    clerk: async ({ chest, spend }) => {
      spend({ inputTokens: 20, outputTokens: 5 });
      const [answer] = await chest.callAll(
        fromOpenAICalls({ tool_calls: [wants('stock_count', { article: 'chair' })] }),
      );
      return `There are ${answer === undefined ? 'no' : textOf(answer.result)} chairs.`;
    },
  },
  config: {
    executors: {
      agent: { models: { local: { baseUrl: `http://127.0.0.1:${port}/v1`, prices: { input: 0.25, output: 2 } } } },
    },
  },
  store: 'memory',
});

const desk = await crib.open('desk', { id: 'alice' });
assert.deepEqual(
  desk.list().map(({ name }) => name),
  ['clerk', 'own_clerk', 'delegate'],
);
const answer = await desk.call('clerk', { question: 'How many chairs?' }, { onProgress: (step) => console.log(step) });
// The model also tried to throw the chairs away. That needs an approval, and no approver was present: it was told so.
assert.equal(textOf(answer), 'There are 4 chairs. I may not throw them away.');
assert.equal(stock.chair, 4);
console.log(answer.meta?.['toolcrib/agent']);

assert.equal(textOf(await desk.call('own_clerk', { question: 'How many chairs?' })), 'There are 4 chairs.');
const rows = await crib.calls.list({ tool: 'stock_count' });
assert.ok(rows.every(({ caller, profile, parentId }) => caller === 'alice' && profile === 'store' && parentId));
await crib.close();
server.close();

function wants(name: string, input: object, id = name) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

/** A server that speaks chat completions: it counts, tries to discard, and answers with what it was told. */
async function startModel() {
  const model = createServer(async (request, response) => {
    const { messages } = (await json(request)) as { messages: { role: string; content: string }[] };
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    const [counted, discarded = ''] = results;
    const tool_calls = [wants('stock_count', { article: 'chair' }), wants('stock_discard', { article: 'chair' })];
    const ending = discarded.startsWith('denied') ? 'I may not throw them away.' : 'They are gone.';
    const message =
      counted === undefined ? { content: null, tool_calls } : { content: `There are ${counted} chairs. ${ending}` };
    const usage = { prompt_tokens: 50, completion_tokens: 10 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }], usage }));
  }).listen(0, '127.0.0.1');
  await once(model, 'listening');
  return model;
}
