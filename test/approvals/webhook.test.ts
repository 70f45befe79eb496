import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { approval, createCrib } from '../../src/index.ts';
import { createWebhook } from '../../src/system/fetch/webhook.ts';
import { wrong } from '../bad-input/wrong.ts';
import { manualClock } from '../crib/manual-clock.ts';
import { folderWith } from '../crib/workshop.ts';
import { idOf, openOffice } from './payments.ts';
import { openJobs, pay as payCall } from './scripts.ts';

const SECRET = 'correct horse battery staple';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A chat tool that is told of approvals; `answer` says what it does with a message. */
async function chat(answer: RequestListener = (_, response) => response.end()) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: (await buffer(request)).toString() });
    answer(request, response);
    server.emit('told');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const told = async (count: number) => {
    while (received.length < count) await once(server, 'told');
  };
  return { url: `http://127.0.0.1:${address.port}/hook`, received, told };
}

/** As the documentation tells receivers to do it. */
function isGenuine({ headers, body }: Received, secret: string): boolean {
  const timestamp = String(headers['toolcrib-timestamp']);
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const expected = `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
  const given = String(headers['toolcrib-signature']);
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the webhook of approvals', () => {
  const openWith = async (url: string) => {
    vi.stubEnv('CHAT_SECRET', SECRET);
    const secrets = { chat: { env: 'CHAT_SECRET' } };
    return openOffice({ secrets, extensions: [approval({ webhook: { url, secret: 'chat' } })] });
  };

  it('sends one message for a batch, when it is sealed', async () => {
    const { url, received, told } = await chat();
    vi.stubEnv('CHAT_SECRET', SECRET);
    const secrets = { chat: { env: 'CHAT_SECRET' } };
    const { sealed, stored } = await openJobs({
      secrets,
      extensions: [approval({ webhook: { url, secret: 'chat' } })],
    });
    const { batch, ids } = await sealed([payCall(3), payCall(4)]);
    await stored.sealBatch(batch);
    await told(1);
    const message = JSON.parse(received[0]?.body ?? '');
    expect(message).toMatchObject({ id: batch, tool: 'job', caller: { id: 'alice' }, expiresAt: expect.any(Number) });
    expect(message.items.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(message.items[0]).toMatchObject({ tool: 'pay', title: 'Pay a bill', reason: 'it is destructive' });
    for (const line of [
      'May these 2 calls inside "job" run?',
      'Call 1 of 2:',
      'Call 2 of 2:',
      '"amount": 3',
      '"amount": 4',
    ])
      expect(message.text).toContain(line);
    await sealed([payCall(5)]);
    await told(2);
    expect(received).toHaveLength(2);
    expect(JSON.parse(received[1]?.body ?? '')).toMatchObject({ tool: 'pay', arguments: { amount: 5 } });
  });

  it('sends a signed message for each waiting call', async () => {
    const { url, received, told } = await chat();
    const office = await openWith(url);
    const result = await office.pay(3);
    await told(1);
    const [message] = received;
    if (message === undefined || result.status !== 'waiting') throw new Error('nothing came');
    expect(JSON.parse(message.body)).toEqual({
      id: result.waiting.id,
      tool: 'pay',
      title: 'Pay a bill',
      arguments: { amount: 3 },
      caller: { id: 'alice', roles: ['dev'] },
      profile: 'all',
      reason: 'it is destructive',
      expiresAt: result.waiting.expiresAt,
      text: expect.stringMatching(/^May "pay" \("Pay a bill"\) run\?\n.*\n {2}"amount": 3\n/s),
    });
    expect(message.headers['content-type']).toBe('application/json');
    expect(isGenuine(message, SECRET)).toBe(true);
    expect(isGenuine(message, 'another')).toBe(false);
    expect(isGenuine({ ...message, body: message.body.replace('3', '4') }, SECRET)).toBe(false);
    expect(JSON.stringify(received)).not.toContain(SECRET);
  });

  it('sends one message per request, even if the call is sent again, and none for calls that are answered at once', async () => {
    const { url, received, told } = await chat();
    const office = await openWith(url);
    await office.pay(1);
    await office.pay(1);
    await office.pay(2, { as: { id: 'alice', approve: () => true } });
    const slow = office.pay(3, { as: { id: 'alice', approve: async () => true } });
    await told(2);
    await slow;
    await office.crib.close();
    expect(received.map(({ body }) => JSON.parse(body).arguments.amount)).toEqual([1, 3]);
  });

  it('sends arguments without secrets', async () => {
    const { url, received, told } = await chat();
    vi.stubEnv('BANK_TOKEN', 'to"ken-12345678');
    vi.stubEnv('CHAT_SECRET', SECRET);
    const office = await openOffice({
      secrets: { chat: { env: 'CHAT_SECRET' }, bank: { env: 'BANK_TOKEN' } },
      extensions: [approval({ webhook: { url, secret: 'chat' } })],
      tool: { input: { type: 'object' } },
    });
    const chest = await office.crib.open(undefined, { id: 'alice' });
    await chest.call('pay', { token: 'to"ken-12345678' }, { park: true });
    await told(1);
    expect(received[0]?.body).not.toContain('12345678');
  });

  it('that fails neither fails nor delays the call, and is reported', async () => {
    const { url, told } = await chat((_, response) => response.writeHead(400).end());
    const office = await openWith(url);
    expect(idOf(await office.pay(3))).toBeDefined();
    await told(1);
    await office.crib.close();
    expect(office.crib.warnings().join()).toMatch(
      /webhook message was not delivered: 127\.0\.0\.1:\d+ answered with status 400/,
    );
  });

  it('whose secret is missing sends nothing, and is reported', async () => {
    const { url, received } = await chat();
    const secrets = { chat: { env: 'NOT_SET' } };
    const office = await openOffice({ secrets, extensions: [approval({ webhook: { url, secret: 'chat' } })] });
    expect(idOf(await office.pay(3))).toBeDefined();
    await office.crib.close();
    expect(received).toEqual([]);
    expect(office.crib.warnings().join()).toContain('The secret "chat" was not found');
  });

  it('can be configured', async () => {
    const { url, received, told } = await chat();
    vi.stubEnv('CHAT_SECRET', SECRET);
    const folder = folderWith({
      'toolcrib.yaml': `
extensions: { approval: { webhook: { url: "${url}", secret: chat } } }
secrets: { chat: { env: CHAT_SECRET } }
`,
    });
    const wipe = { name: 'wipe', description: '', effects: { destructive: true }, run: () => 'gone' };
    const crib = await createCrib({ configFile: folder, store: { url: 'memory:' }, tools: [wipe] });
    onTestFinished(() => crib.close());
    expect(crib.warnings()).toEqual([]);
    await (await crib.open(undefined, { id: 'alice' })).call('wipe', {}, { park: true });
    await told(1);
    expect(received.map((message) => isGenuine(message, SECRET))).toEqual([true]);
  });

  it.each<[string, unknown]>([
    ['no address', { secret: 'chat' }],
    ['an address that is none', { url: 'chat', secret: 'chat' }],
    ['another scheme', { url: 'file:///etc/passwd', secret: 'chat' }],
    ['no secret', { url: 'https://chat.example.com' }],
    ['an empty secret', { url: 'https://chat.example.com', secret: '' }],
    ['an unknown key', { url: 'https://chat.example.com', secret: 'chat', method: 'GET' }],
    ['a text', 'https://chat.example.com'],
  ])('with %s is an error', (_, webhook) => {
    expect(() => approval({ webhook: wrong(webhook) })).toThrow(/webhook/);
  });
});

describe('delivery', () => {
  const hook = (url: string, clock = manualClock()) => {
    const warnings: string[] = [];
    const sign = async () => 'signature';
    const webhook = createWebhook({ url, sign, clock, warn: (message) => void warnings.push(message) });
    return { ...webhook, clock, warnings };
  };

  it('is retried a few times, after a pause, if a retry may help', async () => {
    const { url, received, told } = await chat((_, response) => response.writeHead(503).end());
    const { send, clock, warnings } = hook(url);
    send({ id: 'a' });
    for (const [count, pauseMs] of [1000, 5000].entries()) {
      await told(count + 1);
      await vi.waitFor(() => expect(clock.count()).toBe(1));
      clock.advance(pauseMs);
    }
    await told(3);
    await vi.waitFor(() => expect(warnings).toEqual([expect.stringContaining('status 503')]));
    expect(received).toHaveLength(3);
    expect(clock.count()).toBe(0);
  });

  it('ends with the first success', async () => {
    const statuses = [500, 204];
    const { url, received, told } = await chat((_, response) => response.writeHead(statuses.shift() ?? 500).end());
    const { send, clock, warnings, close } = hook(url);
    send({ id: 'a' });
    await told(1);
    await vi.waitFor(() => expect(clock.count()).toBe(1));
    clock.advance(1000);
    await told(2);
    await close();
    expect([received.length, warnings]).toEqual([2, []]);
  });

  it('does not follow redirects', async () => {
    const elsewhere = await chat();
    const { url } = await chat((_, response) => response.writeHead(307, { location: elsewhere.url }).end());
    const { send, warnings, close } = hook(url);
    send({ id: 'a' });
    await close();
    expect(warnings).toEqual([expect.stringContaining('redirects')]);
    expect(elsewhere.received).toEqual([]);
  });

  it('queues a limited number of messages', async () => {
    const { url } = await chat(() => undefined);
    const { send, warnings, close, clock } = hook(url);
    for (let index = 0; index < 1100; index++) send({ id: String(index) });
    expect(warnings.length).toBeGreaterThan(0);
    expect(warnings.length).toBeLessThan(100);
    const closed = close();
    clock.advance(5000);
    await closed;
    send({ id: 'late' });
  });

  it('is awaited for a limited time when the crib closes', async () => {
    const held = Promise.withResolvers<void>();
    const { url, received, told } = await chat((_, response) => void held.promise.then(() => response.end()));
    const { send, close, warnings } = hook(url);
    send({ id: 'a' });
    await told(1);
    const closed = close();
    held.resolve();
    await closed;
    expect([received.length, warnings]).toEqual([1, []]);
  });
});
