import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createEventFeed } from '../../../src/doors/rest/event-feed.ts';
import { createEventStream } from '../../../src/doors/rest/event-stream.ts';
import type { ToolInput } from '../../../src/index.ts';
import { PAY } from '../../approvals/payments.ts';
import { jobTool, pay, storedIn } from '../../approvals/scripts.ts';
import { serverOf } from '../../kinds/mcp/upstream.ts';
import { execute, type Served, serve } from './served.ts';

interface Event {
  readonly event: string;
  readonly id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
  readonly data: any;
}

/** Listens until the test ends. */
async function listen({ app, token }: Served, path = '/api/events', more: Record<string, string> = {}) {
  const headers = { authorization: `Bearer ${token}`, ...more };
  const request = new Request(`http://127.0.0.1${path}`, { headers });
  const response = await app.fetch(request);
  return { response, ...listenTo(response.body) };
}

function listenTo(stream: ReadableStream<Uint8Array> | null | undefined) {
  const reader = stream?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error('there is no stream');
  onTestFinished(() => reader.cancel());
  let text = '';
  const next = async (event: string): Promise<Event> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const said = readEvent(text.slice(0, end));
        text = text.slice(end + 2);
        if (said?.event === event) return said;
      } else {
        const { done, value } = await reader.read();
        if (done) return { event: 'end', data: undefined };
        text += value;
      }
    }
  };
  return { next, reader, rest: () => text };
}

function readEvent(block: string): Event | undefined {
  const [, event] = /^event: (.*)$/m.exec(block) ?? [];
  const [, data] = /^data: (.*)$/m.exec(block) ?? [];
  const [, id] = /^id: (.*)$/m.exec(block) ?? [];
  return event === undefined ? undefined : { event, data: JSON.parse(data ?? 'null'), ...(id !== undefined && { id }) };
}

