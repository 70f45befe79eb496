import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import {
  Agent as OpenAIAgent,
  OpenAIChatCompletionsModel,
  run as runAgent,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { AIMessage, createAgent, fakeModel } from 'langchain';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toAiSdk } from '../../../src/formats/ai-sdk.ts';
import { toLangChain } from '../../../src/formats/langchain.ts';
import { fromOpenAICalls, toOpenAIResponses } from '../../../src/formats/openai.ts';
import {
  type AgentRequest,
  type CribOptions,
  createCrib,
  type HostAgent,
  type ToolInput,
  textOf,
} from '../../../src/index.ts';
import { agent, deskTools, spentOf } from './agent-desk.ts';
import { startModelServer } from './model-server.ts';

/** A crib whose agent `helper` is this function. */
async function open(mine: HostAgent, { run = {}, ...more }: CribOptions & { readonly run?: object } = {}) {
  const crib = await createCrib({
    tools: [...deskTools, agent({ model: undefined, host: 'mine', ...run })],
    profiles: { desk: { include: ['helper'], delegate: { library: 'open' } }, library: { exclude: ['greet'] } },
    agents: { mine },
    store: 'memory',
    ...more,
  });
  onTestFinished(() => crib.close());
  const chest = await crib.open('desk', { id: 'alice', roles: ['dev'], approve: () => false });
  return { crib, chest, ask: () => chest.call('helper', { question: 'What is in Emma?' }) };
}

const EMMA = { title: 'Emma' };

/** A model of the AI SDK that reads a book, then answers. */
function reader(): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 3, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 2, text: undefined, reasoning: undefined },
  };
  const call = { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'read_book', input: JSON.stringify(EMMA) };
  const stop = (unified: 'tool-calls' | 'stop') => ({ finishReason: { unified, raw: undefined }, usage, warnings: [] });
  return new MockLanguageModelV4({
    doGenerate: [
      { content: [call], ...stop('tool-calls') },
      { content: [{ type: 'text', text: 'Emma is about Emma.' }], ...stop('stop') },
    ],
  });
}

