import { describe, expect, it, vi } from 'vitest';
import { execute, serve } from './served.ts';

const LONG = 'x'.repeat(1_000_000);
const bounded = (extension: string, bounds: string) => ({ config: `extensions: { ${extension}: { ${bounds} } }\n` });

describe('waiting requests', () => {
  it.each([
    ['maxPerCaller', 'maxPerCaller: 2'],
    ['maxBytesPerCaller', 'maxBytesPerCaller: 2500000'],
    ['maxTotal', 'maxTotal: 2'],
    ['maxTotalBytes', 'maxTotalBytes: 2500000'],
  ])('are limited by %s, and the refusal names the key', async (key, bounds) => {
    const { ask, token, deeds } = await serve(bounded('approval', bounds));
    const first = await execute(ask, 'wipe', { what: `1 ${LONG}` });
    expect(first.status).toBe(202);
    expect((await execute(ask, 'wipe', { what: `2 ${LONG}` })).status).toBe(202);
    const third = await execute(ask, 'wipe', { what: `3 ${LONG}` });
    expect(third).toMatchObject({
      status: 429,
      json: { error: { code: 'rate_limited', retryable: true, message: expect.stringContaining(`approval.${key}`) } },
    });
    expect(third.headers.get('retry-after')).toBe('60');
    expect((await execute(ask, 'wipe', { what: `1 ${LONG}` })).status).toBe(202);
    await ask(`/api/approvals/${first.json.waiting.id}`, { token, body: { decision: 'deny' } });
    expect((await execute(ask, 'wipe', { what: `3 ${LONG}` })).status).toBe(202);
    expect(deeds.wiped).toEqual([]);
  });

  it('are at most 100 per caller without a configured limit', async () => {
    const { ask, token } = await serve();
    const parked = await Promise.all(Array.from({ length: 105 }, (_, n) => execute(ask, 'wipe', { what: String(n) })));
    expect(parked.filter(({ status }) => status === 202)).toHaveLength(100);
    expect(parked.filter(({ status }) => status === 429)).toHaveLength(5);
    expect((await execute(ask, 'wipe', { what: 'the operator has room' }, {}, token)).status).toBe(202);
  });

  it('of one caller hide those of others neither from their callers nor from their approvers', async () => {
    const { ask, crib } = await serve({ access: true });
    crib.register({
      name: 'pay',
      description: 'x',
      policy: { approval: 'always', approvers: ['role:boss'] },
      run: () => 'paid',
    });
    const keyOf = async (name: string, role: string) => (await crib.keys.create({ name, roles: [role] }, 'test')).key;
    const [ann, bob, boss] = [await keyOf('ann', 'dev'), await keyOf('bob', 'dev'), await keyOf('boss', 'boss')];
    const { id } = (await execute(ask, 'pay', {}, {}, ann)).json.waiting;
    await Promise.all(Array.from({ length: 60 }, (_, n) => execute(ask, 'wipe', { what: `${n}` }, {}, bob)));
    for (const token of [ann, boss])
      for (const query of ['limit=1', 'limit=1&state=waiting'])
        expect((await ask(`/api/approvals?${query}`, { token })).json.approvals).toMatchObject([{ id }]);
    expect((await ask('/api/tasks?limit=1', { token: ann })).json.tasks).toMatchObject([{ id }]);
    expect((await ask('/api/approvals?limit=7', { token: bob })).json.approvals).toHaveLength(7);
  });

  it('of a host with its own approver are limited, too', async () => {
    const { crib } = await serve(bounded('approval', 'maxPerCaller: 1'));
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<boolean>();
    const approve = () => {
      asked.resolve();
      return answer.promise;
    };
    const chest = await crib.open(undefined, { id: 'ann', approve });
    const first = chest.call('wipe', { what: 'one' });
    await asked.promise;
    expect(await chest.call('wipe', { what: 'two' })).toMatchObject({ error: { code: 'rate_limited' } });
    answer.resolve(true);
    expect(await first).toMatchObject({ ok: true });
    expect(await chest.call('wipe', { what: 'two' })).toMatchObject({ ok: true });
  });
});