describe('events', () => {
  it('report a batch as one request', async () => {
    const ended = new Map();
    const tools = [{ ...PAY, run: () => 'paid' } as ToolInput, jobTool(ended)];
    const served = await serve({ crib: { tools } });
    const { next } = await listen(served);
    const [batch, single] = ['b.1', 'b.2'];
    await execute(served.ask, 'job', { batch, calls: [pay(3), pay(4)] });
    await storedIn(served.crib).sealBatch(batch);
    expect((await next('approvals')).data).toMatchObject({ id: batch, state: 'waiting', items: [{}, {}] });
    await served.crib.approvals.answer(batch, { decision: 'deny' }, { operator: true });
    expect((await next('approvals')).data).toMatchObject({ id: batch, state: 'denied' });
    await execute(served.ask, 'job', { batch: single, calls: [pay(5)] });
    await storedIn(served.crib).sealBatch(single);
    expect((await next('approvals')).data).toMatchObject({ tool: 'pay', arguments: { amount: 5 } });
  });

  it('report calls, without arguments and answers', async () => {
    const served = await serve();
    const { next, response } = await listen(served);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const { json } = await execute(served.ask, 'add', { a: 1234567, b: 2 });
    const { data } = await next('calls');
    expect(data).toMatchObject({
      callId: json.callId,
      tool: 'add',
      caller: 'local',
      profile: 'usual',
      door: 'rest',
      outcome: 'done',
    });
    expect(data).toMatchObject({ source: 'code', durationMs: expect.any(Number), tokens: 2, at: expect.any(String) });
    expect(JSON.stringify(data)).not.toContain('1234567');
    await execute(served.ask, 'nothing', {});
    expect((await next('calls')).data).toMatchObject({ tool: 'nothing', outcome: 'unknown_tool' });
  });

  it('report the beginning of a call that does not end at once, in its conversation', async () => {
    const served = await serve();
    const { next } = await listen(served);
    const gate = served.deeds.hold();
    const ending = execute(served.ask, 'wait', {}, { conversation: 'chat', turn: 'one' });
    const { data } = await next('calls-started');
    expect(data).toMatchObject({ tool: 'wait', conversation: 'chat', turn: 'one', door: 'rest' });
    gate.open();
    const { json } = await ending;
    expect(data.callId).toBe(json.callId);
    expect((await next('calls')).data).toMatchObject({ callId: json.callId, conversation: 'chat', turn: 'one' });
  });

  it('report the states of tasks, without arguments and results', async () => {
    const served = await serve();
    const { next } = await listen(served);
    const { json } = await execute(served.ask, 'add', { a: 1234567, b: 2 }, { async: true });
    expect((await next('tasks')).data).toMatchObject({ id: json.callId, tool: 'add', state: 'queued' });
    served.crib.server.runTasks();
    const states = [(await next('tasks')).data];
    while (states.at(-1).state !== 'done') states.push((await next('tasks')).data);
    expect(states.at(-1)).toMatchObject({ id: json.callId, outcome: 'done' });
    const { json: asking } = await execute(served.ask, 'wipe', { what: 'all' }, { async: true });
    while (states.at(-1).state !== 'waiting') states.push((await next('tasks')).data);
    expect(states.at(-1)).toMatchObject({ id: asking.callId, approvalId: expect.any(String) });
    expect(JSON.stringify(states)).not.toContain('1234567');
  });

  it('report changes of approvals, whichever process makes them', async () => {
    const served = await serve();
    const { next } = await listen(served);
    const { json } = await execute(served.ask, 'wipe', { what: 'all' });
    expect((await next('approvals')).data).toMatchObject({ id: json.waiting.id, state: 'waiting', tool: 'wipe' });
    await served.ask(`/api/approvals/${json.waiting.id}`, { token: served.token, body: { decision: 'deny' } });
    expect((await next('approvals')).data).toMatchObject({ id: json.waiting.id, state: 'denied' });
  });

  it('report approvals with long arguments cut, and read only changed ones', async () => {
    const served = await serve();
    const { approvals } = served.crib;
    const read: (readonly string[] | undefined)[] = [];
    const list: typeof approvals.list = (filter, by) => {
      read.push(filter?.ids);
      return approvals.list(filter, by);
    };
    const feed = createEventFeed({ ...served.crib, approvals: { ...approvals, list } });
    onTestFinished(() => feed.close());
    const { json: before } = await execute(served.ask, 'wipe', { what: 'before' });
    const { next } = listenTo(await feed.open());
    const { json } = await execute(served.ask, 'wipe', { what: 'x'.repeat(1_000_000) });
    const { data } = await next('approvals');
    expect(data).toMatchObject({ id: json.waiting.id, argumentsLength: 1_000_011 });
    expect(JSON.stringify(data).length).toBeLessThan(8000);
    const answering = { token: served.token, body: { decision: 'deny' } };
    await served.ask(`/api/approvals/${before.waiting.id}`, answering);
    expect((await next('approvals')).data).toMatchObject({ id: before.waiting.id, state: 'denied' });
    expect(read).toEqual([[json.waiting.id], [before.waiting.id]]);
  });

  it('report added and removed tools, and activated bundles', async () => {
    const served = await serve();
    const { next } = await listen(served);
    served.crib.register({ name: 'fresh', description: 'x', run: () => 1 });
    expect((await next('tools-changed')).data).toMatchObject({ added: ['fresh'] });
    const body = { active: ['reading'] };
    await served.ask('/api/profiles/usual/active', { method: 'PUT', token: served.token, body });
    expect((await next('tools-changed')).data).toEqual({ profile: 'usual' });
  });

  it('report changes of sources', async () => {
    const served = await serve();
    const { next } = await listen(served);
    await served.crib.store?.specs.put(
      { name: 'kept', description: 'x', run: { kind: 'http', url: 'https://x.test' } },
      'test',
    );
    expect((await next('sources')).data).toMatchObject({ name: 'stored', state: 'ready', toolCount: 1 });
  });

  it('include heartbeats', async () => {
    const served = await serve({ events: { heartbeatMs: 10 } });
    const { reader } = await listen(served);
    const first = await reader.read();
    expect(first.value).toBe(': connected\n\n');
    expect((await reader.read()).value).toMatch(/^id: \S+\nevent: hello\n/);
    expect((await reader.read()).value).toMatch(/^: \n\n/);
  });

  it('the oldest ones are dropped for a slow reader, with their number', async () => {
    const served = await serve();
    const { next } = await listen(served);
    for (let a = 0; a < 1300; a++) await execute(served.ask, 'tell', {});
    const { data } = await next('lost');
    // Each call has an event, and those that do not end at once have another one.
    expect(data.count).toBeGreaterThan(250);
    expect(data.count).toBeLessThan(1600);
  });

  it('have a limited number of listeners, and watching ends with the last of them', async () => {
    const served = await serve({ events: { maxListeners: 2, lingerMs: 0 } });
    const before = served.crib.extensions.list().length;
    const listeners = [await listen(served), await listen(served)];
    expect(served.crib.extensions.list()).toHaveLength(before + 1);
    expect(await served.ask('/api/events', { token: served.token })).toMatchObject({
      status: 503,
      json: { error: { code: 'unavailable' } },
    });
    for (const { reader } of listeners) await reader.cancel();
    await vi.waitFor(() => expect(served.crib.extensions.list()).toHaveLength(before));
    await listen(served);
  });

  it('have places for every caller and for operators, however many streams one caller opens', async () => {
    const served = await serve({ access: true, events: { maxListeners: 8 } });
    const create = async (name: string) => (await served.crib.keys.create({ name, roles: ['dev'] }, 'test')).key;
    const open = async (token: string) =>
      served.app.fetch(new Request('http://127.0.0.1/api/events', { headers: { authorization: `Bearer ${token}` } }));
    const call = async (token: string) =>
      served.app.fetch(
        new Request('http://127.0.0.1/api/tools/execute/wait', {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            accept: 'text/event-stream',
            'content-type': 'application/json',
          },
          body: '{}',
        }),
      );
    const greedy = await create('greedy');
    const gate = served.deeds.hold();
    const statuses = [await open(greedy), await call(greedy), await call(greedy), await open(greedy)];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 503, 503]);
    for (const name of ['ann', 'bob']) {
      const key = await create(name);
      expect([(await open(key)).status, (await open(key)).status], name).toEqual([200, 200]);
    }
    expect((await open(await create('cora'))).status, 'all callers together').toBe(503);
    const operator = [await open(served.token), await open(served.token), await open(served.token)];
    expect(operator.map(({ status }) => status)).toEqual([200, 200, 503]);
    await statuses[0]?.body?.cancel();
    await vi.waitFor(async () => expect((await open(greedy)).status, 'a place that was left').toBe(200));
    gate.open();
  });

  it('resume after the last event that the client has, or tell of a gap', async () => {
    const served = await serve();
    const first = await listen(served);
    const hello = await first.next('hello');
    expect(hello).toMatchObject({ id: expect.any(String), data: { resumed: false } });
    await execute(served.ask, 'add', { a: 1, b: 2 });
    const { id = '' } = await first.next('calls');
    await first.reader.cancel();
    await execute(served.ask, 'echo', {});
    const second = await listen(served, '/api/events', { 'last-event-id': id });
    expect((await second.next('hello')).data.resumed).toBe(true);
    const { id: last = '', data } = await second.next('calls');
    expect(data).toMatchObject({ tool: 'echo' });
    const third = await listen(served, '/api/events', { 'last-event-id': last });
    await execute(served.ask, 'long', {});
    expect((await third.next('calls')).data).toMatchObject({ tool: 'long' });
    for (const unknown of ['x', '00000000-1', `${last}0`, `${last.slice(0, 8)}-99999`]) {
      const { next } = await listen(served, '/api/events', { 'last-event-id': unknown });
      expect((await next('hello')).data.resumed).toBe(false);
      expect(await next('reset')).toMatchObject({ id: expect.any(String), data: {} });
    }
  });

  it('are for a caller its own calls and the approvals that concern it', async () => {
    const served = await serve({ access: true });
    const { key } = await served.crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    const { next, rest } = await listen({ ...served, token: key });
    await execute(served.ask, 'add', { a: 1, b: 2 }, {}, served.token);
    await execute(served.ask, 'wipe', { what: 'theirs' }, {}, served.token);
    served.crib.register({ name: 'hidden_name', description: 'x', run: () => 1 });
    await execute(served.ask, 'echo', {}, {}, key);
    expect((await next('calls')).data).toMatchObject({ tool: 'echo', caller: 'key:ci' });
    await execute(served.ask, 'wipe', { what: 'mine' }, {}, key);
    expect((await next('approvals')).data).toMatchObject({ arguments: { what: 'mine' } });
    expect(rest()).not.toMatch(/hidden_name|theirs/);
  });

  it('end with the credential of the listener', async () => {
    const served = await serve({ access: true, events: { recheckMs: 5 } });
    const { key, info } = await served.crib.keys.create({ name: 'root', roles: ['admin'] }, 'test');
    const { next } = await listen({ ...served, token: key });
    await next('hello');
    await served.crib.keys.revoke(info.id, 'test');
    expect((await next('nothing')).event).toBe('end');
  });

  it('end when the server closes', async () => {
    const served = await serve();
    const { next } = await listen(served);
    served.app.close();
    expect((await next('calls')).event).toBe('end');
  });
});

