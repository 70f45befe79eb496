import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool, type StructuredToolInterface } from '@langchain/core/tools';
import { createAgent, fakeModel } from 'langchain';
import { afterEach, expect, expectTypeOf, test } from 'vitest';
import { type LangChainTool, toLangChain } from '../../src/formats/langchain.ts';
import { type Chest, type Crib, createCrib } from '../../src/index.ts';

let crib: Crib | undefined;
afterEach(() => crib?.close());

async function openChest(onAbort: () => void = () => {}): Promise<Chest> {
  crib = await createCrib({
    tools: [
      {
        name: 'echo',
        description: 'Says it again',
        input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        run: (input) => input,
      },
      {
        name: 'fail',
        description: 'Fails',
        run: () => {
          throw new Error('no luck today');
        },
      },
      {
        name: 'wait',
        description: 'Waits until it is cancelled',
        run: (_input, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            signal.addEventListener('abort', onAbort);
          }),
      },
    ],
  });
  return crib.open();
}

const QUESTION = { messages: [{ role: 'user', content: 'Echo hi' }] };
const call = (name: string, args: object) => ({ id: 'call_1', name, args, type: 'tool_call' }) as const;

test('an agent of createAgent runs tools through the chest, and a failed tool is an error', async () => {
  const chest = await openChest();
  const model = fakeModel()
    .respondWithTools([
      { name: 'echo', args: { text: 'hi' }, id: 'call_1' },
      { name: 'fail', args: {}, id: 'call_2' },
      { name: 'echo', args: { text: 7 }, id: 'call_3' },
    ])
    .respond(new AIMessage('done'));
  const agent = createAgent({ model, tools: toLangChain(chest.list(), chest) });
  const { messages } = await agent.invoke(QUESTION);
  expect(messages.filter((message) => ToolMessage.isInstance(message))).toMatchObject([
    { tool_call_id: 'call_1', name: 'echo', content: '{"text":"hi"}', artifact: { ok: true, data: { text: 'hi' } } },
    { tool_call_id: 'call_2', status: 'error', content: 'tool_error: no luck today', artifact: { ok: false } },
    { tool_call_id: 'call_3', status: 'error', artifact: { error: { code: 'invalid_input' } } },
  ]);
  expect(messages.find((message) => ToolMessage.isInstance(message))).not.toMatchObject({ status: 'error' });
  expect(messages.at(-1)?.content).toBe('done');
});

test('callbacks of LangChain are called for the tool', async () => {
  const chest = await openChest();
  const model = fakeModel()
    .respondWithTools([{ name: 'echo', args: { text: 'hi' }, id: 'call_1' }])
    .respond(new AIMessage('done'));
  const agent = createAgent({ model, tools: toLangChain(chest.list(), chest) });
  const heard: unknown[] = [];
  const callbacks = [{ handleToolStart: () => heard.push('start'), handleToolEnd: () => heard.push('end') }];
  await agent.invoke(QUESTION, { callbacks });
  expect(heard).toEqual(['start', 'end']);
});

test('an agent that is aborted cancels the call', async () => {
  const controller = new AbortController();
  const cancelled = Promise.withResolvers<void>();
  const chest = await openChest(cancelled.resolve);
  crib?.extensions.add({ name: 'abort', priority: 300, onStart: () => queueMicrotask(() => controller.abort()) });
  const model = fakeModel().respondWithTools([{ name: 'wait', args: {}, id: 'call_1' }]);
  const agent = createAgent({ model, tools: toLangChain(chest.list(), chest) });
  const run = agent.invoke(QUESTION, { signal: controller.signal }).catch(() => undefined);
  await cancelled.promise;
  await run;
});

test('a LangChain tool that is made of the fields also answers a failed call with an error', async () => {
  const chest = await openChest();
  const made = toLangChain(chest.list(), chest).map((fields) => new DynamicStructuredTool(fields));
  const fail = made.find(({ name }) => name === 'fail');
  expect(await fail?.invoke(call('fail', {}))).toMatchObject({ status: 'error', content: 'tool_error: no luck today' });
  await expect(fail?.invoke({})).rejects.toThrow('tool_error: no luck today');
});

async function allOf(values: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const value of values) all.push(value);
  return all;
}

test('each way to run a tool of LangChain works', async () => {
  const chest = await openChest();
  const [echo] = toLangChain(chest.list(), chest);
  const { invoke, call: callOnce, batch, stream, transform, getName } = echo ?? expect.fail('there is no echo');
  const hi = { text: 'hi' };
  expect(await invoke(hi)).toBe('{"text":"hi"}');
  expect(await callOnce(hi)).toBe('{"text":"hi"}');
  expect(await batch([hi, hi])).toEqual(['{"text":"hi"}', '{"text":"hi"}']);
  expect(await allOf(await stream(hi))).toEqual(['{"text":"hi"}']);
  const inputs = (async function* () {
    yield hi;
  })();
  expect(await allOf(transform(inputs, {}))).toEqual(['{"text":"hi"}']);
  expect(getName()).toBe('echo');
  await expect(invoke({})).rejects.toThrow('invalid_input');
});

test('the types of LangChain accept the tools that run, and only those', async () => {
  const chest = await openChest();
  const tools: StructuredToolInterface[] = toLangChain(chest.list(), chest);
  expect(tools).toHaveLength(3);
  expectTypeOf(toLangChain(chest.list())).toEqualTypeOf<LangChainTool[]>();
  // @ts-expect-error: a definition alone cannot be run by an agent
  createAgent({ model: fakeModel(), tools: toLangChain(chest.list()) });
});