describe('one request', () => {
  it('has full arguments; lists and answers have them cut', async () => {
    const { ask, token } = await serve();
    const { json } = await execute(ask, 'wipe', { what: LONG });
    const path = `/api/approvals/${json.waiting.id}`;
    const one = await ask(path, { token });
    expect(one).toMatchObject({ status: 200, json: { approval: { id: json.waiting.id, state: 'waiting' } } });
    expect(one.json.approval.arguments).toEqual({ what: LONG });
    const answers = [
      await ask('/api/approvals', { token }),
      await ask(`/api/calls/${json.callId}`, { token }),
      await ask(path, { token, body: { decision: 'deny' } }),
    ];
    for (const { text } of answers) {
      expect(text.length).toBeLessThan(8000);
      expect(text).toContain('"argumentsLength":1000011');
    }
  });

  it('is visible to operators, its approvers and the caller that made it, like lists', async () => {
    const { ask, crib, token } = await serve({ access: true });
    crib.register({
      name: 'pay',
      description: 'x',
      policy: { approval: 'always', approvers: ['role:boss'] },
      run: () => 'paid',
    });
    const [ann, bob, boss] = await Promise.all(
      [
        ['ann', 'dev'],
        ['bob', 'dev'],
        ['olga', 'boss'],
      ].map(async ([name = '', role = '']) => (await crib.keys.create({ name, roles: [role] }, 'test')).key),
    );
    const { json } = await execute(ask, 'pay', { amount: 3 }, {}, ann);
    const path = `/api/approvals/${json.waiting.id}`;
    for (const key of [token, ann, boss]) expect((await ask(path, { token: key ?? '' })).status).toBe(200);
    expect((await ask(path, { token: bob ?? '' })).status).toBe(404);
    expect((await ask(path)).status).toBe(401);
    for (const id of ['none', '0000-0000-0000', '%00', '..%2f'])
      expect((await ask(`/api/approvals/${id}`, { token })).status).toBe(404);
  });

  it('of another caller is answered like an unknown one, on every route, and stays unchanged', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const policy = { approval: 'always', approvers: ['role:boss', 'caller'] } as const;
    crib.register({ name: 'pay', description: 'x', policy, run: () => 'paid' });
    const keyOf = async (name: string, roles: readonly string[]) =>
      (await crib.keys.create({ name, caller: name, roles }, 'test')).key;
    const ann = await keyOf('ann', ['dev']);
    const strangers = [
      await keyOf('bob', ['dev']),
      await keyOf('eve', ['boss-of-others']),
      await keyOf('dan', ['dev', 'Boss']),
    ];
    const parked = async (amount: number): Promise<string> =>
      (await execute(ask, 'pay', { amount }, {}, ann)).json.waiting.id;
    const ids = { waiting: await parked(1), approved: await parked(2), denied: await parked(3) };
    await crib.approvals.answer(ids.approved, { decision: 'approve' }, { operator: true });
    await crib.approvals.answer(ids.denied, { decision: 'deny' }, { operator: true });
    const bodies = [
      undefined,
      { decision: 'approve' },
      { decision: 'deny', note: 'no' },
      { decision: 'approve', remember: 'arguments' },
      { decision: 'approve', remember: 'conversation' },
    ];
    for (const [state, id] of Object.entries(ids))
      for (const key of strangers)
        for (const body of bodies) {
          const answerTo = async (asked: string) => {
            const { status, text } = await ask(`/api/approvals/${asked}`, { token: key, ...(body && { body }) });
            return { status, text: text.replaceAll(asked, 'ID') };
          };
          const heard = await answerTo(id);
          expect(heard.status, `${state} ${JSON.stringify(body)}`).toBe(404);
          expect(heard).toEqual(await answerTo('0000-0000-0000'));
        }
    expect((await ask(`/api/approvals/${ids.waiting}`, { token })).json.approval.state).toBe('waiting');
    expect((await ask(`/api/approvals/${ids.waiting}`, { token: ann, body: { decision: 'deny' } })).status).toBe(200);
  });

  it.each([
    ['as text', (secret: string) => ({ what: `key ${secret} end` })],
    ['where a long text is cut', (secret: string) => ({ what: `${'x'.repeat(190)}${secret}${LONG}` })],
    ['in a long list', (secret: string) => ({ what: 'x', more: [secret, LONG] })],
    ['as the name of an argument', (secret: string) => ({ [secret]: LONG })],
    ['as a number', () => ({ pin: 8_412_776_650_913 })],
  ])('shows no secret %s, and runs with it', async (_, argumentsOf) => {
    vi.stubEnv('REST_TEST_SECRET', 'hunter2-hunter2-hunter2');
    vi.stubEnv('REST_TEST_PIN', '8412776650913');
    const secrets = { key: { env: 'REST_TEST_SECRET' }, pin: { env: 'REST_TEST_PIN' } };
    const { ask, crib, token } = await serve({ crib: { secrets } });
    const ran: unknown[] = [];
    crib.register({
      name: 'send',
      description: 'x',
      input: { type: 'object' },
      policy: { approval: 'always' },
      run: (input: unknown) => void ran.push(input),
    });
    const given = argumentsOf('hunter2-hunter2-hunter2');
    const { json } = await execute(ask, 'send', given);
    const path = `/api/approvals/${json.waiting.id}`;
    const shown = [
      await ask(path, { token }),
      await ask('/api/approvals', { token }),
      await ask(`/api/calls/${json.callId}`, { token }),
      await ask(path, { token, body: { decision: 'approve' } }),
    ];
    for (const { text } of shown) {
      expect(text).not.toMatch(/hunter2-|8412776650913/);
      expect(text).toMatch(/\[secret (key|pin)\]/);
    }
    const stop = crib.runParked();
    await vi.waitFor(() => expect(ran).toEqual([given]));
    stop();
    vi.unstubAllEnvs();
  });
});

