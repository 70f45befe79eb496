import assert from 'node:assert/strict';
import { tool as langChainTool } from '@langchain/core/tools';
import { createTool as mastraTool } from '@mastra/core/tools';
import { tool as openaiTool, RunContext } from '@openai/agents-core';
import { createCrib, defineTool } from 'toolcrib';
import { z } from 'zod';
import { compare, printTable } from './measure.ts';

const input = z.object({ a: z.number(), b: z.number() });
const schema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
} as const;
const run = ({ a, b }: { a: number; b: number }) => a + b;
const runLater = async (given: { a: number; b: number }) => run(given);
const description = 'Add two numbers';

/** The guarded call of `add`, beside the bare function and the peers, in one run. */
export async function benchCall(): Promise<void> {
  const plain = await createCrib({
    tools: [
      defineTool({ name: 'add', description, input: schema, run }),
      defineTool({ name: 'add_zod', description, input, run }),
      defineTool({ name: 'add_later', description, input: schema, run: runLater }),
    ],
  });
  for (const name of ['timeout', 'retry']) plain.extensions.remove(name);
  const policy = {
    access: { roles: ['dev'] },
    rates: [{ scope: 'caller' as const, amount: 1e12, perMs: 1000 }],
    concurrency: [{ scope: 'tool' as const, amount: 100 }],
    timeoutMs: 5000,
    retries: 2,
  };
  const guards = { description, input: schema, effects: { readOnly: true }, policy };
  const guarded = await createCrib({
    tools: [defineTool({ ...guards, name: 'add', run }), defineTool({ ...guards, name: 'add_later', run: runLater })],
    profiles: {
      assistant: { policy: { access: { users: ['alice'] }, rates: [{ scope: 'profile', amount: 1e12, perMs: 1000 }] } },
    },
  });
  const caller = { id: 'alice', roles: ['dev'] };
  const plainChest = await plain.open(undefined, caller);
  const guardedChest = await guarded.open('assistant', caller);

  const mastra = mastraTool({
    id: 'add',
    description,
    inputSchema: input,
    execute: async (given) => run(given as { a: number; b: number }),
  });
  const openai = openaiTool({ name: 'add', description, parameters: input, execute: async (given) => run(given) });
  const langChain = langChainTool(async (given: { a: number; b: number }) => run(given), {
    name: 'add',
    description,
    schema: input,
  });
  const context = new RunContext();

  const { data } = (await guardedChest.call('add', { a: 1, b: 2 })) as { data?: unknown };
  assert.equal(data, 3);
  assert.equal(await openai.invoke(context, '{"a":1,"b":2}'), 3);
  assert.equal(await langChain.invoke({ a: 1, b: 2 }), 3);

  const timings = await compare([
    { name: 'direct function', run: async () => run({ a: 1, b: 2 }) },
    { name: 'toolcrib, validation alone', note: 'JSON Schema', run: () => plainChest.call('add', { a: 1, b: 2 }) },
    { name: 'toolcrib, validation alone', note: 'zod', run: () => plainChest.call('add_zod', { a: 1, b: 2 }) },
    {
      name: 'toolcrib, guarded',
      note: 'validation, access clauses, 2 rates, concurrency, timeout, retry',
      run: () => guardedChest.call('add', { a: 1, b: 2 }),
    },
    {
      name: 'toolcrib, validation alone',
      note: 'JSON Schema, asynchronous tool',
      run: () => plainChest.call('add_later', { a: 1, b: 2 }),
    },
    {
      name: 'toolcrib, guarded',
      note: 'the same guards, asynchronous tool',
      run: () => guardedChest.call('add_later', { a: 1, b: 2 }),
    },
    {
      name: 'Mastra createTool().execute',
      note: 'validation only',
      run: () => mastra.execute?.({ a: 1, b: 2 }, {} as never),
    },
    { name: 'OpenAI Agents tool.invoke', run: () => openai.invoke(context, '{"a":1,"b":2}') },
    { name: 'LangChain tool().invoke', run: () => langChain.invoke({ a: 1, b: 2 }) },
    { name: 'crib.open', note: 'warm', run: () => guarded.open('assistant', caller) },
  ]);
  const slowest = timings.find((timing) => timing.name.startsWith('LangChain'))?.microseconds ?? Number.NaN;
  printTable('One call of add', [
    ['', 'us, median', 'thread us, mean', 'LangChain takes', ''],
    ...timings.map(({ name, microseconds, threadMicroseconds, note }) => [
      name,
      microseconds.toFixed(2),
      threadMicroseconds.toFixed(2),
      `${(slowest / microseconds).toFixed(1)} x`,
      note,
    ]),
  ]);
  await plain.close();
  await guarded.close();
}
