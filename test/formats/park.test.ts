import { DynamicStructuredTool } from '@langchain/core/tools';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fromAiSdkCalls, toAiSdk, toAiSdkResults } from '../../src/formats/ai-sdk.ts';
import { fromAnthropicCalls, toAnthropicResults } from '../../src/formats/anthropic.ts';
import { fromGeminiCalls, toGeminiResults } from '../../src/formats/gemini.ts';
import { fromLangChainCalls, toLangChain, toLangChainResults } from '../../src/formats/langchain.ts';
import { fromMcpCalls, toMcpResults } from '../../src/formats/mcp.ts';
import {
  fromOpenAICalls,
  fromOpenAIResponsesCalls,
  toOpenAIResponsesResults,
  toOpenAIResults,
} from '../../src/formats/openai.ts';
import { type CallRequest, createCrib, defineTool } from '../../src/index.ts';

const OPERATOR = { id: 'olga', operator: true };

/** A chest in which wiping needs a person. */
async function office() {
  const wiped: unknown[] = [];
  const wipe = defineTool({
    name: 'wipe',
    description: 'Wipes',
    input: { type: 'object' },
    effects: { destructive: true },
    run: (input) => {
      wiped.push(input);
      return 'wiped';
    },
  });
  const crib = await createCrib({ tools: [wipe], store: 'memory' });
  onTestFinished(() => crib.close());
  const chest = await crib.open(undefined, { id: 'ann' });
  const waitingId = async () => (await crib.approvals.list({ state: 'waiting' }))[0]?.id ?? '';
  const approve = async () => {
    const id = await waitingId();
    await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    await vi.waitFor(async () => expect((await crib.calls.get(id))?.result).toMatchObject({ ok: true }));
  };
  return { crib, chest, wiped, waitingId, approve };
}

const RUN = { abortSignal: undefined };

describe('a format that runs tools', () => {
  it('ai-sdk answers with the id of the approval, and the crib runs the call when it is approved', async () => {
    const { chest, wiped, waitingId, approve } = await office();
    const tool = toAiSdk(chest.list(), chest, { park: true }).wipe;
    const output = await tool?.execute?.({}, RUN);
    expect(output).toMatchObject({ status: 'waiting', waiting: { id: await waitingId() } });
    if (output === undefined) throw new Error('it did not run');
    expect(tool?.toModelOutput({ output }).value).toContain(await waitingId());
    await approve();
    expect(wiped).toHaveLength(1);
  });

  it('langchain does the same, and does not throw', async () => {
    const { chest, wiped, waitingId, approve } = await office();
    const [fields] = toLangChain(chest.list(), chest, { park: true });
    if (fields === undefined) throw new Error('there is no tool');
    const tool = new DynamicStructuredTool({ ...fields, schema: { type: 'object' } as const });
    expect(await tool.invoke({} as never)).toContain(await waitingId());
    await approve();
    expect(wiped).toHaveLength(1);
  });

  it.each([{}, { park: false }])('fails with %j', async (options) => {
    const { chest, waitingId } = await office();
    const output = await toAiSdk(chest.list(), chest, options).wipe?.execute?.({}, RUN);
    expect(output).toMatchObject({ error: { code: 'denied' } });
    expect(await waitingId()).toBe('');
  });

  it.each([
    ['toAiSdk', toAiSdk],
    ['toLangChain', toLangChain],
  ])('%s refuses unknown options', async (name, toTools) => {
    const { chest } = await office();
    expect(() => toTools(chest.list(), chest, { parks: true } as object)).toThrow(new RegExp(`${name}.*parks`));
    expect(() => toTools(chest.list(), chest, { park: 'yes' } as object)).toThrow(/"park".*true or false/);
  });
});

const MESSAGES: readonly [string, () => CallRequest[], (answers: never) => unknown][] = [
  [
    'openai',
    () => fromOpenAICalls({ tool_calls: [{ id: '1', function: { name: 'wipe', arguments: '{}' } }] }),
    toOpenAIResults,
  ],
  [
    'openai responses',
    () => fromOpenAIResponsesCalls([{ type: 'function_call', call_id: '1', name: 'wipe', arguments: '{}' }]),
    toOpenAIResponsesResults,
  ],
  [
    'anthropic',
    () => fromAnthropicCalls({ content: [{ type: 'tool_use', id: '1', name: 'wipe', input: {} }] }),
    toAnthropicResults,
  ],
  [
    'gemini',
    () => fromGeminiCalls({ parts: [{ functionCall: { id: '1', name: 'wipe', args: {} } }] }),
    toGeminiResults,
  ],
  ['mcp', () => fromMcpCalls({ name: 'wipe', arguments: {} }), toMcpResults],
  ['ai-sdk', () => fromAiSdkCalls({ toolCalls: [{ toolCallId: '1', toolName: 'wipe', input: {} }] }), toAiSdkResults],
  ['langchain', () => fromLangChainCalls({ tool_calls: [{ id: '1', name: 'wipe', args: {} }] }), toLangChainResults],
];

describe('a turn of messages', () => {
  it.each(MESSAGES)('%s: callAll with park answers with the id of the approval', async (_name, read, toResults) => {
    const { chest, waitingId } = await office();
    const answers = await chest.callAll(read(), { park: true });
    expect(JSON.stringify(toResults(answers as never))).toContain(`id ${await waitingId()}`);
  });
});