describe('idempotency keys', () => {
  it.each([
    ['maxPerCaller', 'maxPerCaller: 2'],
    ['maxBytesPerCaller', 'maxBytesPerCaller: 2500'],
    ['maxTotal', 'maxTotal: 2'],
    ['maxTotalBytes', 'maxTotalBytes: 2500'],
  ])('are limited by %s, and the refusal names the key', async (key, bounds) => {
    const { ask } = await serve(bounded('idempotency', bounds));
    const add = (idempotencyKey: string) => execute(ask, 'add', { a: 1, b: 2 }, { idempotencyKey });
    expect([(await add('one')).status, (await add('two')).status]).toEqual([200, 200]);
    expect(await add('three')).toMatchObject({
      status: 429,
      json: { error: { code: 'rate_limited', message: expect.stringContaining(`idempotency.${key}`) } },
    });
    expect((await add('one')).json).toMatchObject({ ok: true, data: 3 });
    expect((await execute(ask, 'add', { a: 1, b: 2 })).status).toBe(200);
  });

  it('a result that is too long to store was returned once, and its call never runs again', async () => {
    const { ask, crib } = await serve(bounded('idempotency', 'maxBytesPerCaller: 50000'));
    let runs = 0;
    crib.register({ name: 'print', description: 'x', run: () => `${++runs} ${'x'.repeat(3000)}` });
    crib.register({
      name: 'pour',
      description: 'x',
      run: () => ({ ok: true, status: 'done', content: [{ type: 'image', data: LONG, mimeType: `x/${++runs}` }] }),
    });
    const call = (name: string) => execute(ask, name, {}, { idempotencyKey: 'k' });
    expect((await call('print')).json).toMatchObject({ ok: true });
    expect((await call('print')).json).toMatchObject({ ok: true });
    expect((await call('pour')).json).toMatchObject({ ok: true });
    expect((await call('pour')).json).toMatchObject({
      ok: false,
      error: { code: 'too_large', message: expect.stringContaining('extensions.idempotency.maxBytesPerCaller') },
    });
    expect(runs).toBe(2);
  });
});
