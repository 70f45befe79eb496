import { describe, expect, it } from 'vitest';
import type { Chest, Crib } from '../../../src/index.ts';
import { startModern } from './http-servers.ts';
import { cribWith, serverOf } from './upstream.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function open(mcp: object, more: object = {}): Promise<{ readonly crib: Crib; readonly chest: Chest }> {
  const crib = await cribWith({ w: { mcp, ...more } });
  return { crib, chest: await crib.open(undefined, { id: 'alice', approve: () => true }) };
}

/** Ways to reach a server that has something of everything. */
const WAYS: Readonly<Record<string, () => Promise<object>>> = {
  'on stdio': async () => serverOf('modern.ts'),
  'over HTTP': async () => ({ url: (await startModern()).url }),
  'on stdio, of the older era': async () => serverOf('modern.ts', ['old']),
  'over HTTP, of the older era': async () => ({ url: (await startModern(undefined, 'stateless', 'old')).url }),
};

describe.each(Object.entries(WAYS))('a server %s', (way, reach) => {
  it('content is converted without loss', async () => {
    const { chest } = await open(await reach());
    expect(await chest.call('w_everything')).toEqual({
      ok: true,
      status: 'done',
      content: [
        {
          type: 'text',
          text: 'words',
          annotations: { audience: ['user'], priority: 0.5 },
          _meta: { 'example.com/a': 1 },
        },
        { type: 'image', data: 'aW1hZ2U=', mimeType: 'image/png' },
        { type: 'audio', data: 'YXVkaW8=', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'file:///a', name: 'a', title: 'A', size: 3 },
        { type: 'resource', resource: { uri: 'file:///b', mimeType: 'text/plain', text: 'b' } },
        { type: 'resource', resource: { uri: 'file:///c', blob: 'Yw==' } },
      ],
      data: { sum: 3 },
      meta: { 'example.com/trace': 'kept' }, // what is ours, or theirs to say of themselves, is not passed on
    });
    expect(await chest.call('w_fail')).toMatchObject({
      ok: false,
      error: { code: 'tool_error', message: 'the paper is out' },
      content: [{ text: 'the paper is out' }, { type: 'image' }],
      data: { tray: 2 },
    });
  });

  it('specs have the data of the server', async () => {
    const { crib } = await open(await reach(), { trust: true });
    expect(crib.get('w_echo')).toMatchObject({
      title: 'Say it again',
      description: 'Answers what it is told',
      input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      effects: { readOnly: true, openWorld: false },
      meta: {
        icons: [{ src: 'https://example.com/icon.png', mimeType: 'image/png' }],
        _meta: { 'example.com/colour': 'red' },
      },
      origin: 'echo',
      source: 'w',
    });
    expect(crib.get('w_everything')).toMatchObject({
      title: 'All there is',
      output: { type: 'object', required: ['sum'] },
      effects: { destructive: true, idempotent: false },
    });
    expect(JSON.stringify(crib.get('w_echo'))).not.toContain('mcp');
  });

  it('progress, cancellation, trace context and large arguments pass through', async () => {
    const { chest } = await open(await reach());
    const progress: unknown[] = [];
    await chest.call('w_steps', { count: 2 }, { onProgress: (step) => void progress.push(step) });
    expect(progress).toEqual([
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
    ]);
    expect(await chest.call('w_meta', {}, { traceparent: TRACE })).toMatchObject({ data: { traceparent: TRACE } });
    expect(await chest.call('w_length', { text: 'x'.repeat(1_000_000) })).toMatchObject({
      content: [{ text: '1000000' }],
    });
    expect(await chest.call('w_wait', {}, { timeoutMs: 50 })).toMatchObject({ error: { code: 'timeout' } });
    const until = async (count: number): Promise<unknown> => {
      const result = await chest.call('w_cancelled');
      const data = result.ok ? (result.data as { readonly count: number }) : { count: Number.NaN }; // what the tool says
      return data.count < count ? until(count) : data;
    };
    // A stateless server of the older era has no listener left.
    if (way !== 'over HTTP, of the older era') expect(await until(1)).toEqual({ count: 1 });
  });

  it('an answer of 30 MB is too large, one of 20 MB is not, and the server continues', async () => {
    const { chest } = await open(await reach());
    const [big, small] = await Promise.all([
      chest.call('w_big', { bytes: 30_000_000 }),
      chest.call('w_echo', { text: 'x' }),
    ]);
    expect(big).toMatchObject({ error: { code: 'too_large' } });
    expect(small).toMatchObject({ ok: true });
    expect(await chest.call('w_big', { bytes: 20_000_000 })).toMatchObject({ ok: true });
  });

  it('protocol errors describe the problem without a stack', async () => {
    const { chest } = await open(await reach());
    const codeOf = async (code: number) => {
      const result = await chest.call('w_refuse', { code });
      return 'error' in result ? [result.error.code, result.error.message] : result;
    };
    expect(await codeOf(-32602)).toEqual(['invalid_input', 'not like this']);
    expect(await codeOf(-32603)).toEqual(['tool_error', 'not like this']);
    expect(await codeOf(-32000)).toEqual(['tool_error', 'not like this']);
    expect(await codeOf(-32601)).toEqual(['tool_error', 'not like this']);
  });

  it('its hints can only raise caution unless it is trusted', async () => {
    const { crib, chest } = await open(await reach());
    expect(crib.get('w_echo')?.effects).toEqual({});
    expect(crib.get('w_everything')?.effects).toEqual({ destructive: true, idempotent: false });
    expect(await (await crib.open()).call('w_everything')).toMatchObject({ error: { code: 'denied' } });
    expect(await chest.call('w_everything')).toMatchObject({ ok: true });
  });
});

