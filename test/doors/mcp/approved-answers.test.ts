import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Remember } from '../../../src/core/ports/remember.ts';
import { type ApprovalRequest, type CallOptions, createCrib, type ToolCall } from '../../../src/index.ts';
import { idOf } from '../../approvals/payments.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { CAN_ASK, openBank } from './bank.ts';

const OPERATOR = { id: 'olga', operator: true };
const answering = (amount: number) => ({ amount: { action: 'accept', content: { amount } } });
const trace = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

describe('a remembered approval', () => {
  const remembering = async (remember: Remember) => {
    const { crib, noted } = await openBank({ server: 'none' });
    const chest = await crib.open('default', { id: 'ann' });
    const call = (options: CallOptions = {}) => chest.call('note', {}, { park: true, conversation: 'c', ...options });
    await crib.approvals.answer(
      idOf(await call({ timeZone: 'Europe/Berlin' })),
      { decision: 'approve', remember },
      OPERATOR,
    );
    expect(await call({ timeZone: 'Europe/Berlin' })).toMatchObject({ ok: true });
    expect(await call({ timeZone: 'Europe/Berlin' })).toMatchObject({ ok: true });
    return { crib, call, noted };
  };
  const withAnswers = { answers: { input: { responses: answering(1_000_000) } } };

  it.each(['arguments', 'conversation', { forMs: 3_600_000 }] as const)(
    'for %j does not cover answers to questions',
    async (remember) => {
      const { call, noted } = await remembering(remember);
      for (const input of [{ responses: answering(1_000_000) }, { state: 'a million' }])
        expect(await call({ timeZone: 'Europe/Berlin', answers: { input } })).toMatchObject({ status: 'waiting' });
      expect(noted).toHaveLength(2);
    },
  );

  it('for its arguments counts for its time zone only', async () => {
    const { call } = await remembering('arguments');
    expect(await call({ timeZone: 'Asia/Tokyo' })).toMatchObject({ status: 'waiting' });
    expect(await call()).toMatchObject({ status: 'waiting' });
  });

  it('for arguments with answers counts for these answers', async () => {
    const { crib, call } = await remembering({ forMs: 3_600_000 });
    await crib.approvals.answer(
      idOf(await call(withAnswers)),
      { decision: 'approve', remember: 'arguments' },
      OPERATOR,
    );
    for (let time = 0; time < 2; time++) expect(await call(withAnswers)).toMatchObject({ ok: true });
    const others = { answers: { input: { responses: answering(2_000_000) } } };
    expect(await call(others)).toMatchObject({ status: 'waiting' });
  });

  it('counts for the roles that its caller had', async () => {
    const { crib } = await remembering({ forMs: 3_600_000 });
    const boss = await crib.open('default', { id: 'ann', roles: ['boss'] });
    expect(await boss.call('note', {}, { park: true })).toMatchObject({ status: 'waiting' });
  });
});

describe("the host's approver", () => {
  it('sees everything that the tool gets, and later changes do not reach the tool', async () => {
    for (const store of [{ url: 'memory:' }, undefined]) {
      const answers = { input: { responses: { amount: { content: { amount: 5 } } }, state: 'asked' } };
      const asked: ApprovalRequest[] = [];
      const got: unknown[] = [];
      const approve = (request: ApprovalRequest) => {
        asked.push(request);
        answers.input.responses.amount.content.amount = 1_000_000;
        answers.input.state = 'changed';
        return true;
      };
      const run = (_: unknown, call: ToolCall) => {
        got.push(call.answers?.input);
        return 'ok';
      };
      const crib = await createCrib({
        tools: [{ name: 'pay', description: 'Pays', policy: { approval: 'always' }, run }],
        ...(store !== undefined && { store }),
      });
      onTestFinished(() => crib.close());
      const chest = await crib.open(undefined, { id: 'ann', approve });
      const said = { conversation: 'c', turn: 't', timeZone: 'Asia/Tokyo', idempotencyKey: 'k' };
      expect(await chest.call('pay', {}, { ...said, answers })).toMatchObject({ ok: true });
      expect(asked).toMatchObject([{ ...said, inputResponses: { amount: { content: { amount: 5 } } } }]);
      expect(got).toEqual([{ responses: { amount: { content: { amount: 5 } } }, state: 'asked' }]);
    }
  });
});

