import { AIMessage, type BaseMessageLike, coerceMessageLikeToMessage, ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { convertToOpenAITool, isLangChainTool } from '@langchain/core/utils/function_calling';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { expect, test } from 'vitest';
import type { ToolResult } from '../../src/core/tool-result.ts';
import { fromLangChainCalls, toLangChain, toLangChainResults } from '../../src/formats/langchain.ts';
import { answerAll, ECHOED, PICTURE, PNG, RECURSIVE, REFUSED, specOf } from './specs.ts';

test('LangChain accepts the definitions as its own tools', () => {
  const tools = toLangChain([specOf('echo'), specOf('tree', { input: RECURSIVE }), specOf('bare', { input: {} })]);
  for (const tool of tools) expect(isLangChainTool(tool)).toBe(true);
  const [echo] = tools.map((tool) => convertToOpenAITool(tool));
  expect(echo).toEqual({
    type: 'function',
    function: { name: 'echo', description: 'What echo does', parameters: specOf('echo').input },
  });
});

test('the calls of an AIMessage are read, and the answers return to a model', async () => {
  const said = new AIMessage({
    content: '',
    tool_calls: [{ id: 'call_1', name: 'echo', args: { text: 'hi' }, type: 'tool_call' }],
    invalid_tool_calls: [
      { id: 'call_2', name: 'echo', args: '{"text":', error: 'Malformed args.', type: 'invalid_tool_call' },
    ],
  });
  const requests = fromLangChainCalls(said);
  expect(requests).toEqual([
    { id: 'call_1', name: 'echo', input: { text: 'hi' } },
    { id: 'call_2', name: 'echo', input: '{"text":' },
  ]);
  const results: BaseMessageLike[] = toLangChainResults(
    answerAll(requests, ({ id }) => (id === 'call_1' ? ECHOED : REFUSED)),
  );
  const messages = results.map(coerceMessageLikeToMessage);
  expect(messages.every((message) => message instanceof ToolMessage)).toBe(true);
  expect(messages).toMatchObject([
    { tool_call_id: 'call_1', name: 'echo', content: '{"echo":"hi"}', status: 'success' },
    { tool_call_id: 'call_2', status: 'error', content: expect.stringContaining('invalid_input') },
  ]);
  const reply = await new FakeListChatModel({ responses: ['done'] }).invoke([said, ...results]);
  expect(reply.content).toBe('done');
});

test('images and other media are standard content blocks', () => {
  const [result] = toLangChainResults([{ id: 'c', name: 'look', result: PICTURE }]);
  const message = coerceMessageLikeToMessage(result ?? '');
  expect(message.contentBlocks).toMatchObject([
    { type: 'text', text: 'The page' },
    { type: 'image', mimeType: 'image/png', data: PNG },
    { type: 'audio', mimeType: 'audio/wav' },
    { type: 'text' },
    { type: 'text' },
    { type: 'file', mimeType: 'application/pdf' },
  ]);
});

test('with a chest the fields make a LangChain tool that runs through it', async () => {
  const asked: unknown[] = [];
  const chest = {
    call: async (name: string, input: unknown, options?: { signal?: AbortSignal }): Promise<ToolResult> => {
      asked.push({ name, input, signal: options?.signal });
      return ECHOED;
    },
  };
  const [tool] = toLangChain([specOf('echo')], chest).map((fields) => new DynamicStructuredTool(fields));
  const { signal } = new AbortController();
  const message = await tool?.invoke(
    { id: 'call_1', name: 'echo', args: { text: 'hi' }, type: 'tool_call' },
    { signal },
  );
  expect(asked).toEqual([{ name: 'echo', input: { text: 'hi' }, signal }]);
  expect(message).toBeInstanceOf(ToolMessage);
  expect(message).toMatchObject({ tool_call_id: 'call_1', content: '{"echo":"hi"}', artifact: ECHOED });
});

test('a definition without a chest cannot run', () => {
  expect(Object.keys(toLangChain([specOf('echo')])[0] ?? {})).toEqual(['name', 'description', 'schema']);
});

test('invalid entries in the list of calls still get a request each', () => {
  expect(fromLangChainCalls({ tool_calls: [null, 'x', { id: 1, name: 2 }] })).toEqual([
    { name: '', input: {} },
    { name: '', input: {} },
    { id: '1', name: '', input: {} },
  ]);
});
