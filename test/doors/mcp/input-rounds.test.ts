import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { done, type Executor, failed, type ToolInput, toolError } from '../../../src/index.ts';
import { legacyClient, modernRequest, post, type RawMessage } from './clients.ts';
import { startGateway } from './gateway.ts';

const ALL = { elicitation: { form: {} }, sampling: {}, roots: {} };

/** Asks for a name, then for a colour, like a server further up would. */
const ASKER: Executor = {
  kind: 'asker',
  runSchema: { type: 'object' },
  execute: async (call) => {
    const { responses, state, capabilities } = call.answers?.input ?? {};
    if (capabilities === undefined) return failed(toolError('upstream', 'Nobody can be asked.'));
    if (state === 'round 2') return done(`done ${JSON.stringify(responses)}`);
    const isNamed = responses !== undefined && 'name' in responses;
    const [key, next] = isNamed ? ['colour', 'round 2'] : ['name', 'round 1'];
    const question = {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: `What ${key}?`,
        requestedSchema: { type: 'object', properties: { it: { type: 'string' } }, required: ['it'] },
      },
    };
    const ask = { inputRequests: { [key as string]: question }, requestState: next as string };
    const expiresAt = Date.now() + 60_000;
    return { ok: false, status: 'waiting', waiting: { for: 'input', id: call.id, expiresAt, ask } };
  },
};

const TOOLS: readonly ToolInput[] = [
  { name: 'ask', description: 'Asks', run: { kind: 'asker' } },
  {
    name: 'ask_first',
    description: 'Asks, if it may',
    effects: { destructive: true },
    policy: { approvers: ['caller'] },
    run: { kind: 'asker' },
  },
];

/** Takes any arguments. */
const ANYTHING = { description: 'Asks', input: { type: 'object', additionalProperties: true }, run: { kind: 'asker' } };

const say = (it: string) => ({ action: 'accept', content: { it } });

async function call(
  url: string,
  params: Readonly<Record<string, unknown>>,
  capabilities: unknown = ALL,
): Promise<RawMessage> {
  const { body, headers } = modernRequest('tools/call', params, capabilities);
  return (await post(url, body, headers)).messages.at(-1) ?? {};
}

describe('a tool whose server asks for more', () => {
  it('asks the client of the newest revision, round by round, and gets its state back', async () => {
    const { url } = await startGateway({ tools: TOOLS, executors: [ASKER] });
    const first = await call(url(), { name: 'ask', arguments: {} });
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { name: { method: 'elicitation/create', params: { message: 'What name?' } } },
    });
    expect(first.result?.requestState).not.toContain('round');
    const inputResponses = { name: say('Ann') };
    const second = await call(url(), {
      name: 'ask',
      arguments: {},
      inputResponses,
      requestState: first.result?.requestState,
    });
    expect(second.result).toMatchObject({ resultType: 'input_required', inputRequests: { colour: {} } });
    const third = {
      name: 'ask',
      arguments: {},
      inputResponses: { colour: say('blue') },
      requestState: second.result?.requestState,
    };
    expect((await call(url(), third)).result).toMatchObject({
      resultType: 'complete',
      content: [{ text: `done ${JSON.stringify({ colour: say('blue') })}` }],
    });
    expect(await call(url(), third)).toMatchObject({ error: { code: -32602 } });
  });

  it('ignores answers that came before its question, and asks', async () => {
    const { url } = await startGateway({ tools: TOOLS, executors: [ASKER] });
    const inputResponses = { name: say('Ann'), unknown: say('x') };
    expect((await call(url(), { name: 'ask', arguments: {}, inputResponses })).result).toMatchObject({
      inputRequests: { name: {} },
    });
    for (const wrong of [{ other: say('x') }, { name: 12345 }, null, 'no', []]) {
      const answer = await call(url(), { name: 'ask', arguments: {}, inputResponses: wrong });
      expect(answer.error?.code === -32602 || answer.result?.resultType === 'input_required').toBe(true);
    }
  });

  it.each([
    ['a call of the tool itself', 'ask', 'call_tool'],
    ['call_tool', 'call_tool', 'ask'],
  ])('does not get answers for other arguments: asked through %s', async (_, asked, answered) => {
    const { url } = await startGateway({
      tools: [{ ...ANYTHING, name: 'ask' }],
      executors: [ASKER],
      profiles: { agent: { expose: 'search' } },
      defaultProfile: 'agent',
    });
    // For the tool itself these are its arguments; call_tool finds the arguments inside of them.
    const given = { arguments: { name: 'ask', arguments: {} } };
    const first = await call(url(), { name: asked, ...given });
    expect(first.result).toMatchObject({ resultType: 'input_required' });
    const answers = { inputResponses: { name: say('Ann') }, requestState: first.result?.requestState };
    expect(await call(url(), { name: answered, ...given, ...answers })).toMatchObject({
      error: { data: { reason: 'invalid_request_state' } },
    });
    expect(await call(url(), { name: asked, ...given, ...answers })).toMatchObject({
      result: { inputRequests: { colour: {} } },
    });
  });

  it('is not asked for something that the client does not support', async () => {
    const { url } = await startGateway({ tools: TOOLS, executors: [ASKER] });
    const { body, headers } = modernRequest('tools/call', { name: 'ask', arguments: {} }, { sampling: {} });
    expect(await post(url(), body, headers)).toMatchObject({
      status: 400,
      messages: [{ error: { code: -32021, data: { requiredCapabilities: { elicitation: {} } } } }],
    });
  });

  it('is answered by the SDK with the help of its user', async () => {
    const { url } = await startGateway({ tools: TOOLS, executors: [ASKER] });
    const client = new Client(
      { name: 'asks', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      return { action: 'accept' as const, content: { it: 'x', approve: true } };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(url())));
    onTestFinished(() => client.close());
    expect(await client.callTool({ name: 'ask', arguments: {} })).toMatchObject({ content: [{ type: 'text' }] });
    expect(asked).toEqual(['What name?', 'What colour?']);
    asked.length = 0;
    const answer = await client.callTool({ name: 'ask_first', arguments: {} });
    expect(answer).not.toHaveProperty('isError', true);
    // Each round runs the tool, so each is asked about; what was answered before is not asked for again.
    expect(asked.filter((message) => message.startsWith('What'))).toEqual(['What name?', 'What colour?']);
  });

  it('fails in words where the client is of an older revision and cannot be asked', async () => {
    const { url } = await startGateway({ tools: TOOLS, executors: [ASKER] });
    const client = await legacyClient(url());
    expect(await client.callTool({ name: 'ask' })).toMatchObject({
      isError: true,
      content: [{ text: 'upstream: Nobody can be asked.' }],
    });
  });
});
