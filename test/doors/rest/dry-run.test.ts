import { describe, expect, it } from 'vitest';
import type { ToolCall, ToolInput } from '../../../src/index.ts';
import { folderWith } from '../../crib/workshop.ts';
import { execute, serve } from './served.ts';

const CONFIG = `
extensions: { rateLimit: { rates: [{ scope: caller, amount: 2, perMs: 3600000 }] } }
`;

describe('a dry run', () => {
  it('runs, charges, asks and records nothing, and says what would happen', async () => {
    const { ask, crib, deeds, token } = await serve({ config: CONFIG });
    for (let turn = 0; turn < 5; turn++) {
      const { status, json } = await execute(ask, 'wipe', { what: 'all' }, { dryRun: true, profile: 'usual' }, token);
      expect(status).toBe(200);
      expect(json).toMatchObject({ ok: false, status: 'dryRun', would: 'ask', visible: true, valid: true });
    }
    expect(deeds.wiped).toEqual([]);
    expect(await crib.approvals.list({})).toEqual([]);
    expect(await crib.calls.list()).toEqual([]);
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { dryRun: true, profile: 'usual' }, token);
    expect(json).toMatchObject({ ok: true, would: 'run', tool: 'add', profile: 'usual', caller: { id: 'operator' } });
    expect(json.policy).toHaveProperty('timeoutMs.from');
    expect(json.layers).toContainEqual({ layer: 'validate', verdict: 'pass', says: 'The arguments are valid.' });
    expect(json.layers).toContainEqual(expect.objectContaining({ layer: 'rateLimit', verdict: 'pass' }));
  });

  it('is not of a background call, whose options it does not judge', async () => {
    const { ask, token } = await serve({ access: true });
    const options = [{ async: true }, { priority: 100 }, { async: true, notify: 'nowhere' }, { async: true, at: 1 }];
    for (const given of options) {
      const { status, json } = await execute(ask, 'add', { a: 1, b: 2 }, { dryRun: true, ...given }, token);
      expect([status, json.error?.code]).toEqual([400, 'invalid_input']);
    }
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { dryRun: true, async: false }, token);
    expect(json).toMatchObject({ would: 'run' });
  });

  it('names the layer that would refuse: arguments, rates, stops, visibility', async () => {
    const { ask, crib } = await serve({ config: CONFIG });
    const dry = async (name: string, args: unknown) => (await execute(ask, name, args, { dryRun: true })).json;
    const refusalOf = ({ layers }: { layers: { verdict: string }[] }) =>
      layers.find(({ verdict }) => verdict === 'refuse');
    const invalid = await dry('add', { a: 'x' });
    expect(invalid).toMatchObject({ would: 'refuse', visible: true, valid: false, issues: expect.any(Array) });
    expect(refusalOf(invalid)).toMatchObject({ layer: 'validate', code: 'invalid_input' });
    expect((await dry('add', [])).valid).toBe(false);
    const hidden = await dry('secret_tool', {});
    expect(hidden).toMatchObject({
      would: 'refuse',
      visible: false,
      layers: [{ layer: 'entry', code: 'unknown_tool' }],
    });
    expect(hidden).not.toHaveProperty('valid');
    expect(hidden, 'callers learn no reasons').not.toHaveProperty('reasons');
    expect(hidden.layers[0].says).toBe((await dry('not_there', {})).layers[0].says.replace('not_there', 'secret_tool'));
    await execute(ask, 'add', { a: 1, b: 2 });
    await execute(ask, 'add', { a: 1, b: 2 });
    expect(refusalOf(await dry('add', { a: 1, b: 2 }))).toMatchObject({
      layer: 'rateLimit',
      code: 'rate_limited',
      retryAfterMs: expect.any(Number),
    });
    await crib.stops.stop('tool:add', { note: 'it adds' }, { operator: true });
    expect(refusalOf(await dry('add', { a: 1, b: 2 }))).toMatchObject({ layer: 'stops', code: 'unavailable' });
  });

  it('is for a named caller if an operator asks', async () => {
    const { ask, crib, token } = await serve({ access: true });
    crib.register({
      name: 'for_dev',
      description: 'Only for developers',
      policy: { access: [{ roles: ['dev'] }] },
      run: () => 1,
    } as unknown as ToolInput);
    const dry = (caller: object, by = token) =>
      execute(ask, 'for_dev', {}, { dryRun: true, profile: 'usual', caller }, by);
    expect((await dry({ id: 'ann', roles: ['dev'] })).json).toMatchObject({
      would: 'run',
      visible: true,
      caller: { id: 'ann', roles: ['dev'] },
      reasons: expect.any(Array),
    });
    expect((await dry({ id: 'bob' })).json).toMatchObject({
      would: 'refuse',
      visible: false,
      reasons: [expect.stringContaining('does not meet')],
    });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    expect((await dry({ id: 'ann' }, key)).status).toBe(403);
    expect((await execute(ask, 'add', {}, { caller: { id: 'ann' } }, token)).json.error.code).toBe('invalid_input');
    expect((await dry({ id: '' })).status).toBe(400);
    expect((await execute(ask, 'add', {}, { dryRun: true, profile: 'no_such' }, token)).status).toBe(404);
  });

  it('tells a caller neither prices nor budgets, and an operator both', async () => {
    const { ask, crib, token } = await serve({ access: true });
    crib.register({
      name: 'priced',
      description: 'Costs',
      policy: { price: 7123, budgets: [{ scope: 'tool', amount: 991_234, perMs: 3_600_000 }] },
      run: () => 1,
    } as unknown as ToolInput);
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    const dry = async (by: string) =>
      JSON.stringify((await execute(ask, 'priced', {}, { dryRun: true, profile: 'usual' }, by)).json);
    expect(await dry(key)).toContain('"layer":"budget","verdict":"pass"');
    expect(await dry(key)).not.toMatch(/7123|991234/);
    expect(await dry(token)).toMatch(/7123.*991234/);
  });

  it('tells what is left of a budget, and refuses what exceeds it, without charging', async () => {
    const { ask, crib, token } = await serve();
    const policy = { price: 0.1, budgets: [{ scope: 'tool', amount: 0.3, perMs: 1e12 }] };
    crib.register({ name: 'priced', description: 'Costs', policy, run: () => 1 } as unknown as ToolInput);
    const dry = async () => {
      const { json } = await execute(ask, 'priced', {}, { dryRun: true }, token);
      return [json.would, json.layers.find(({ layer }: { layer: string }) => layer === 'budget')];
    };
    expect(await dry()).toMatchObject(['run', { says: expect.stringContaining('0.3 of 0.3 left') }]);
    await execute(ask, 'priced', {});
    await execute(ask, 'priced', {});
    expect(await dry()).toMatchObject(['run', { says: expect.stringContaining('0.1 of 0.3 left') }]);
    await execute(ask, 'priced', {});
    const exceeded = { verdict: 'refuse', code: 'rate_limited', retryAfterMs: expect.any(Number) };
    expect(await dry()).toMatchObject(['refuse', exceeded]);
    const { json } = await execute(ask, 'priced', {});
    expect((await dry())[1].says).toContain(json.error.message.slice(0, 70));
  });

  it('looks up answers: waiting, approved, denied and remembered ones, and uses none of them', async () => {
    const { ask, deeds, token } = await serve();
    const dry = async (input: object, more: object = {}) => {
      const { json } = await execute(ask, 'wipe', input, { dryRun: true, ...more });
      return [json.would, json.layers.find(({ layer }: { layer: string }) => layer === 'approval')?.says];
    };
    const park = async (what: string) => (await execute(ask, 'wipe', { what })).json.waiting.id;
    const answer = (id: string, decision: string, more = {}) =>
      ask(`/api/approvals/${id}`, { body: { decision, ...more }, token });
    const waiting = await park('a');
    expect(await dry({ what: 'a' })).toEqual(['ask', `This call already waits for the approval ${waiting}.`]);
    expect(await dry({ what: 'b' }, { approvalId: waiting })).toEqual([
      'refuse',
      expect.stringContaining('other arguments'),
    ]);
    expect(await dry({ what: 'a' }, { approvalId: 'none' })).toEqual(['refuse', expect.stringContaining('not found')]);
    await answer(waiting, 'approve');
    for (let turn = 0; turn < 2; turn++)
      expect(await dry({ what: 'a' })).toEqual(['run', `operator has approved this call (${waiting}).`]);
    await answer(await park('c'), 'deny');
    expect(await dry({ what: 'c' })).toEqual(['refuse', expect.stringContaining('denied')]);
    const kept = await park('d');
    const remember = { uses: 1, forMs: 60_000, vary: { what: { type: 'string', maxLength: 1 } } } as const;
    await answer(kept, 'approve', { remember });
    for (let turn = 0; turn < 2; turn++)
      expect(await dry({ what: 'e' })).toEqual(['run', `The remembered approval ${kept} by operator covers the call.`]);
    expect((await dry({ what: 'too long' }))[0]).toBe('ask');
    expect((await execute(ask, 'wipe', { what: 'e' })).json.status).toBe('done');
    expect((await dry({ what: 'f' }))[0], 'the one use is gone').toBe('ask');
    expect(deeds.wiped).toEqual([{ what: 'e' }]);
  });

  it('judges rules by the arguments', async () => {
    const configFile = folderWith({
      'toolcrib.yaml': `
profiles:
  ruled:
    rules:
      - { tools: [add], when: { properties: { a: { maximum: 10 } } }, otherwise: approve }
      - { tools: [add], when: { properties: { b: { maximum: 10 } } }, otherwise: deny }
`,
    });
    const { ask } = await serve({ folder: configFile });
    const dry = async (a: number, b: number) => (await execute(ask, 'add', { a, b }, { dryRun: true })).json;
    expect([(await dry(1, 1)).would, (await dry(11, 1)).would, (await dry(11, 11)).would]).toEqual([
      'run',
      'ask',
      'refuse',
    ]);
    expect((await dry(1, 11)).layers).toContainEqual(expect.objectContaining({ layer: 'rules', code: 'denied' }));
  });

  it('lists extensions of the host as unknown', async () => {
    const { ask, crib } = await serve();
    crib.extensions.add({ name: 'mine', priority: 500, wrap: (call: ToolCall, next) => next(call) });
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { dryRun: true });
    expect(json.layers).toContainEqual(expect.objectContaining({ layer: 'mine', verdict: 'unknown' }));
    expect(json.would).toBe('run');
  });
});

