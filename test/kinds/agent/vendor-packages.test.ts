import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from './model-server.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const MOVE = { text: 'Let me read.', calls: [{ name: 'read_book', input: { title: 'Emma' }, id: 'c1' }] };
const user = { role: 'user' as const, content: 'Hello' };

describe('the model server of these tests speaks the APIs, as the packages of their vendors read them', () => {
  it.each([true, false])('OpenAI, stream: %s', async (isStreamed) => {
    const openai = new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 });
    server.play([MOVE]);
    const asked = { model: 'm', messages: [user] };
    const usages: unknown[] = [];
    const read = async () => {
      const stream = openai.chat.completions.stream({ ...asked, stream_options: { include_usage: true } });
      stream.on('chunk', (chunk) => usages.push(chunk.usage));
      return stream.finalChatCompletion();
    };
    const completion = isStreamed ? await read() : await openai.chat.completions.create(asked);
    usages.push(completion.usage);
    const [choice] = completion.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Let me read.' } });
    const given = { name: 'read_book', arguments: '{"title":"Emma"}' };
    expect(choice?.message.tool_calls).toMatchObject([{ id: 'c1', function: given }]);
    expect(usages).toContainEqual(expect.objectContaining({ prompt_tokens: 10, completion_tokens: 5 }));
  });

  it.each([true, false])('Anthropic, stream: %s', async (isStreamed) => {
    const anthropic = new Anthropic({ apiKey: 'k', baseURL: server.url.replace('/v1', ''), maxRetries: 0 });
    server.play([MOVE]);
    const asked = { model: 'm', max_tokens: 10, messages: [user] };
    const message = isStreamed
      ? await anthropic.messages.stream(asked).finalMessage()
      : await anthropic.messages.create(asked);
    expect(message).toMatchObject({ stop_reason: 'tool_use', usage: { input_tokens: 10, output_tokens: 5 } });
    expect(message.content).toMatchObject([
      { type: 'text', text: 'Let me read.' },
      { type: 'tool_use', id: 'c1', name: 'read_book', input: { title: 'Emma' } },
    ]);
  });
});
