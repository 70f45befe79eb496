import assert from 'node:assert/strict';
import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool, DynamicTool, tool as langChainTool, StructuredTool } from '@langchain/core/tools';
import { createTool } from '@mastra/core/tools';
import { tool as aiSdkTool, dynamicTool, jsonSchema, type ToolSet, zodSchema } from 'ai';
import { zodFunction } from 'openai/helpers/zod';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toAiSdk } from '../../src/formats/ai-sdk.ts';
import { toLangChain } from '../../src/formats/langchain.ts';
import { type AnyTool, type Chest, type Crib, type CribOptions, createCrib, textOf } from '../../src/index.ts';

let crib: Crib | undefined;
afterEach(() => crib?.close());

async function open(tools: NonNullable<CribOptions['tools']>): Promise<Chest> {
  crib = await createCrib({ tools });
  return crib.open();
}

const city = z.object({ city: z.string() });
const PARAMETERS = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };
const weather = { name: 'weather', description: 'The weather', parameters: PARAMETERS };

/** Calls a tool with valid and with invalid arguments, and returns the results. */
async function tryWeather(chest: Chest, name = 'weather'): Promise<void> {
  expect(textOf(await chest.call(name, { city: 'Rome' }))).toBe('sunny in Rome');
  expect(await chest.call(name, { city: 7 })).toMatchObject({
    error: { code: 'invalid_input', issues: [{ path: '/city' }] },
  });
  expect(crib?.get(name)).toMatchObject({ description: 'The weather', input: { required: ['city'] } });
}

const sunny = ({ city }: { city: string }) => `sunny in ${city}`;

describe('definitions of OpenAI', () => {
  it('one of the chat completions API is a tool with execute or run beside it', async () => {
    await tryWeather(await open([{ type: 'function', function: weather, execute: sunny }]));
    await crib?.close();
    await tryWeather(await open([{ type: 'function', function: { ...weather, strict: true }, run: sunny }]));
  });

  it('one of the responses API likewise, with policies beside it', async () => {
    const chest = await open([
      { type: 'function', ...weather, strict: false, execute: sunny, effects: { readOnly: true }, tags: ['read'] },
      { type: 'function', name: 'bare', description: null, parameters: null, execute: () => 'ran' },
    ]);
    await tryWeather(chest);
    expect(crib?.get('weather')).toMatchObject({ effects: { readOnly: true }, tags: ['read'] });
    expect(textOf(await chest.call('bare', {}))).toBe('ran');
  });

  it('a tool for runTools or zodFunction of the OpenAI library is a tool', async () => {
    await tryWeather(await open([{ type: 'function', function: { ...weather, function: sunny, parse: JSON.parse } }]));
    await crib?.close();
    const made = zodFunction({ name: 'weather', description: 'The weather', parameters: city, function: sunny });
    await tryWeather(await open([made as AnyTool])); // what runs it is not in its type
  });

  it.each([
    [{ type: 'function', function: weather }, 'Tool "weather" has no implementation'],
    [{ type: 'function', ...weather }, 'Tool "weather" has no implementation'],
    [{ type: 'web_search' }, 'Definitions of type "web_search" run at OpenAI'],
    [{ type: 'function', function: { ...weather, polcy: {} }, execute: sunny }, 'Tool "weather" has no "polcy"'],
    [{ type: 'function', ...weather, polcy: {}, execute: sunny }, 'Did you mean "policy"?'],
    [{ type: 'function', function: 7, execute: sunny }, 'must be an object, got 7'],
  ])('%j is refused in words', async (tool, message) => {
    crib = await createCrib();
    const { ok, rejected } = crib.register(tool as unknown as AnyTool);
    expect(ok).toBe(false);
    expect(rejected[0]?.reason).toContain(message);
  });
});