describe('a server of the newest era', () => {
  const CAPABILITIES = { elicitation: { form: {} } };

  it.each(['on stdio', 'over HTTP'])('%s that asks for more waits for the client that can be asked', async (way) => {
    const { chest } = await open((await WAYS[way]?.()) ?? {});
    const asked = await chest.call('w_ask', {}, { answers: { input: { capabilities: CAPABILITIES } } });
    expect(asked).toMatchObject({
      status: 'waiting',
      waiting: {
        for: 'input',
        expiresAt: expect.any(Number),
        ask: {
          inputRequests: { name: { method: 'elicitation/create', params: { message: 'Who are you?' } } },
          requestState: 'asked once',
        },
      },
    });
    const responses = { name: { action: 'accept', content: { name: 'Ada' } } };
    const input = { capabilities: CAPABILITIES, responses, state: 'asked once' };
    expect(await chest.call('w_ask', {}, { answers: { input } })).toMatchObject({
      content: [{ text: 'Hello Ada, asked once' }],
    });
  });

  it('does not ask a client without that capability', async () => {
    const { chest } = await open(serverOf('modern.ts'));
    expect(await chest.call('w_ask')).toMatchObject({ error: { code: 'tool_error' } });
  });

  it('that only asks for a retry gets one', async () => {
    const { chest } = await open(serverOf('modern.ts'));
    expect(await chest.call('w_again')).toMatchObject({ content: [{ text: 'here you are' }] });
  });

  it('gets arguments in headers if its schema requires it', async () => {
    const { chest } = await open({ url: (await startModern()).url });
    expect(await chest.call('w_routed', { region: 'eu' })).toMatchObject({ content: [{ text: 'eu eu' }] });
    expect(await chest.call('w_routed', { region: 'hü' })).toMatchObject({
      content: [{ text: 'hü =?base64?aMO8?=' }],
    });
    expect(await chest.call('w_routed')).toMatchObject({ content: [{ text: 'undefined none' }] });
  });

  it('may answer with a list', async () => {
    const { chest } = await open(serverOf('modern.ts'));
    expect(await chest.call('w_list')).toMatchObject({ content: [{ text: '[1,2,3]' }], data: [1, 2, 3] });
  });
});
