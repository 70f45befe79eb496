import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { ENVELOPE, SELF, shakeHands } from '../../../src/kinds/mcp/handshake.ts';
import { McpFailure } from '../../../src/kinds/mcp/mcp-failure.ts';
import { createSubscriptions } from '../../../src/kinds/mcp/tool-changes.ts';
import { createWireRequests, type ServerTransport, type WireMessage } from '../../../src/kinds/mcp/wire-requests.ts';

type Answer = JsonObject | 'silence';

/** A server in this process that answers each request by its method, and the methods that it got. */
function serverWith(answerTo: (method: string, count: number) => Answer) {
  const seen: string[] = [];
  const sent: WireMessage[] = [];
  const transport: ServerTransport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => {
      const { id, method } = message as WireMessage; // what the client sends
      sent.push(message as WireMessage);
      if (typeof method === 'string') seen.push(method);
      if (typeof id !== 'number' || typeof method !== 'string') return;
      const answer = answerTo(method, seen.filter((one) => one === method).length);
      if (answer !== 'silence') transport.onmessage?.({ jsonrpc: '2.0', id, ...answer } as never); // an answer
    },
    failureOf: (cause) => new McpFailure('lost', 'it ended', { cause }),
    mayStillAnswer: () => true,
    forget: () => {},
    lastWords: () => undefined,
  };
  return { transport, seen, sent };
}

const unknown = { error: { code: -32_601, message: 'Method not found' } };
const older = {
  result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'old', version: '1' } },
};
const modern = { result: { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } } };
const unsupported = (...supported: string[]) => ({ error: { code: -32_022, message: 'no', data: { supported } } });

function shake({ transport }: ReturnType<typeof serverWith>, settings: object = {}) {
  const requests = createWireRequests(transport, { envelope: () => undefined, onOther: () => {} });
  const usual = { era: undefined, mustAnswer: false, probeMs: 20, timeoutMs: 20_000 };
  return shakeHands({ transport, requests, ...usual, ...settings });
}

describe('the handshake with a server', () => {
  it('agrees on the newest revision, with the identity of the client in each request', async () => {
    const server = serverWith(() => modern);
    const agreed = await shake(server);
    expect(agreed).toEqual({ era: 'modern', version: '2026-07-28', reportsToolChanges: true });
    expect(server.seen).toEqual(['server/discover']);
    expect(server.sent[0]?.params).toEqual({ _meta: ENVELOPE });
    expect(Object.values(ENVELOPE)).toEqual(['2026-07-28', SELF, {}]);
  });

  it.each<[string, Answer]>([
    ['does not know the request', unknown],
    ['names older revisions only', unsupported('2025-11-25')],
    ['speaks older revisions only', { result: { supportedVersions: ['2025-11-25'], capabilities: {} } }],
    ['answers without a list of revisions', { result: {} }],
    ['answers without a result', {}],
    ['is silent', 'silence'],
  ])('takes the older one if the server %s', async (_, probed) => {
    const server = serverWith((method) => (method === 'initialize' ? older : probed));
    expect(await shake(server)).toEqual({ era: 'legacy', version: '2025-06-18', reportsToolChanges: false });
    // An older server may end itself if it gets anything else before `initialize`.
    expect(server.seen).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
  });

  it('does not probe a server that is known to be an older one', async () => {
    const server = serverWith(() => older);
    await shake(server, { era: 'legacy' });
    expect(server.seen).toEqual(['initialize', 'notifications/initialized']);
  });

  it('asks once more if the server names our revision, and then fails', async () => {
    const server = serverWith((_, count) => (count === 1 ? unsupported('2026-07-28') : modern));
    expect(await shake(server)).toMatchObject({ era: 'modern' });
    await expect(shake(serverWith(() => unsupported('2026-07-28')))).rejects.toMatchObject({ code: -32_022 });
  });

  it.each<[string, Answer, object]>([
    ['names newer revisions only', unsupported('2027-01-01'), {}],
    ['agrees on a revision that we do not know', { result: { protocolVersion: '1999-01-01' } }, { era: 'legacy' }],
    ['refuses', { error: { code: -32_000, message: 'no' } }, { era: 'legacy' }],
    ['is silent, and silence is an outage', 'silence', { mustAnswer: true }],
  ])('fails if the server %s', async (_, answer, settings) => {
    await expect(
      shake(
        serverWith(() => answer),
        settings,
      ),
    ).rejects.toBeInstanceOf(McpFailure);
  });
});

describe('a subscription', () => {
  const id = 'listen:1';
  const acknowledged = {
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
  };
  const opened = async () => {
    const subscriptions = createSubscriptions(serverWith(() => 'silence').transport, ENVELOPE);
    const opening = subscriptions.open();
    expect(subscriptions.take(acknowledged)).toBe(true);
    return { subscriptions, subscription: await opening };
  };

  it.each<[string, WireMessage]>([
    ['cancels it', { method: 'notifications/cancelled', params: { requestId: id } }],
    ['answers its request', { id, result: {} }],
  ])('is over when the server %s', async (_, message) => {
    const { subscriptions, subscription } = await opened();
    expect(subscriptions.take(message)).toBe(true);
    await subscription.ended;
    expect(subscriptions.take(message)).toBe(false);
  });

  it('is over when the connection is', async () => {
    const { subscriptions, subscription } = await opened();
    subscriptions.close();
    await subscription.ended;
    expect(subscriptions.isClosed()).toBe(true);
  });

  it('fails if the server answers before it acknowledges', async () => {
    const subscriptions = createSubscriptions(serverWith(() => 'silence').transport, ENVELOPE);
    const opening = subscriptions.open();
    subscriptions.take({ id, error: { code: -32_603, message: 'too many' } });
    await expect(opening).rejects.toThrow('ended the subscription');
  });
});
