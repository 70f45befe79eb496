import { describe, expect, it } from 'vitest';
import type { ToolInput, ToolResult } from '../../../src/index.ts';
import { PAY } from '../../approvals/payments.ts';
import { jobTool, mail, pay, storedIn } from '../../approvals/scripts.ts';
import { execute, type Served, serve } from './served.ts';

const BATCH = '0199a000-0000-7000-8000-000000000000.1';
const RUN = { run: () => 'paid' };
const TOOLS = [
  { ...PAY, ...RUN },
  { ...PAY, ...RUN, name: 'mail', policy: { approvers: ['caller', 'role:boss'] } },
] as readonly ToolInput[]; // PAY with another run

/** A server with a batch of two calls of ann, and keys of ann and of her boss. */
async function serveBatch() {
  const ended = new Map<string, readonly ToolResult[]>();
  const served = await serve({ access: true, crib: { tools: [...TOOLS, jobTool(ended)] } });
  const keyOf = async (caller: string, roles: readonly string[]) =>
    (await served.crib.keys.create({ name: caller, caller, roles }, 'test')).key;
  const [ann, bea] = [await keyOf('ann', ['dev']), await keyOf('bea', ['boss'])];
  await execute(served.ask, 'job', { batch: BATCH, calls: [pay(3), mail(4)] }, {}, ann);
  const ids = (ended.get(BATCH) ?? []).map((one) => (one.status === 'waiting' ? one.waiting.id : ''));
  const seal = () => storedIn(served.crib).sealBatch(BATCH);
  const answer = (id: string, body: object, token = served.token) =>
    served.ask(`/api/approvals/${id}`, { body, token });
  return { ...served, ann, bea, ids, seal, answer };
}

const read = (served: Served, path: string, token = served.token) => served.ask(path, { token });

describe('a batch over REST', () => {
  it('is one request with items, shown and answered under its id', async () => {
    const served = await serveBatch();
    expect((await read(served, '/api/approvals')).json.approvals).toEqual([]);
    expect((await served.answer(BATCH, { decision: 'approve' })).status).toBe(404);
    expect((await served.answer(served.ids[0] ?? '', { decision: 'approve' })).status).toBe(404);
    await served.seal();
    const { approvals } = (await read(served, '/api/approvals?state=waiting')).json;
    expect(approvals).toHaveLength(1);
    expect(approvals[0]).toMatchObject({
      id: BATCH,
      batch: BATCH,
      tool: 'job',
      expiresAt: expect.stringMatching(/Z$/),
    });
    expect(approvals[0].items.map((item: { tool: string }) => item.tool)).toEqual(['pay', 'mail']);
    expect(approvals[0].items[0]).toMatchObject({ expiresAt: expect.stringMatching(/Z$/), state: 'waiting' });
    const shown = await read(served, `/api/approvals/${BATCH}`);
    expect(shown.json.approval).toEqual(approvals[0]);
    const answered = await served.answer(BATCH, { decision: 'deny', note: 'not today' });
    expect(answered.json.approval).toMatchObject({ id: BATCH, state: 'denied', answer: { note: 'not today' } });
    expect(answered.json.approval.items[1].answer.at).toMatch(/Z$/);
    expect((await served.answer(BATCH, { decision: 'approve' })).status).toBe(409);
    expect((await read(served, '/api/stats')).json.approvalsWaiting).toBe(0);
    expect((await read(served, '/api/tasks', served.token)).json.tasks).toEqual([]);
  });

  it('each caller answers what it may: one item by the caller, the other by the operator', async () => {
    const served = await serveBatch();
    await served.seal();
    const [paying = '', mailing = ''] = served.ids;
    const { ann, bea } = served;
    expect((await served.answer(BATCH, { decision: 'approve' }, ann)).status).toBe(403);
    expect((await served.answer(BATCH, { decision: 'approve' }, bea)).status).toBe(403);
    expect((await served.answer(mailing, { decision: 'approve' }, bea)).json.approval).toMatchObject({ id: mailing });
    expect((await served.answer(paying, { decision: 'approve' }, bea)).status).toBe(404);
    expect((await served.answer(paying, { decision: 'approve' }, ann)).status).toBe(403);
    expect((await served.answer(paying, { decision: 'approve' })).status).toBe(200);
    const { approval } = (await read(served, `/api/approvals/${BATCH}`, ann)).json;
    expect(approval.state).toBe('approved');
    expect(approval.items.map(({ answer }: { answer: { by: string } }) => answer.by).toSorted()).toEqual([
      'bea',
      expect.any(String),
    ]);
  });

  it('no door lets a caller put a call into a batch', async () => {
    const { ask, token } = await serveBatch();
    const { status } = await ask('/api/tools/execute/pay', { token, body: { arguments: { amount: 1 }, batch: BATCH } });
    expect(status).toBe(400);
  });
});

describe('remembered approvals over REST', () => {
  const remember = { uses: 2, forMs: 60_000, vary: { amount: { maximum: 10 } } };

  it('a caller does not give itself further calls; an operator does, lists and forgets them', async () => {
    const served = await serveBatch();
    await served.seal();
    const [paying = '', mailing = ''] = served.ids;
    const body = { decision: 'approve', remember };
    expect((await served.answer(mailing, body, served.ann)).status).toBe(403);
    expect((await served.answer(mailing, body, served.bea)).status).toBe(403);
    expect((await served.answer(BATCH, body)).status).toBe(400);
    expect((await served.answer(paying, { ...body, remember: { ...remember, vary: { amount: {} } } })).status).toBe(
      400,
    );
    expect((await read(served, '/api/grants')).json.grants).toEqual([]);
    expect((await served.answer(paying, body)).status).toBe(200);
    const { grants } = (await read(served, '/api/grants')).json;
    expect(grants).toMatchObject([
      {
        id: paying,
        tool: 'pay',
        caller: { id: 'ann' },
        inside: ['job'],
        arguments: { amount: 3 },
        usesLeft: 2,
        remember,
      },
    ]);
    for (const token of [served.ann, served.bea]) {
      expect((await read(served, '/api/grants', token)).status).toBe(403);
      expect((await served.ask(`/api/grants/${paying}`, { method: 'DELETE', token })).status).toBe(403);
    }
    const forget = (id: string) => served.ask(`/api/grants/${id}`, { method: 'DELETE', token: served.token });
    expect(await forget(paying)).toMatchObject({ status: 200, json: { forgotten: [paying] } });
    expect((await forget(paying)).status).toBe(404);
    expect((await forget('nothing')).status).toBe(404);
    expect((await read(served, '/api/grants')).json.grants).toEqual([]);
  });
});
