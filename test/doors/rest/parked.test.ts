import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openStore } from '../../../src/store/open-store.ts';
import { stillTime } from '../../crib/manual-clock.ts';
import { folderWith } from '../../crib/workshop.ts';
import { type Ask, execute, type Heard, type Served, type ServeOptions, serve } from './served.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const answer = ({ ask, token }: Served, heard: Heard, decision: 'approve' | 'deny', more: object = {}) =>
  ask(`/api/approvals/${heard.json.waiting.id}`, { token, body: { decision, ...more } });

/** What became of a call, once it has ended. */
async function ended(ask: Ask, callId: string): Promise<Heard['json']> {
  return vi.waitFor(
    async () => {
      const { json } = await ask(`/api/calls/${callId}`);
      expect(json.state).toBe('ended');
      return json;
    },
    { timeout: 20_000 },
  );
}

/** A crib behind HTTP that runs what was approved. */
async function running(options: ServeOptions = {}): Promise<Served> {
  const served = await serve(options);
  onTestFinished(served.crib.runParked());
  return served;
}

describe('a parked call', () => {
  it('runs when it is approved, by the server; its result is at GET /api/calls/{callId}', async () => {
    const served = await running();
    const { ask, deeds, token } = served;
    const heard = await execute(ask, 'wipe', { what: 'all' }, { conversation: 'c' });
    expect(heard).toMatchObject({
      status: 202,
      json: {
        ok: false,
        status: 'waiting',
        callId: expect.any(String),
        waiting: { for: 'approval', id: expect.any(String), expiresAt: expect.any(Number) },
      },
    });
    expect(Object.keys(heard.json.waiting)).toEqual(['for', 'id', 'expiresAt']);
    expect((await ask(`/api/calls/${heard.json.callId}`)).json).toMatchObject({
      state: 'waiting',
      approval: { tool: 'wipe', state: 'waiting' },
    });
    expect(deeds.wiped).toEqual([]);
    expect(await answer(served, heard, 'approve')).toMatchObject({
      status: 200,
      json: { approval: { answer: { by: 'operator' } } },
    });
    expect(await ended(ask, heard.json.callId)).toMatchObject({
      callId: heard.json.callId,
      call: { outcome: 'done', approval: { by: 'operator' }, conversation: 'c', caller: 'local', door: 'rest' },
      result: { ok: true, status: 'done', content: [{ type: 'text', text: 'wiped {"what":"all"}' }] },
    });
    expect(deeds.wiped).toEqual([{ what: 'all' }]);
    expect((await ask('/api/approvals?state=done', { token })).json.approvals).toMatchObject([
      { outcome: 'done', claim: { callId: heard.json.callId } },
    ]);
  });

  it('sent again with approvalId waits for that result, as often as it is sent', async () => {
    const served = await running();
    const { ask, deeds } = served;
    const heard = await execute(ask, 'wipe', { what: 'all' });
    const approvalId = heard.json.waiting.id;
    expect(await execute(ask, 'wipe', { what: 'all' }, { approvalId })).toMatchObject({
      status: 202,
      json: { callId: heard.json.callId },
    });
    await answer(served, heard, 'approve');
    const again = await Promise.all([1, 2, 3].map(() => execute(ask, 'wipe', { what: 'all' }, { approvalId })));
    for (const one of again)
      expect(one).toMatchObject({ status: 200, json: { ok: true, content: [{ text: 'wiped {"what":"all"}' }] } });
    expect(await execute(ask, 'wipe', { what: 'all' }, { approvalId })).toMatchObject({ status: 200 });
    expect(deeds.wiped).toHaveLength(1);
  });

  it('sent again without it gets that result once, and is a new call after that', async () => {
    const served = await running();
    const { ask, deeds } = served;
    const heard = await execute(ask, 'wipe', { what: 'all' });
    await answer(served, heard, 'approve');
    await vi.waitFor(() => expect(deeds.wiped).toHaveLength(1));
    expect(await execute(ask, 'wipe', { what: 'all' })).toMatchObject({ status: 200 });
    const next = await execute(ask, 'wipe', { what: 'all' });
    expect(next).toMatchObject({ status: 202 });
    expect(next.json.waiting.id).not.toBe(heard.json.waiting.id);
    expect(deeds.wiped).toHaveLength(1);
  });

  it('sent again by two clients at once: one gets the result, the other makes a new call', async () => {
    const served = await running();
    const { ask, deeds } = served;
    const heard = await execute(ask, 'wipe', { what: 'all' });
    await answer(served, heard, 'approve');
    await vi.waitFor(() => expect(deeds.wiped).toHaveLength(1));
    const both = await Promise.all([1, 2].map(() => execute(ask, 'wipe', { what: 'all' })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 202]);
    expect(deeds.wiped).toHaveLength(1);
  });

  it('that its caller sends again has been answered', async () => {
    const served = await serve();
    const { ask, deeds } = served;
    const heard = await execute(ask, 'wipe', { what: 'all' });
    await answer(served, heard, 'approve');
    expect(await execute(ask, 'wipe', { what: 'all' })).toMatchObject({ status: 200 });
    expect(await execute(ask, 'wipe', { what: 'all' })).toMatchObject({ status: 202 });
    expect((await ask(`/api/calls/${heard.json.callId}`)).json).toMatchObject({ state: 'ended', result: { ok: true } });
    expect(deeds.wiped).toHaveLength(1);
  });

  it('whose result was read is a new call when it is sent again', async () => {
    const served = await running();
    const { ask } = served;
    const heard = await execute(ask, 'wipe', { what: 'all' });
    await answer(served, heard, 'approve');
    await ended(ask, heard.json.callId);
    expect(await execute(ask, 'wipe', { what: 'all' })).toMatchObject({ status: 202 });
  });

  it('whose result an operator read still has it for its caller', async () => {
    const served = await running();
    const { ask, token } = served;
    const heard = await execute(ask, 'wipe', { what: 'all' });
    await answer(served, heard, 'approve');
    await ended((path) => ask(path, { token }), heard.json.callId);
    expect(await execute(ask, 'wipe', { what: 'all' })).toMatchObject({ status: 200 });
  });

  it('that a tool made inside another call is left to that tool', async () => {
    const served = await running();
    const { ask, crib, deeds } = served;
    crib.register({
      name: 'outer',
      description: 'x',
      run: (_: unknown, call) => call.tools.call('wipe', { what: 'inner' }),
    });
    const heard = await execute(ask, 'outer', {});
    expect(heard).toMatchObject({ status: 202 });
    expect(await crib.store?.approvals.get(heard.json.waiting.id)).not.toHaveProperty('parked');
    await answer(served, heard, 'approve');
    expect(await execute(ask, 'outer', {})).toMatchObject({ status: 200, json: { ok: true } });
    expect(deeds.wiped).toEqual([{ what: 'inner' }]);
  });

  it('that is denied does not run, and its result says so', async () => {
    const served = await running();
    const { ask, deeds } = served;
    const heard = await execute(ask, 'wipe', { what: 'all' });
    expect(await answer(served, heard, 'deny', { note: 'not today' })).toMatchObject({
      status: 200,
      json: { approval: { state: 'denied' } },
    });
    expect((await ask(`/api/calls/${heard.json.callId}`)).json).toMatchObject({
      state: 'ended',
      result: { ok: false, error: { code: 'denied', message: expect.stringContaining('not today') } },
    });
    expect(await execute(ask, 'wipe', { what: 'all' })).toMatchObject({ status: 403 });
    expect(await execute(ask, 'wipe', { what: 'all' }, { approvalId: heard.json.waiting.id })).toMatchObject({
      status: 403,
    });
    expect(await answer(served, heard, 'approve')).toMatchObject({ status: 409 });
    expect(deeds.wiped).toEqual([]);
  });

  it('without an answer does not run, and its result says so', async () => {
    const pass = stillTime();
    const { ask, deeds } = await serve({ config: 'extensions: { approval: { timeoutMs: 60000 } }\n' });
    const heard = await execute(ask, 'wipe', { what: 'all' });
    pass(60_001);
    expect((await ask(`/api/calls/${heard.json.callId}`)).json).toMatchObject({
      state: 'ended',
      result: { error: { code: 'denied', message: expect.stringContaining('was not answered within') } },
    });
    expect(deeds.wiped).toEqual([]);
  });

  it('is visible to its caller only', async () => {
    const served = await running({ access: true });
    const { ask, crib, token } = served;
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map((name) => crib.keys.create({ name, roles: ['dev'] }, 'test')),
    );
    const heard = await execute(ask, 'wipe', { what: 'all' }, {}, ann?.key);
    const { callId, waiting } = heard.json;
    expect((await ask(`/api/calls/${callId}`, { token: bob?.key ?? '' })).status).toBe(404);
    expect((await ask('/api/approvals', { token: bob?.key ?? '' })).json).toEqual({ approvals: [] });
    expect((await ask('/api/approvals', { token: ann?.key ?? '' })).json.approvals).toHaveLength(1);
    expect((await ask('/api/approvals', { token })).json.approvals).toHaveLength(1);
    const theirs = await execute(ask, 'wipe', { what: 'all' }, { approvalId: waiting.id }, bob?.key);
    expect(theirs).toMatchObject({
      status: 403,
      json: { error: { message: expect.stringContaining('was not found') } },
    });
    expect(await execute(ask, 'wipe', { what: 'all' }, {}, bob?.key)).toMatchObject({ status: 202 });
  });

  it('runs as its caller, with its options', async () => {
    const served = await running({ access: true });
    const { ask, crib } = served;
    const { key, info } = await crib.keys.create({ name: 'ann', roles: ['boss'], permissions: ['all'] }, 'test');
    const body = { conversation: 'c', turn: 't', timeZone: 'Asia/Tokyo' };
    crib.register({
      name: 'ask_first',
      description: 'x',
      policy: { approval: 'always' },
      run: (_: unknown, { caller, profile, conversation, turn, timeZone, door }) =>
        ({ caller: { ...caller }, profile, conversation, turn, timeZone, door }) as never,
    });
    const heard = await execute(ask, 'ask_first', {}, body, key);
    await answer(served, heard, 'approve');
    const asAnn: Ask = (path) => ask(path, { token: key });
    expect((await ended(asAnn, heard.json.callId)).result.data).toEqual({
      ...body,
      profile: 'usual',
      door: 'rest',
      caller: {
        id: 'key:ann',
        roles: ['boss'],
        permissions: ['all'],
        profiles: ['usual'],
        credential: { kind: 'key', id: info.id },
      },
    });
  });

  it('of an operator runs over all tools', async () => {
    const served = await running();
    const { ask, token, crib } = served;
    crib.register({ name: 'ask_first', description: 'x', policy: { approval: 'always' }, run: () => 'ran' });
    const heard = await execute(ask, 'ask_first', {}, {}, token);
    await answer(served, heard, 'approve');
    expect((await ended((path) => ask(path, { token }), heard.json.callId)).result).toMatchObject({ ok: true });
  });

  it('that repeats a secret is stored with the name of the secret in its place', async () => {
    vi.stubEnv('REST_TEST_SECRET', 'hunter2hunter2');
    const served = await running({ crib: { secrets: { key: { env: 'REST_TEST_SECRET' } } } });
    const { ask, crib } = served;
    crib.register({
      name: 'echo_key',
      description: 'x',
      policy: { approval: 'always' },
      run: () => ({ text: 'it is hunter2hunter2' }),
    });
    const heard = await execute(ask, 'echo_key', {});
    await answer(served, heard, 'approve');
    const { result } = await ended(ask, heard.json.callId);
    expect(result).toMatchObject({ ok: true, data: { text: 'it is [secret key]' } });
    const stored = await crib.store?.approvals.ofCall(heard.json.callId);
    expect(JSON.stringify(stored)).not.toContain('hunter2');
    vi.unstubAllEnvs();
  });

  it('that fails keeps its failure, without secrets', async () => {
    vi.stubEnv('REST_TEST_SECRET', 'hunter2hunter2');
    const served = await running({ crib: { secrets: { key: { env: 'REST_TEST_SECRET' } } } });
    const { ask, crib } = served;
    crib.register({
      name: 'leak',
      description: 'x',
      policy: { approval: 'always' },
      run: () => {
        throw new Error('no: hunter2hunter2');
      },
    });
    const heard = await execute(ask, 'leak', {});
    await answer(served, heard, 'approve');
    const { result } = await ended(ask, heard.json.callId);
    expect(result).toMatchObject({ ok: false, error: { code: 'tool_error' } });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });
});

