import { asSchema, generateText, isStepCount, type ToolModelMessage, type ToolSet } from 'ai';
import { expect, test } from 'vitest';
import type { ToolResult } from '../../src/core/tool-result.ts';
import { fromAiSdkCalls, toAiSdk, toAiSdkResults } from '../../src/formats/ai-sdk.ts';
import { callingModel } from './fake-models.ts';
import { answerAll, ECHOED, PICTURE, PNG, RECURSIVE, REFUSED, specOf, WAITING } from './specs.ts';

const CALL = { name: 'echo', input: '{"text":"hi"}' };

test('generateText runs a whole loop through the chest', async () => {
  const asked: unknown[] = [];
  const chest = {
    call: async (name: string, input: unknown, options?: { signal?: AbortSignal }): Promise<ToolResult> => {
      asked.push({ name, input, signal: options?.signal });
      return name === 'echo' ? ECHOED : name === 'look' ? PICTURE : REFUSED;
    },
  };
  const tools: ToolSet = toAiSdk([specOf('echo'), specOf('look'), specOf('tree', { input: RECURSIVE })], chest);
  const model = callingModel([CALL, { name: 'look', input: '{}' }, { name: 'tree', input: '{"label":7}' }]);
  const { signal } = new AbortController();
  const result = await generateText({ model, tools, prompt: 'Echo hi', stopWhen: isStepCount(3), abortSignal: signal });
  expect(result.text).toBe('done');
  expect(asked).toMatchObject([
    { name: 'echo', input: { text: 'hi' } },
    { name: 'look', input: {} },
    { name: 'tree', input: { label: 7 } },
  ]);
  for (const call of asked) expect(call).toMatchObject({ signal: expect.any(AbortSignal) });
  expect(model.doGenerateCalls[0]?.tools).toMatchObject([
    { type: 'function', name: 'echo', description: 'What echo does', inputSchema: specOf('echo').input },
    { name: 'look' },
    { name: 'tree', inputSchema: { type: 'object', $defs: RECURSIVE.$defs } },
  ]);
  const last = model.doGenerateCalls[1]?.prompt.at(-1);
  expect(last?.role).toBe('tool');
  expect(last?.content).toMatchObject([
    { type: 'tool-result', toolCallId: 'call_0', output: { type: 'text', value: '{"echo":"hi"}' } },
    {
      toolCallId: 'call_1',
      output: {
        type: 'content',
        value: [{ type: 'text', text: 'The page' }, { mediaType: 'image/png' }, {}, {}, {}, {}],
      },
    },
    { toolCallId: 'call_2', output: { type: 'error-text', value: expect.stringContaining('invalid_input') } },
  ]);
});

test('a cancelled loop cancels the call', async () => {
  const controller = new AbortController();
  const cancelled = new Promise((resolve) => {
    const chest = {
      call: (_name: string, _input: unknown, options?: { signal?: AbortSignal }) =>
        new Promise<ToolResult>((end) => {
          options?.signal?.addEventListener('abort', () => resolve('cancelled'), { once: true });
          controller.abort();
          end(REFUSED);
        }),
    };
    const tools = toAiSdk([specOf('echo')], chest);
    generateText({ model: callingModel([CALL]), tools, prompt: 'x', abortSignal: controller.signal }).catch(
      () => undefined,
    );
  });
  await expect(cancelled).resolves.toBe('cancelled');
});

test('without a chest the program reads the calls, answers them and returns the results', async () => {
  const tools: ToolSet = toAiSdk([specOf('echo')]);
  const first = await generateText({ model: callingModel([CALL]), tools, prompt: 'Echo hi', stopWhen: isStepCount(3) });
  const requests = fromAiSdkCalls(first);
  expect(requests).toEqual([{ id: 'call_0', name: 'echo', input: { text: 'hi' } }]);
  expect(fromAiSdkCalls(first.response.messages[0])).toEqual(requests);
  const message: ToolModelMessage = { role: 'tool', content: toAiSdkResults(answerAll(requests, () => WAITING)) };
  const model = callingModel([]);
  await generateText({
    model,
    tools,
    messages: [{ role: 'user', content: 'Echo hi' }, ...first.response.messages, message],
  });
  expect(model.doGenerateCalls[0]?.prompt.at(-1)).toMatchObject({
    role: 'tool',
    content: [
      {
        toolCallId: 'call_0',
        toolName: 'echo',
        output: { type: 'error-text', value: expect.stringContaining('apr_1') },
      },
    ],
  });
});

test('the schema is accepted by the AI SDK as its own', async () => {
  const schema = toAiSdk([specOf('echo')]).echo?.inputSchema;
  const known = asSchema(schema);
  expect(known).toBe(schema);
  expect(await known.jsonSchema).toEqual(specOf('echo').input);
  expect(schema?.['~standard'].validate(7)).toEqual({ value: 7 });
});

test('media of any kind are files', () => {
  const [part] = toAiSdkResults([{ id: 'c', name: 'look', result: PICTURE }]);
  if (part?.output.type !== 'content') throw new Error('no content');
  expect(part.output.value.filter(({ type }) => type === 'file')).toEqual([
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PNG } },
    { type: 'file', mediaType: 'audio/wav', data: { type: 'data', data: 'UklGRg==' } },
    { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'JVBERi0=' }, filename: 'b.pdf' },
  ]);
});

test('invalid entries in the list of calls still get a request each; calls that the provider ran do not', () => {
  const ran = { type: 'tool-call', toolCallId: 'p', toolName: 'web_search', input: {}, providerExecuted: true };
  expect(fromAiSdkCalls({ toolCalls: [null, { toolCallId: 'x', toolName: 'echo', input: '{"a' }, ran] })).toEqual([
    { name: '', input: {} },
    { id: 'x', name: 'echo', input: '{"a' },
  ]);
  expect(fromAiSdkCalls({ role: 'assistant', content: [null, { type: 'text', text: 'hi' }, ran] })).toEqual([]);
});