describe('a streamed call', () => {
  const STREAM = { accept: 'text/event-stream', 'content-type': 'application/json' };
  const eventsIn = (text: string) =>
    [...text.matchAll(/event: (\S+)\ndata: (.*)\n/g)].map(([, event, data = '']) => [event, JSON.parse(data)]);

  it('tells its id, its progress and its result', async () => {
    const { ask, crib } = await serve();
    crib.register({
      name: 'steps',
      description: 'Report steps',
      run: (_: unknown, call: ToolCall) => {
        for (let step = 1; step <= 40; step++) call.report({ step });
        return 'ready';
      },
    } as ToolInput);
    const { status, headers, text } = await ask('/api/tools/execute/steps', { body: {}, headers: STREAM });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const events = eventsIn(text);
    expect(events.map(([event]) => event)).toEqual(['started', ...Array(40).fill('progress'), 'result']);
    expect(events[1]).toEqual(['progress', { progress: { step: 1 } }]);
    expect(events.at(-1)?.[1]).toMatchObject({ httpStatus: 200, body: { ok: true, callId: events[0]?.[1].callId } });
  });

  it('ends with the result of a refusal, and is cancelled when the client goes away', async () => {
    const { app, ask, crib, deeds } = await serve();
    const refused = await ask('/api/tools/execute/add', { body: {}, headers: STREAM });
    expect(eventsIn(refused.text).at(-1)?.[1]).toMatchObject({
      httpStatus: 400,
      body: { error: { code: 'invalid_input' } },
    });
    const gate = deeds.hold();
    const request = new Request('http://127.0.0.1/api/tools/execute/wait', {
      method: 'POST',
      headers: STREAM,
      body: '{}',
    });
    const { body } = await app.fetch(request);
    await gate.entered;
    expect(crib.server.running.list()).toHaveLength(1);
    await body?.cancel();
    await expect.poll(() => crib.server.running.list()).toEqual([]);
  });
});
