import { Agent, type ToolsInput } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { afterEach, expect, test } from 'vitest';
import { toAiSdk } from '../../src/formats/ai-sdk.ts';
import { type Chest, type Crib, createCrib, done } from '../../src/index.ts';
import { callingModel } from './fake-models.ts';
import { PNG } from './specs.ts';

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
        name: 'look',
        description: 'Looks',
        run: () =>
          done([
            { type: 'text', text: 'The page' },
            { type: 'image', data: PNG, mimeType: 'image/png' },
          ]),
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

function agentOf(chest: Chest, model: ReturnType<typeof callingModel>): Agent {
  const tools: ToolsInput = toAiSdk(chest.list(), chest);
  const settings = { id: 'tester', name: 'tester', instructions: 'Use the tools.' };
  return new Agent({ ...settings, model: model as MastraModelConfig, tools }); // of the same version, by other declarations
}

test('a Mastra agent runs tools through the chest, and its model reads answers, pictures and failures', async () => {
  const model = callingModel([
    { name: 'echo', input: '{"text":"hi"}' },
    { name: 'fail', input: '{}' },
    { name: 'echo', input: '{"text":7}' },
    { name: 'look', input: '{}' },
  ]);
  const { text, toolResults } = await agentOf(await openChest(), model).generate('Echo hi');
  expect(text).toBe('done');
  expect(toolResults.map(({ payload }) => payload.result)).toMatchObject([
    { ok: true, data: { text: 'hi' } },
    { ok: false, error: { code: 'tool_error', message: 'no luck today' } },
    { ok: false, error: { code: 'invalid_input' } },
    { ok: true },
  ]);
  expect(model.doGenerateCalls[0]?.tools).toMatchObject([
    { name: 'echo', description: 'Says it again', inputSchema: { type: 'object', required: ['text'] } },
    { name: 'fail' },
    { name: 'look' },
    { name: 'wait' },
  ]);
  const last = model.doGenerateCalls[1]?.prompt.at(-1);
  expect(last).toMatchObject({
    role: 'tool',
    content: [
      { toolCallId: 'call_0', output: { type: 'text', value: '{"text":"hi"}' } },
      { toolCallId: 'call_1', output: { type: 'error-text', value: 'tool_error: no luck today' } },
      { toolCallId: 'call_2', output: { type: 'error-text', value: expect.stringContaining('invalid_input') } },
      {
        toolCallId: 'call_3',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 'The page' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PNG } },
          ],
        },
      },
    ],
  });
});

test('a Mastra agent that is aborted cancels the call', async () => {
  const controller = new AbortController();
  const cancelled = Promise.withResolvers<void>();
  const chest = await openChest(cancelled.resolve);
  const model = callingModel([{ name: 'wait', input: '{}' }]);
  crib?.extensions.add({ name: 'abort', priority: 300, onStart: () => queueMicrotask(() => controller.abort()) });
  const run = agentOf(chest, model).generate('Wait', { abortSignal: controller.signal });
  await cancelled.promise;
  await run.catch(() => undefined);
});