describe('Approval holds on every door and inside scripts, agents and background calls. A person approves what was asked: changed arguments or a changed definition need a new approval.', () => {
  it('changed arguments', async () => {
    const served = await running();
    const { ask, deeds } = served;
    const heard = await execute(ask, 'wipe', { what: 'one' });
    await answer(served, heard, 'approve');
    await ended(ask, heard.json.callId);
    expect(await execute(ask, 'wipe', { what: 'two' }, { approvalId: heard.json.waiting.id })).toMatchObject({
      status: 403,
    });
    expect(await execute(ask, 'wipe', { what: 'two' })).toMatchObject({ status: 202 });
    expect(deeds.wiped).toEqual([{ what: 'one' }]);
  });

  it('a changed definition', async () => {
    const served = await serve();
    const { ask, crib } = served;
    const ran: string[] = [];
    const define = (version: string) =>
      crib.register({
        name: 'pay',
        description: version,
        policy: { approval: 'always' },
        run: () => void ran.push(version),
      });
    define('first');
    const heard = await execute(ask, 'pay', {});
    crib.unregister('pay');
    define('second');
    await answer(served, heard, 'approve');
    const stop = crib.runParked();
    expect((await ended(ask, heard.json.callId)).result).toMatchObject({
      ok: false,
      error: { code: 'denied', message: expect.stringContaining('before it changed') },
    });
    stop();
    expect(ran).toEqual([]);
  });

  it('an agent cannot approve its own call: neither without a token nor as the caller', async () => {
    const served = await running({ access: true });
    const { ask, crib, deeds } = served;
    const { key } = await crib.keys.create({ name: 'agent', roles: ['dev'] }, 'test');
    const heard = await execute(ask, 'wipe', { what: 'all' }, {}, key);
    const path = `/api/approvals/${heard.json.waiting.id}`;
    expect((await ask(path, { body: { decision: 'approve' } })).status).toBe(401);
    expect(await ask(path, { token: key, body: { decision: 'approve' } })).toMatchObject({
      status: 403,
      json: { error: { message: expect.stringContaining('cannot approve its own calls') } },
    });
    expect(deeds.wiped).toEqual([]);
  });

  it('a caller with a role that the policy names may answer', async () => {
    const served = await running({ access: true });
    const { ask, crib } = served;
    crib.register({
      name: 'pay',
      description: 'x',
      policy: { approval: 'always', approvers: ['role:boss'] },
      run: () => 'paid',
    });
    const [dev, boss] = await Promise.all(
      ['dev', 'boss'].map((role) => crib.keys.create({ name: role, roles: [role] }, 'test')),
    );
    const heard = await execute(ask, 'pay', {}, {}, dev?.key);
    const asBoss: Served = { ...served, token: boss?.key ?? '' };
    expect((await ask('/api/approvals', { token: asBoss.token })).json.approvals).toHaveLength(1);
    expect(await answer(asBoss, heard, 'approve')).toMatchObject({
      status: 200,
      json: { approval: { answer: { by: 'key:boss' } } },
    });
    expect((await ended((path) => ask(path, { token: dev?.key ?? '' }), heard.json.callId)).result).toMatchObject({
      ok: true,
    });
  });

  it('an invalid answer is refused', async () => {
    const { ask, token } = await running();
    const heard = await execute(ask, 'wipe', { what: 'all' });
    const path = `/api/approvals/${heard.json.waiting.id}`;
    for (const body of [
      {},
      { decision: 'yes' },
      { decision: true },
      { decision: 'approve', remember: 'ever' },
      { decision: 'deny', remember: 'arguments' },
      { decision: 'approve', remember: 'conversation' },
      { decision: 'approve', note: 7 },
    ])
      expect((await ask(path, { token, body })).status, JSON.stringify(body)).toBe(400);
    for (const id of ['none', '0000-0000-0000', '%00', '..%2f'])
      expect((await ask(`/api/approvals/${id}`, { token, body: { decision: 'approve' } })).status).toBe(404);
    expect((await ask('/api/approvals?state=waiting', { token })).json.approvals).toHaveLength(1);
  });
});