describe('a nested call', () => {
  it('is bound to its outer call and the input of that, and says so', async () => {
    const outer = {
      name: 'outer',
      description: 'Outer',
      policy: { approval: 'never' as const },
      run: (_: unknown, call: ToolCall) => call.tools.call('inner', {}),
    };
    const seen: unknown[] = [];
    const inner = {
      name: 'inner',
      description: 'Inner',
      policy: { approval: 'always' as const },
      run: (_: unknown, call: ToolCall) => void seen.push(call.parent?.input),
    };
    const crib = await createCrib({ tools: [outer, inner], store: { url: 'memory:' } });
    onTestFinished(() => crib.close());
    const chest = await crib.open(undefined, { id: 'ann' });
    const id = idOf(await chest.call('outer', { amount: 5 }, { park: true }));
    expect(await crib.approvals.get(id)).toMatchObject({ tool: 'inner', inside: ['outer'] });
    await crib.approvals.answer(id, { decision: 'approve', remember: 'arguments' }, OPERATOR);
    expect(idOf(await chest.call('outer', { amount: 1_000_000 }, { park: true }))).not.toBe(id);
    expect(await chest.call('inner', {}, { park: true, approvalId: id })).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('inside another call') },
    });
    expect(await chest.call('outer', { amount: 5 }, { park: true })).toMatchObject({ ok: true });
    expect(seen).toEqual([{ amount: 5 }]);
  });
});

describe('a nested call of a parked call', () => {
  it('runs as the caller that parked the outer call, whichever caller sends it again', async () => {
    const seen: unknown[] = [];
    const inner = {
      name: 'inner',
      description: 'Inner',
      run: (_: unknown, { caller, timeZone }: ToolCall) => void seen.push({ caller, timeZone }),
    };
    const forBosses = { ...inner, name: 'for_bosses', policy: { access: [{ roles: ['boss'] }] } };
    const outer = {
      name: 'outer',
      description: 'Outer',
      policy: { approval: 'always' as const },
      run: async (_: unknown, { tools }: ToolCall) => {
        await tools.call('inner', {});
        const { ok } = await tools.call('for_bosses', {});
        return { ok, listed: tools.list().map(({ name }) => name) };
      },
    };
    const crib = await createCrib({ tools: [outer, inner, forBosses], store: { url: 'memory:' } });
    onTestFinished(() => crib.close());
    const call = async (roles: readonly string[], options: CallOptions) =>
      (await crib.open(undefined, { id: 'ann', roles })).call('outer', {}, { park: true, ...options });
    const id = idOf(await call(['dev'], { timeZone: 'Europe/Berlin' }));
    await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    expect(await call(['boss'], { approvalId: id, timeZone: 'Asia/Tokyo' })).toMatchObject({
      data: { ok: false, listed: ['outer', 'inner'] },
    });
    expect(seen).toEqual([{ caller: { id: 'ann', roles: ['dev'] }, timeZone: 'Europe/Berlin' }]);
  });
});

describe('an idempotency key', () => {
  it('that was used with other answers is a conflict', async () => {
    const crib = await createCrib({
      tools: [{ name: 'pay', description: 'Pays', run: () => 'paid' }],
      store: { url: 'memory:' },
    });
    onTestFinished(() => crib.close());
    const chest = await crib.open(undefined, { id: 'ann' });
    const call = (amount: number) =>
      chest.call('pay', {}, { idempotencyKey: 'k', answers: { input: { responses: answering(amount) } } });
    expect(await call(5)).toMatchObject({ ok: true });
    expect(await call(5)).toMatchObject({ ok: true });
    expect(await call(6)).toMatchObject({ error: { code: 'conflict' } });
    expect(await chest.call('pay', {}, { idempotencyKey: 'k' })).toMatchObject({ error: { code: 'conflict' } });
  });
});