describe('tools of LangChain', () => {
  it('of tool() with zod or JSON Schema, and of a class that extends StructuredTool', async () => {
    const fields = { name: 'weather', description: 'The weather' };
    await tryWeather(await open([langChainTool(sunny, { ...fields, schema: city })]));
    await crib?.close();
    await tryWeather(await open([langChainTool((input) => sunny(input as never), { ...fields, schema: PARAMETERS })]));
    await crib?.close();
    class Weather extends StructuredTool<typeof city> {
      readonly name = 'weather';
      readonly description = 'The weather';
      readonly schema = city;
      readonly #mood = 'sunny';
      async _call(input: { city: string }) {
        return `${this.#mood} in ${input.city}`;
      }
    }
    await tryWeather(await open([new Weather()]));
    await crib?.close();
    await tryWeather(await open([Weather]));
  });

  it('a transform of its schema runs once', async () => {
    const schema = z.object({ count: z.string().transform((text) => text.length) });
    const chest = await open([langChainTool(({ count }) => count + 1, { name: 'add', description: '', schema })]);
    expect(await chest.call('add', { count: 'abc' })).toMatchObject({ ok: true, data: 4 });
  });

  it('a tool with a single text argument gets it as input', async () => {
    const shout = new DynamicTool({ name: 'shout', description: '', func: async (text) => text.toUpperCase() });
    const chest = await open([
      shout,
      langChainTool((text) => `<${text}>`, { name: 'mark', description: '', schema: z.string() }),
    ]);
    expect(textOf(await chest.call('shout', { input: 'hi' }))).toBe('HI');
    expect(textOf(await chest.call('mark', { input: 'hi' }))).toBe('<hi>');
  });

  it('errors and messages with the status error are failures; content and artifacts are read', async () => {
    const make = (name: string, func: () => unknown, more: object = {}) =>
      new DynamicStructuredTool({ name, description: '', schema: z.object({}), func: async () => func(), ...more });
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const chest = await open([
      make('fail', () => {
        throw new Error('no luck today');
      }),
      make('refuse', () => new ToolMessage({ content: 'not now', tool_call_id: 'x', status: 'error' })),
      make('look', () => [{ type: 'text', text: 'The page' }, image]),
      make('both', () => ['short', { long: true }], { responseFormat: 'content_and_artifact' }),
      make('command', () => ({ lc_direct_tool_output: true, lg_name: 'Command' })),
      make('data', () => ({ a: 1 })),
    ]);
    expect(await chest.call('fail', {})).toMatchObject({ error: { code: 'tool_error', message: 'no luck today' } });
    expect(await chest.call('refuse', {})).toMatchObject({ error: { code: 'tool_error', message: 'not now' } });
    expect(await chest.call('look', {})).toMatchObject({
      content: [
        { type: 'text', text: 'The page' },
        { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
      ],
    });
    expect(textOf(await chest.call('both', {}))).toBe('short');
    expect(await chest.call('command', {})).toMatchObject({ error: { message: expect.stringContaining('LangGraph') } });
    expect(await chest.call('data', {})).toMatchObject({ ok: true, data: { a: 1 } });
  });

  it('the signal of the call reaches it', async () => {
    const heard = Promise.withResolvers<void>();
    const wait = langChainTool(
      (_input, config) =>
        new Promise(() => {
          config.signal?.addEventListener('abort', () => heard.resolve());
          controller.abort();
        }),
      { name: 'wait', description: '', schema: z.object({}) },
    );
    const controller = new AbortController();
    const chest = await open([wait]);
    expect(await chest.call('wait', {}, { signal: controller.signal })).toMatchObject({ error: { code: 'cancelled' } });
    await heard.promise;
  });
});

describe('tools of the AI SDK', () => {
  const sdkWeather = aiSdkTool({ description: 'The weather', inputSchema: city, execute: sunny });

  it('by name, as a record of all tools or as one entry of a list', async () => {
    await tryWeather(await open({ weather: sdkWeather }));
    await crib?.close();
    await tryWeather(await open([{ weather: sdkWeather }, { name: 'other', description: '', run: () => 1 }]));
    await crib?.close();
    await tryWeather(await open([{ name: 'weather', ...sdkWeather }]));
    expect(crib?.register({ again: sdkWeather })).toMatchObject({ ok: true, applied: ['again'] });
  });

  it('with every kind of schema', async () => {
    const execute = (input: unknown) => sunny(input as { city: string });
    const chest = await open({
      json: aiSdkTool({ description: 'The weather', inputSchema: jsonSchema(PARAMETERS), execute }),
      lazy: aiSdkTool({ description: 'The weather', inputSchema: () => jsonSchema(PARAMETERS), execute }),
      dynamic: dynamicTool({ description: 'The weather', inputSchema: city, execute: async (input) => execute(input) }),
    });
    for (const name of ['json', 'lazy', 'dynamic']) await tryWeather(chest, name);
  });

  it('the validation of a custom schema runs', async () => {
    const schema = zodSchema(z.object({ city: z.string().transform((text) => text.toUpperCase()) }));
    const chest = await open({ weather: aiSdkTool({ inputSchema: schema, execute: sunny }) });
    expect(textOf(await chest.call('weather', { city: 'Rome' }))).toBe('sunny in ROME');
    expect(await chest.call('weather', {})).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it('errors are failures, values that it yields are progress, and the model reads what toModelOutput says', async () => {
    const none = { inputSchema: z.object({}) };
    const chest = await open({
      fail: aiSdkTool({
        ...none,
        execute: (): string => {
          throw new Error('no luck today');
        },
      }),
      nothing: aiSdkTool({ ...none, execute: () => undefined }),
      steps: aiSdkTool({
        ...none,
        async *execute() {
          yield 'half';
          yield 'whole';
        },
      }),
      look: aiSdkTool({
        ...none,
        execute: () => ({ bytes: 8 }),
        toModelOutput: () => ({
          type: 'content',
          value: [
            { type: 'text', text: 'The page' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } },
          ],
        }),
      }),
      worse: aiSdkTool({
        ...none,
        execute: () => 1,
        toModelOutput: ({ output }) => ({ type: 'error-text', value: `bad ${output}` }),
      }),
    });
    expect(await chest.call('fail', {})).toMatchObject({ error: { code: 'tool_error', message: 'no luck today' } });
    expect(textOf(await chest.call('nothing', {}))).toBe('Done.');
    const progress: unknown[] = [];
    expect(textOf(await chest.call('steps', {}, { onProgress: (step) => progress.push(step) }))).toBe('whole');
    expect(progress).toEqual(['half', 'whole']);
    expect(await chest.call('look', {})).toMatchObject({
      content: [{ text: 'The page' }, { type: 'image', mimeType: 'image/png' }],
      data: { bytes: 8 },
    });
    expect(await chest.call('worse', {})).toMatchObject({ error: { code: 'tool_error', message: 'bad 1' } });
  });

  it('it gets the signal, the id and the context of the call', async () => {
    const controller = new AbortController();
    const heard = Promise.withResolvers<unknown>();
    const wait = aiSdkTool({
      inputSchema: z.object({}),
      execute: (_input, { abortSignal, toolCallId, messages }) => {
        abortSignal?.addEventListener('abort', () => heard.resolve({ toolCallId, messages }));
        controller.abort();
        return new Promise<string>(() => {});
      },
    });
    const chest = await open({ wait });
    expect(await chest.call('wait', {}, { signal: controller.signal })).toMatchObject({ error: { code: 'cancelled' } });
    expect(await heard.promise).toEqual({ toolCallId: expect.any(String), messages: [] });
  });

  it('a tool that needs approval always requests it', async () => {
    const execute = () => 'paid';
    const chest = await open({
      pay: aiSdkTool({ inputSchema: z.object({}), needsApproval: true, execute }),
      maybe: aiSdkTool({ inputSchema: z.object({}), needsApproval: () => false, execute }),
      free: aiSdkTool({ inputSchema: z.object({}), needsApproval: false, execute }),
    });
    expect(await chest.call('pay', {})).toMatchObject({ error: { code: 'denied' } });
    expect(await chest.call('maybe', {})).toMatchObject({ error: { code: 'denied' } });
    expect(textOf(await chest.call('free', {}))).toBe('paid');
  });

  it.each([
    [[sdkWeather], 'pass it as { my_tool: tool } or { name, ...tool }'],
    [{ ask: { inputSchema: city } }, 'Tool "ask" of the AI SDK has no execute'],
    [{ web: { type: 'provider', id: 'openai.web_search', args: {}, inputSchema: city } }, 'is run by its provider'],
    [[{ name: 'x', ...sdkWeather, polcy: {} }], 'Tool "x" of the AI SDK has no "polcy". Did you mean "policy"?'],
  ])('%# is refused in words', async (tools, message) => {
    await expect(createCrib({ tools: tools as never })).rejects.toThrow(message);
  });
});

describe('round trip', () => {
  it('tools in vendor formats are tools of another crib', async () => {
    const chest = await open([
      { name: 'echo', description: 'Says it again', input: PARAMETERS, run: (input) => input },
      {
        name: 'fail',
        description: '',
        run: () => {
          throw new Error('no luck today');
        },
      },
    ]);
    const inner = crib;
    const set: ToolSet = toAiSdk(chest.list(), chest);
    for (const tools of [set as Record<string, never>, toLangChain(chest.list(), chest)]) {
      const outer = await open(tools);
      expect(await outer.call('echo', { city: 'Rome' })).toMatchObject({ ok: true });
      expect(await outer.call('fail', {})).toMatchObject({
        error: { message: expect.stringContaining('no luck today') },
      });
      await crib?.close();
    }
    crib = inner;
  });
});

describe('values that are not tools', () => {
  it('a record names the member that is not a tool', async () => {
    const good = aiSdkTool({ inputSchema: city, execute: sunny });
    await expect(createCrib({ tools: { good, bad: 7 } as never })).rejects.toThrow('"bad" is 7, not a tool.');
    await expect(createCrib({ tools: { bad: {} } as never })).rejects.toThrow('Tool "bad" has no run');
    await expect(createCrib({ tools: { name: 'x', run: sunny } as never })).rejects.toThrow('must be a list');
    await expect(createCrib({ tools: 7 as never })).rejects.toThrow('must be a list, got 7');
    crib = await createCrib({ tools: {} });
    expect(crib.catalog.specs).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['a proxy that throws', new Proxy({}, { get: () => assert.fail('get'), has: () => assert.fail('has') })],
    [
      'a class whose name throws',
      class Throwing {
        get name() {
          return assert.fail('name');
        }
        run() {}
      },
    ],
    [
      'a definition whose function throws',
      {
        type: 'function',
        get function() {
          return assert.fail('function');
        },
      },
    ],
    ['a schema that throws', { name: 'x', inputSchema: () => assert.fail('schema'), execute: sunny }],
    ['a schema that comes later', { name: 'x', inputSchema: { jsonSchema: Promise.resolve({}) }, execute: sunny }],
    [
      'a create() that makes nothing',
      class Nothing {
        static create() {
          return null;
        }
        run() {}
      },
    ],
    [
      'a create() that makes a text',
      class Text {
        static create() {
          return 'tool';
        }
        run() {}
      },
    ],
  ])('%s is refused and has no further effect', async (_what, tool) => {
    crib = await createCrib();
    const { ok, rejected } = crib.register([tool as AnyTool, { name: 'good', description: '', run: () => 1 }]);
    expect(ok).toBe(false);
    expect(rejected).toHaveLength(1);
    expect(rejected[0]?.reason).toMatch(/\.$/);
    expect(crib.catalog.specs).toEqual([]);
  });

  it('a tool of Mastra is accepted with its id, or under a name', async () => {
    const made = createTool({
      id: 'weather',
      description: 'The weather',
      inputSchema: city,
      execute: async (input, { abortSignal }) => (abortSignal?.aborted === false ? sunny(input) : 'no signal'),
    });
    await tryWeather(await open([made]));
    await crib?.close();
    await tryWeather(await open({ other: made }), 'other');
  });
});