describe('At most once for what may not be repeated, whatever dies: an approved, parked or background call is claimed atomically before it runs.', () => {
  it('however many servers see the approval, and however often the call is sent', async () => {
    const folder = folderWith({ 'toolcrib.yaml': 'store: { url: "sqlite:crib.db" }\n' });
    const options = { folder, crib: { store: { url: `sqlite:${folder}/crib.db` } } };
    const servers = await Promise.all([1, 2, 3].map(() => serve(options)));
    const [first] = servers;
    if (first === undefined) throw new Error('there is one');
    for (const what of ['a', 'b', 'c', 'd']) {
      const heard = await execute(first.ask, 'wipe', { what });
      await answer(first, heard, 'approve');
      const approvalId = heard.json.waiting.id;
      const stops = servers.map(({ crib }) => crib.runParked());
      const again = servers.flatMap(({ ask }) =>
        [1, 2, 3, 4].map(() => execute(ask, 'wipe', { what }, { approvalId })),
      );
      for (const one of await Promise.all(again)) expect(one).toMatchObject({ status: 200, json: { ok: true } });
      for (const stop of stops) stop();
      expect(
        servers.flatMap(({ deeds }) => deeds.wiped).filter((deed) => JSON.stringify(deed).includes(what)),
      ).toHaveLength(1);
    }
  });

  it('a call that was approved while no server ran runs at the next start', async () => {
    const folder = folderWith({ 'toolcrib.yaml': 'store: { url: "sqlite:crib.db" }\n' });
    const options = { folder, crib: { store: { url: `sqlite:${folder}/crib.db` } } };
    const before = await serve(options);
    const heard = await execute(before.ask, 'wipe', { what: 'all' });
    await before.crib.close();
    const between = await serve(options);
    await answer(between, heard, 'approve');
    await between.crib.close();
    const after = await running(options);
    expect((await ended(after.ask, heard.json.callId)).result).toMatchObject({ ok: true });
    expect([before, between, after].map(({ deeds }) => deeds.wiped.length)).toEqual([0, 0, 1]);
  });

  it('a call that was claimed by a dead process does not run again: its outcome is unknown', async () => {
    const url = `sqlite:${join(folderWith({}), 'crib.db')}`;
    const { ask, crib, deeds } = await serve({ url });
    const heard = await execute(ask, 'wipe', { what: 'all' });
    const { id } = heard.json.waiting;
    await crib.approvals.answer(id, { decision: 'approve' }, { id: 'olga', operator: true });
    const other = await openStore({ url, env: {} });
    const request = await other.approvals.get(id);
    if (request === undefined) throw new Error('it was asked');
    await other.approvals.claim(id, request, heard.json.callId);
    expect((await ask(`/api/calls/${heard.json.callId}`)).json).toMatchObject({ state: 'running' });
    await other.close(); // in the middle of the call
    onTestFinished(crib.runParked());
    expect((await ended(ask, heard.json.callId)).result).toMatchObject({ error: { code: 'unknown_outcome' } });
    expect(deeds.wiped).toEqual([]);
  });

  it('a call that is refused temporarily is retried; one that is refused permanently has ended', async () => {
    const config = 'extensions: { rateLimit: { rates: [{ scope: tool, amount: 1, perMs: 1500 }] } }\n';
    const served = await running({ config });
    const { ask, deeds } = served;
    const heard = await execute(ask, 'wipe', { what: 'all' }); // takes the one that is free
    await answer(served, heard, 'approve');
    expect((await ended(ask, heard.json.callId)).result).toMatchObject({ ok: true });
    expect(deeds.wiped).toHaveLength(1);
  });
});