describe('an approval that a call names', () => {
  it('runs with the parked input, including answers, if its caller sends it', async () => {
    const { crib, noted } = await openBank({ server: 'none' });
    const call = async (roles: readonly string[], options: CallOptions) =>
      (await crib.open('default', { id: 'ann', roles })).call('note', {}, { park: true, ...options });
    const first = {
      conversation: 'c',
      turn: 't',
      timeZone: 'z',
      idempotencyKey: 'k',
      traceparent: trace('a'),
      door: 'own',
    };
    const answers = { input: { responses: answering(5), state: 's', capabilities: CAN_ASK } };
    const id = idOf(await call(['dev'], { ...first, answers }));
    await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    const others = {
      conversation: 'C',
      turn: 'T',
      timeZone: 'Z',
      idempotencyKey: 'K',
      traceparent: trace('b'),
      door: 'x',
    };
    expect(await call(['boss'], { ...others, approvalId: id })).toMatchObject({ ok: true });
    expect(noted).toEqual([{ ...first, answers, profile: 'default', caller: { id: 'ann', roles: ['dev'] } }]);
  });

  it('is refused for other answers or none', async () => {
    const { crib, noted } = await openBank({ server: 'none' });
    const chest = await crib.open('default', { id: 'ann' });
    const call = (options: CallOptions) => chest.call('note', {}, { park: true, ...options });
    const id = idOf(await call({}));
    await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    for (const input of [{ responses: answering(5) }, { state: 'x' }])
      expect(await call({ approvalId: id, answers: { input } })).toMatchObject({
        error: { code: 'denied', message: expect.stringContaining('other answers') },
      });
    expect(noted).toEqual([]);
  });
});

describe("an approval that another call shows to the host's approver", () => {
  it('runs with what that approver sees, if the same caller names it elsewhere', async () => {
    const url = `sqlite:${join(temporaryFolder(), 'shared.db')}`;
    const noted: unknown[] = [];
    const run = (_: unknown, { timeZone, conversation, caller, answers }: ToolCall) =>
      void noted.push({ timeZone, conversation, roles: caller.roles, answers });
    const open = async () => {
      const pay = { name: 'pay', description: 'Pays', policy: { approval: 'always' as const }, run };
      const crib = await createCrib({ tools: [pay], store: { url } });
      onTestFinished(() => crib.close());
      return crib;
    };
    const [here, there] = [await open(), await open()];
    const shown = Promise.withResolvers<ApprovalRequest>();
    let asked = 0;
    const approve = (request: ApprovalRequest) => {
      shown.resolve(request);
      return asked++ === 0 && new Promise<boolean>(() => {}); // what it asks after the yes was taken is denied
    };
    const host = await here.open(undefined, { id: 'ann', roles: ['dev'], approve });
    const answers = { input: { responses: answering(5) } };
    const first = host.call('pay', {}, { timeZone: 'Europe/Berlin', answers });
    const { id } = await shown.promise;
    await there.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    const agent = await there.open(undefined, { id: 'ann', roles: ['boss'] });
    await agent.call('pay', {}, { approvalId: id, timeZone: 'Asia/Tokyo', conversation: 'unseen' });
    await first;
    expect(noted).toEqual([{ timeZone: 'Europe/Berlin', conversation: undefined, roles: ['dev'], answers }]);
  });
});

describe('answers to questions of a tool', () => {
  it('that were denied do not deny the call without them', async () => {
    const { crib } = await openBank({ server: 'none' });
    const chest = await crib.open('default', { id: 'ann' });
    const call = (responses?: object) =>
      chest.call(
        'note',
        {},
        { park: true, answers: { input: { ...(responses && { responses: responses as JsonObject }) } } },
      );
    const id = idOf(await call(answering(5)));
    expect(idOf(await call())).toBe(id);
    await crib.approvals.answer(id, { decision: 'deny' }, OPERATOR);
    expect(await call(answering(5))).toMatchObject({ error: { code: 'denied' } });
    expect(idOf(await call())).not.toBe(id);
  });
});