describe('the followed output of a source', () => {
  const PATH = '/api/sources/noisy/output?follow=true';
  const args = JSON.stringify(serverOf('noisy.ts').args);
  const config = `
secrets: { key: { env: REST_FOLLOW_SECRET } }
mcpServers: { noisy: { command: node, args: ${args}, env: { KEY: "\${secret:key}" } } }
`;
  const follow = async (events = {}) => {
    vi.stubEnv('REST_FOLLOW_SECRET', 'hunter2hunter2');
    onTestFinished(() => void vi.unstubAllEnvs());
    return serve({ config, events });
  };

  it('has the present lines and then each new one, without secrets', async () => {
    const served = await follow();
    const { next, response } = await listen(served, PATH);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect((await next('output')).data.lines[0]).toBe('begun with [secret key]');
    await execute(served.ask, 'noisy_say', { text: 'one\nand hunter2hunter2\n' });
    expect((await next('output')).data.lines).toEqual(['one', 'and [secret key]']);
  });

  it('uses limited memory, however long its lines are', async () => {
    const { stream, send } = createEventStream(() => {});
    const { next } = listenTo(stream);
    for (let count = 0; count < 100; count++) send('output', { lines: [`${count} ${'x'.repeat(100_000)}`] });
    const { data } = await next('lost');
    expect(data.count).toBeGreaterThan(50);
    expect(data.count).toBeLessThan(90);
    expect((await next('output')).data.lines[0].length).toBeGreaterThan(100_000);
  });

  it('counts towards the limit of listeners, and ends with the server', async () => {
    const served = await follow({ maxListeners: 1 });
    const { next } = await listen(served, PATH);
    for (const path of [PATH, '/api/events'])
      expect((await served.ask(path, { token: served.token })).status, path).toBe(503);
    served.app.close();
    expect((await next('nothing')).event).toBe('end');
    await listen(served, PATH);
  });

  it('refuses an unknown source, and an invalid value of follow', async () => {
    const { ask, token } = await follow();
    expect(await ask('/api/sources/nois/output?follow=true', { token })).toMatchObject({
      status: 404,
      json: { error: { message: 'The source "nois" was not found. Did you mean "noisy"?' } },
    });
    expect((await ask('/api/sources/noisy/output?follow=maybe', { token })).status).toBe(400);
    expect((await ask('/api/sources/noisy/output?follow=false', { token })).json).toMatchObject({ hasProgram: true });
    expect((await ask(PATH, { method: 'HEAD', token })).status).toBe(200);
    expect((await ask(PATH)).status).toBe(401);
  });
});