describe('an agent of the host', () => {
  it('gets the task, the tools of its profile and the caller, and every call is on record', async () => {
    let got: AgentRequest | undefined;
    const { ask, crib } = await open(
      async (request) => {
        got = request;
        request.report('reading');
        request.spend({ inputTokens: 3, outputTokens: 2 });
        return textOf(await request.chest.call('read_book', EMMA));
      },
      { run: { instructions: 'Be brief.', prices: { input: 1e6, output: 1e6 } } },
    );
    const result = await ask();
    expect(textOf(result)).toBe('Emma, read for alice under library');
    expect(spentOf(result)).toEqual({ steps: 1, calls: 1, inputTokens: 3, outputTokens: 2, cost: 5 });
    expect(got).toMatchObject({
      prompt: 'What is in Emma?',
      input: { question: 'What is in Emma?' },
      profile: 'library',
      caller: { id: 'alice', roles: ['dev'] },
      instructions: expect.stringContaining('Be brief.'),
    });
    expect(got?.caller).not.toHaveProperty('approve');
    expect(got?.chest.list().map(({ name }) => name)).toEqual(['read_book', 'echo', 'burn_book', 'helper']);
    const rows = await crib.calls.list({ tool: 'read_book' });
    expect(rows).toMatchObject([{ caller: 'alice', profile: 'library', parentId: expect.any(String) }]);
  });

  it('may be one of the AI SDK', async () => {
    const { ask } = await open(async ({ prompt, instructions, chest, signal, spend }) => {
      const { text } = await generateText({
        model: reader(),
        system: instructions,
        prompt,
        tools: toAiSdk(chest.list(), chest),
        stopWhen: isStepCount(5),
        abortSignal: signal,
        onStepFinish: ({ usage }) =>
          spend({ inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 }),
      });
      return text;
    });
    const result = await ask();
    expect(textOf(result)).toBe('Emma is about Emma.');
    expect(spentOf(result)).toEqual({ steps: 2, calls: 1, inputTokens: 6, outputTokens: 4 });
  });

  it('may be one of Mastra', async () => {
    const { ask } = await open(async ({ prompt, instructions, chest }) => {
      const model = reader() as MastraModelConfig;
      const reads = new Agent({ id: 'r', name: 'r', instructions, model, tools: toAiSdk(chest.list(), chest) });
      return (await reads.generate(prompt)).text;
    });
    const result = await ask();
    expect(textOf(result)).toBe('Emma is about Emma.');
    expect(spentOf(result)).toMatchObject({ calls: 1 });
  });

  it('may be one of LangChain', async () => {
    const { ask } = await open(async ({ prompt, chest }) => {
      const model = fakeModel()
        .respondWithTools([{ name: 'read_book', args: EMMA, id: 'c1' }])
        .respond(new AIMessage('Emma is about Emma.'));
      const reads = createAgent({ model, tools: toLangChain(chest.list(), chest) });
      const { messages } = await reads.invoke({ messages: [{ role: 'user', content: prompt }] });
      return messages.at(-1)?.text;
    });
    const result = await ask();
    expect(textOf(result)).toBe('Emma is about Emma.');
    expect(spentOf(result)).toMatchObject({ calls: 1 });
  });

  it('may be one of OpenAI Agents', async () => {
    const server = await startModelServer();
    onTestFinished(() => server.close());
    server.play([{ calls: [{ name: 'read_book', input: EMMA }] }, 'Emma is about Emma.']);
    setTracingDisabled(true);
    const openai = new OpenAI({ apiKey: 'k', baseURL: server.url });
    const { ask } = await open(async ({ prompt, instructions, chest, signal }) => {
      const tools = toOpenAIResponses(chest.list()).map(({ name, description, parameters }) =>
        tool({
          name,
          description,
          parameters: parameters as never, // the chest checks the arguments
          strict: false,
          execute: async (input) => textOf(await chest.call(name, input)),
        }),
      );
      const reads = new OpenAIAgent({
        name: 'r',
        instructions,
        tools,
        model: new OpenAIChatCompletionsModel(openai as never, 'm'),
      });
      return (await runAgent(reads, prompt, { signal })).finalOutput;
    });
    const result = await ask();
    expect(textOf(result)).toBe('Emma is about Emma.');
    expect(spentOf(result)).toMatchObject({ calls: 1 });
    expect(server.asked[1]?.results).toEqual(['Emma, read for alice under library']);
  });

  it('answers a whole turn with callAll, under the ids of the model', async () => {
    const call = (name: string, args: string, id: string) => ({ id, function: { name, arguments: args } });
    const { ask } = await open(async ({ chest }) => {
      const calls = fromOpenAICalls({ tool_calls: [call('read_book', '{"title":"A"}', 'x'), call('nope', '{}', 'y')] });
      return { answers: (await chest.callAll(calls)).map(({ id, result }) => [id, result.ok]) };
    });
    expect(await ask()).toMatchObject({
      data: {
        answers: [
          ['x', true],
          ['y', false],
        ],
      },
    });
  });

  it('cannot approve: it gets the refusal of the approver, and no way to answer', async () => {
    const { ask } = await open(async ({ chest }) =>
      textOf(
        await (chest.call as (...parts: unknown[]) => ReturnType<typeof chest.call>)(
          'burn_book',
          {},
          { park: true, approvalId: 'x' },
        ),
      ),
    );
    expect(textOf(await ask())).toContain('denied');
  });

  it.each([
    ['calls', { maxCalls: 2 }, ({ chest }: AgentRequest) => chest.call('echo')],
    ['steps', { maxSteps: 2 }, async ({ spend }: AgentRequest) => spend()],
    ['tokens', { maxTokens: 10 }, async ({ spend }: AgentRequest) => spend({ inputTokens: 6 })],
  ] as const)('is ended at the limit of %s, whatever it does', async (ending, limits, act) => {
    let isAborted = false;
    const config = { executors: { agent: limits } };
    const { ask } = await open(
      async (request) => {
        request.signal.addEventListener('abort', () => {
          isAborted = true;
        });
        for (let turn = 0; turn < 50; turn++) await act(request);
        return new Promise(() => {});
      },
      { config },
    );
    const result = await ask();
    expect(result).toMatchObject({ ok: false, error: { code: 'tool_error' } });
    expect(spentOf(result)).toMatchObject({ ending });
    expect(isAborted).toBe(true);
  });

  it('that throws, answers with what is not JSON, or misuses spend fails alone', async () => {
    const thrown = await open(() => {
      throw new Error('out of ideas');
    });
    expect(await thrown.ask()).toMatchObject({
      error: { code: 'tool_error', message: expect.stringContaining('out of ideas') },
    });
    const odd = await open(() => () => 1);
    expect(await odd.ask()).toMatchObject({ error: { code: 'invalid_output' } });
    const wrong = await open(({ spend }) => spend({ inputTokens: -1 }));
    expect(await wrong.ask()).toMatchObject({ error: { message: expect.stringContaining('inputTokens') } });
  });

  it('that goes on after a cancellation reaches no tool', async () => {
    const begun = Promise.withResolvers<void>();
    const late = Promise.withResolvers<unknown>();
    const { chest } = await open(async (request) => {
      begun.resolve();
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
      late.resolve(await request.chest.call('echo', {}));
      return 'too late';
    });
    const over = new AbortController();
    const asked = chest.call('helper', {}, { signal: over.signal });
    await begun.promise;
    over.abort();
    expect(await asked).toMatchObject({ error: { code: 'cancelled' } });
    expect(await late.promise).toMatchObject({ ok: false, error: { code: 'cancelled' } });
  });

  it('that answers before its calls have ended leaves none of them behind', async () => {
    const ended = Promise.withResolvers<unknown>();
    const slow: ToolInput = {
      name: 'slow',
      description: '',
      input: { type: 'object' },
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    };
    const { ask } = await open(
      ({ chest }) => {
        chest.call('slow').then(ended.resolve, ended.reject);
        return 'answered';
      },
      {
        tools: [slow, agent({ model: undefined, host: 'mine' })],
        profiles: { desk: { delegate: { library: 'open' } }, library: {} },
      },
    );
    expect(textOf(await ask())).toBe('answered');
    expect(await ended.promise).toMatchObject({ error: { code: 'cancelled' } });
  });

  it('must be a function under its name', async () => {
    await expect(createCrib({ agents: { mine: 'x' } as never })).rejects.toThrow('The agent "mine" must be a function');
    await expect(createCrib({ agents: [] as never })).rejects.toThrow('"agents" of createCrib must be an object');
    const { crib, ask } = await open(() => 1, { agents: {} });
    expect(await ask()).toMatchObject({ error: { code: 'unavailable' } });
    const review = await crib.review();
    expect(JSON.stringify(review)).toContain('createCrib({ agents }) has no \\"mine\\"');
  });
});
