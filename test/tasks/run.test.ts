import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { defineTool } from '../../src/index.ts';
import { idOf, inBackground, openBackground } from './background.ts';

const OPERATOR = { id: 'operator', operator: true };

describe('a background call', () => {
  it('fails as a direct call fails', async () => {
    const failing = defineTool({
      name: 'fail',
      description: 'Fail',
      input: {},
      run: () => {
        throw new Error('out of paper');
      },
    });
    const { crib, chest } = await openBackground({ tools: [failing] });
    const id = idOf(await chest.submit('fail'));
    expect(await crib.tasks.wait(id)).toMatchObject({
      ok: false,
      error: { code: 'tool_error', message: 'out of paper' },
    });
    expect(await crib.tasks.get(id)).toMatchObject({ state: 'done', outcome: 'tool_error', attempts: 1 });
  });

  it('waits for approval, and the yes resumes it once', async () => {
    const { crib, chest, counted } = await openBackground();
    const id = idOf(await chest.submit('pay', { amount: 5 }));
    await vi.waitFor(async () => expect(await crib.tasks.get(id)).toMatchObject({ state: 'waiting' }), 5000);
    const { approvalId = '' } = (await crib.tasks.get(id)) ?? {};
    expect(counted.pay).toBe(0);
    expect(await crib.approvals.answer(approvalId, { decision: 'approve' }, OPERATOR)).toMatchObject({ ok: true });
    expect(await crib.tasks.wait(id)).toMatchObject({ ok: true, content: [{ text: 'paid 5' }] });
    expect(counted.pay).toBe(1);
  });

  it('ends with the refusal if its approval is denied', async () => {
    const { crib, chest, counted } = await openBackground();
    const id = idOf(await chest.submit('pay', { amount: 5 }));
    await vi.waitFor(async () => expect(await crib.tasks.get(id)).toMatchObject({ state: 'waiting' }), 5000);
    const { approvalId = '' } = (await crib.tasks.get(id)) ?? {};
    await crib.approvals.answer(approvalId, { decision: 'deny', note: 'too much' }, OPERATOR);
    expect(await crib.tasks.wait(id)).toMatchObject({ error: { code: 'denied' } });
    expect(counted.pay).toBe(0);
  });

  it('asks for its own approval if an equal call used the first one', async () => {
    const { crib, chest, counted } = await openBackground();
    const ids = [idOf(await chest.submit('pay', { amount: 5 })), idOf(await chest.submit('pay', { amount: 5 }))];
    const approveNext = async () => {
      const waiting = await crib.approvals.list({ state: 'waiting' });
      for (const { id } of waiting) await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
      expect(counted.pay).toBe(2);
    };
    await vi.waitFor(approveNext, { timeout: 15_000, interval: 100 });
    for (const id of ids) expect(await crib.tasks.wait(id)).toMatchObject({ ok: true });
    expect(counted.pay).toBe(2);
  });

  it('shows its progress and can be cancelled while it runs', async () => {
    const { crib, chest, begun } = await openBackground();
    const id = idOf(await chest.submit('slow'));
    await begun.promise;
    await vi.waitFor(
      async () => expect(await crib.tasks.get(id)).toMatchObject({ state: 'running', progress: { percent: 50 } }),
      5000,
    );
    expect(await crib.tasks.cancel(id, { id: 'ann' })).toMatchObject({ ok: true });
    expect(await crib.tasks.wait(id)).toMatchObject({ error: { code: 'cancelled' } });
    expect(await crib.tasks.get(id)).toMatchObject({ state: 'done', outcome: 'cancelled', cancelledBy: 'ann' });
    expect(await crib.tasks.cancel(id, { id: 'ann' })).toMatchObject({ error: { code: 'conflict' } });
  });

  it('can be cancelled before it begins, and never runs', async () => {
    const { crib, chest, counted } = await openBackground();
    const id = idOf(await chest.submit('add', { a: 1, b: 1 }, { delayMs: 3_600_000 }));
    expect(await crib.tasks.get(id)).toMatchObject({ state: 'queued' });
    expect(await crib.tasks.cancel(id, { id: 'ann' })).toMatchObject({ ok: true, task: { outcome: 'cancelled' } });
    expect(await crib.tasks.wait(id)).toMatchObject({ error: { code: 'cancelled' } });
    expect(counted.add).toBe(0);
  });

  it('belongs to its caller and the operator', async () => {
    const { crib, chest } = await openBackground();
    const id = idOf(await chest.submit('add', { a: 1, b: 1 }, { delayMs: 3_600_000 }));
    const bob = { id: 'bob' };
    expect(await crib.tasks.get(id, bob)).toBeUndefined();
    expect(await crib.tasks.list({}, bob)).toEqual([]);
    expect(await crib.tasks.cancel(id, bob)).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await crib.tasks.resend(id, bob)).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await crib.tasks.get(id, OPERATOR)).toMatchObject({ id });
    expect(await crib.tasks.list({}, { id: 'ann' })).toMatchObject([{ id }]);
  });

  it('can be sent again after it ended, as a new task', async () => {
    const { crib, chest, counted } = await openBackground();
    const id = idOf(await chest.submit('add', { a: 1, b: 1 }, { idempotencyKey: 'once' }));
    await crib.tasks.wait(id);
    const sent = await crib.tasks.resend(id, { id: 'ann' });
    expect(sent).toMatchObject({ ok: true, task: { resentFrom: id } });
    if (!sent.ok) throw new Error('not sent');
    expect(await crib.tasks.wait(sent.task.id)).toMatchObject({ data: 2 });
    expect(counted.add).toBe(2);
  });

  it('runs in the order of priority', async () => {
    const order: unknown[] = [];
    const note = defineTool({
      name: 'note',
      description: 'Note',
      effects: { readOnly: true },
      run: async (input) => void order.push(input.name),
      input: { type: 'object', properties: { name: { type: 'string' } } },
    });
    const { crib, chest, gate } = await openBackground({ config: { tasks: { concurrency: 1 } } });
    crib.register([note]);
    idOf(await chest.submit('slow'));
    const ids = [];
    for (const [name, priority] of [
      ['low', -5],
      ['usual', 0],
      ['high', 5],
    ] as const)
      ids.push(idOf(await chest.submit('note', { name }, { priority })));
    gate.resolve();
    for (const id of ids) await crib.tasks.wait(id);
    expect(order).toEqual(['high', 'usual', 'low']);
  });

  it('is tried again while its tool is stopped or its rate is used up, until it can begin', async () => {
    const limited = defineTool({
      name: 'limited',
      description: 'Say hi, once in two seconds',
      input: {},
      policy: { rates: [{ scope: 'tool', amount: 1, perMs: 2000 }] },
      run: () => 'hi',
    });
    const { crib, chest, counted } = await openBackground();
    crib.register([limited]);
    const id = idOf(await chest.submit('add', { a: 1, b: 1 }, { delayMs: 100 }));
    await crib.stops.stop('tool:add', {}, OPERATOR);
    const rated = [idOf(await chest.submit('limited')), idOf(await chest.submit('limited', {}, { delayMs: 10 }))];
    await vi.waitFor(
      async () => expect(await crib.tasks.get(id)).toMatchObject({ state: 'queued', attempts: 1 }),
      5000,
    );
    expect(counted.add).toBe(0);
    await crib.stops.resume('tool:add', {}, OPERATOR);
    for (const one of [id, ...rated]) expect(await crib.tasks.wait(one)).toMatchObject({ ok: true });
    expect(counted.add).toBe(1);
  });

  it('is refused if its caller lost the profile meanwhile', async () => {
    const { crib, counted } = await openBackground({ profiles: { staff: {} } });
    const chest = await crib.open('staff', { id: 'ann', profiles: ['staff'], credential: { kind: 'token' } });
    const id = idOf(await chest.submit('add', { a: 1, b: 1 }));
    expect(await crib.tasks.wait(id)).toMatchObject({ error: { code: 'denied' } });
    expect(counted.add).toBe(0);
  });

  it('is told to a signed webhook of the configuration when it ends', async () => {
    const told = Promise.withResolvers<{ readonly body: string; readonly signature: unknown }>();
    const server = createServer(async (request, response) => {
      const body = (await buffer(request)).toString();
      told.resolve({ body, signature: request.headers['toolcrib-signature'] });
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    vi.stubEnv('HOOK_SECRET', 'correct horse battery');
    onTestFinished(() => void vi.unstubAllEnvs());
    const background = await openBackground({
      config: {
        secrets: { hook: { env: 'HOOK_SECRET' } },
        tasks: { webhooks: { ci: { url: `http://127.0.0.1:${port}/done`, secret: 'hook' } } },
      },
    });
    await inBackground(background, 'add', { a: 1, b: 1 }, { notify: 'ci' });
    const { body, signature } = await told.promise;
    expect(JSON.parse(body)).toMatchObject({ event: 'task', tool: 'add', outcome: 'done', caller: 'ann' });
    expect(signature).toMatch(/^sha256=[0-9a-f]{64}$/);
  });

  it('is stored without the values of secrets: neither its progress nor its result has them', async () => {
    vi.stubEnv('PRINTED_SECRET', 'correct horse battery');
    const telling = defineTool({
      name: 'tell',
      description: 'Tell a secret',
      input: {},
      run: (_, call) => {
        call.report({ 'correct horse battery': ['so far: correct horse battery'] });
        return 'correct horse battery';
      },
    });
    const config = { secrets: { printed: { env: 'PRINTED_SECRET' } } };
    const { crib, chest } = await openBackground({ tools: [telling], config });
    const id = idOf(await chest.submit('tell'));
    expect(await crib.tasks.wait(id)).toMatchObject({ ok: true });
    const stored = await vi.waitFor(async () => {
      const found = await crib.store?.tasks.get(id);
      expect(found).toHaveProperty('progress');
      return JSON.stringify([found, await crib.store?.tasks.result(id)]);
    });
    expect(stored).toContain('[secret printed]');
    expect(stored).not.toContain('horse');
  });

  it('stays queued for the next process if the crib closes before it runs', async () => {
    const { crib, chest } = await openBackground();
    const id = idOf(await chest.submit('add', { a: 1, b: 1 }, { delayMs: 3_600_000 }));
    expect(await crib.tasks.list({ state: 'queued' })).toMatchObject([{ id }]);
    const parked = await chest.call('pay', { amount: 1 }, { park: true });
    expect(parked).toMatchObject({ status: 'waiting' });
    expect(await crib.tasks.list()).toMatchObject([{ tool: 'pay', state: 'waiting', door: 'library' }, { id }]);
  });
});
