import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Bank, CAN_ASK, openBank, type Saying, waitingId } from './bank.ts';
import type { RawMessage } from './clients.ts';

const OPERATOR = { id: 'olga', operator: true };
const answering = (amount: number) => ({ amount: { action: 'accept', content: { amount } } });
const trace = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

const FIRST: Saying = {
  meta: {
    'toolcrib/conversation': 'first',
    'toolcrib/turn': 'turn 1',
    'toolcrib/timeZone': 'Europe/Berlin',
    traceparent: trace('a'),
  },
  capabilities: { elicitation: { form: { amount: 5 }, amount: {} }, experimental: { amount: { amount: 5 } } },
};

/** The same call with everything else that a client can send; approvers see none of it. */
const SMUGGLED: Saying = {
  params: { inputResponses: answering(1_000_000) },
  meta: {
    'toolcrib/conversation': 'pay a million',
    'toolcrib/turn': 'pay a million',
    'toolcrib/timeZone': 'pay a million',
    'toolcrib/idempotencyKey': 'pay a million',
    traceparent: trace('b'),
    'example.com/amount': 1_000_000,
  },
  capabilities: { elicitation: { form: { amount: 1_000_000 }, amount: {} }, experimental: { amount: {} } },
  headers: { 'x-amount': '1000000', 'mcp-param-amount': '1000000' },
};

const AS_PARKED = {
  responses: null,
  state: null,
  meta: { traceparent: trace('a'), progressToken: expect.any(Number) },
  capabilities: CAN_ASK,
};
const NOTED = {
  conversation: 'first',
  turn: 'turn 1',
  timeZone: 'Europe/Berlin',
  door: 'mcp',
  idempotencyKey: undefined,
  traceparent: trace('a'),
  answers: { input: { capabilities: CAN_ASK } },
  profile: 'default',
  caller: { id: 'local', profiles: ['default'], credential: { kind: 'none' } },
};

interface Way {
  /** Where the server does not run it, a call takes it up. */
  readonly runner?: 'none';
  takeUp(bank: Bank, id: string, tool: string): Promise<unknown>;
}

/** Who says yes, and who takes the yes up. */
const WAYS: Readonly<Record<string, Way>> = {
  'approved over REST and run by the server': {
    async takeUp({ rest }, id) {
      expect((await rest(`/api/approvals/${id}`, { decision: 'approve' })).status).toBe(200);
    },
  },
  'approved by the command line in another process and run by the server': {
    async takeUp({ commandLine }, id) {
      expect(await commandLine('approvals', 'approve', id)).toBe(0);
    },
  },
  'taken up by the same call sent again': {
    runner: 'none',
    async takeUp({ commandLine, call }, id, tool) {
      expect(await commandLine('approvals', 'approve', id)).toBe(0);
      expect((await call(tool, SMUGGLED)).result).not.toHaveProperty('isError');
    },
  },
  'taken up over REST by a call that names it': {
    runner: 'none',
    async takeUp({ rest, restAsCaller }, id, tool) {
      await rest(`/api/approvals/${id}`, { decision: 'approve' });
      const said = { conversation: 'other', turn: 'other', timeZone: 'Asia/Tokyo', idempotencyKey: 'other' };
      const body = { arguments: tool === 'note' ? {} : { to: 'bob' }, approvalId: id, ...said };
      expect((await restAsCaller(`/api/tools/execute/${tool}`, body)).status).toBe(200);
    },
  },
  'taken up in the library by a call that names it': {
    runner: 'none',
    async takeUp({ crib }, id, tool) {
      await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
      const chest = await crib.open('default', { id: 'local', roles: ['boss'], permissions: ['pay'] });
      const said = { conversation: 'other', turn: 'other', timeZone: 'other', idempotencyKey: 'other', door: 'other' };
      const answers = { input: { capabilities: { sampling: {} } } };
      const options = { ...said, answers, approvalId: id, traceparent: trace('c') };
      expect(await chest.call(tool, tool === 'note' ? {} : { to: 'bob' }, options)).toMatchObject({ ok: true });
    },
  },
};

describe.each(Object.entries(WAYS))('a parked call, %s', (_way, { takeUp, ...options }) => {
  it('reaches a server of 2026-07-28 with exactly the parked input', async () => {
    const bank = await openBank(options);
    const id = waitingId(await bank.call('bank_transfer', FIRST));
    for (let time = 0; time < 3; time++) expect(waitingId(await bank.call('bank_transfer', SMUGGLED))).toBe(id);
    const [shown] = await bank.crib.approvals.list({ state: 'waiting' });
    const said = { conversation: 'first', turn: 'turn 1', timeZone: 'Europe/Berlin', arguments: { to: 'bob' } };
    expect(shown).toMatchObject(said);
    await takeUp(bank, id, 'bank_transfer');
    await vi.waitFor(() => expect(bank.received()).toHaveLength(1), { timeout: 20_000 });
    expect(bank.received()).toEqual([{ name: 'transfer', arguments: { to: 'bob' }, ...AS_PARKED }]);
  });

  it('reaches a function with exactly the parked input', async () => {
    const bank = await openBank({ ...options, server: 'none' });
    const id = waitingId(await bank.call('note', FIRST));
    expect(waitingId(await bank.call('note', SMUGGLED))).toBe(id);
    await takeUp(bank, id, 'note');
    await vi.waitFor(() => expect(bank.noted).toHaveLength(1), { timeout: 20_000 });
    expect(bank.noted).toEqual([NOTED]);
  });
});

it('a parked call that many clients send again while it is approved reaches the server once, as it was parked', async () => {
  const bank = await openBank();
  for (let round = 1; round <= 4; round++) {
    const given = { arguments: { to: `bob ${round}` } };
    const smuggled = { ...SMUGGLED, params: { ...SMUGGLED.params, ...given } };
    const id = waitingId(await bank.call('bank_transfer', { ...FIRST, params: given }));
    const racing = [1, 2, 3].map(() => bank.call('bank_transfer', smuggled));
    await bank.rest(`/api/approvals/${id}`, { decision: 'approve' });
    await Promise.all([...racing, bank.call('bank_transfer', smuggled)]);
    await vi.waitFor(async () => expect(await bank.crib.approvals.get(id)).toMatchObject({ state: 'done' }));
    expect(bank.received()).toHaveLength(round);
    expect(bank.received().at(-1)).toEqual({ name: 'transfer', ...given, ...AS_PARKED });
  }
});

describe('answers to questions of a tool', () => {
  const message = (answer: RawMessage) => JSON.stringify(answer.result?.inputRequests);
  const stateOf = ({ result }: RawMessage) => {
    expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    return result?.requestState;
  };
  const YES = { 'toolcrib/approval': { action: 'accept', content: { approve: true } } };

  it('without the state that asked for them are neither forwarded nor shown', async () => {
    const bank = await openBank({ approvers: ['caller'] });
    const first = await bank.call('bank_ask', { params: { inputResponses: answering(1_000_000) } });
    expect(message(first)).not.toContain('1000000');
    const again = { inputResponses: { ...YES, ...answering(1_000_000) }, requestState: stateOf(first) };
    expect(message(await bank.call('bank_ask', { params: again }))).toContain('How much?');
    expect(bank.received()).toMatchObject([{ responses: null, state: null }]);
  });

  it('reach the server only with a call that was approved with them: the approver sees them', async () => {
    const bank = await openBank({ approvers: ['caller'] });
    const first = await bank.call('bank_ask');
    const asked = await bank.call('bank_ask', { params: { inputResponses: YES, requestState: stateOf(first) } });
    const inputResponses = { ...answering(5), other: { action: 'accept' }, ...YES };
    const shown = await bank.call('bank_ask', { params: { inputResponses, requestState: stateOf(asked) } });
    expect(message(shown)).toMatch(/Answers to its questions:.*amount.*\{.*amount.*: 5/);
    expect(message(shown)).not.toContain('other');
    const last = { inputResponses: { ...YES, ...answering(1_000_000) }, requestState: stateOf(shown) };
    expect((await bank.call('bank_ask', { params: last })).result).toMatchObject({
      content: [{ text: `did ${JSON.stringify(answering(5))}` }],
    });
    expect(bank.received()).toMatchObject([
      { responses: null, state: null },
      { responses: answering(5), state: 'asked how much' },
    ]);
  });

  it('that wait for an operator are used by the server, and the same call sent again without them gets the result', async () => {
    const bank = await openBank();
    onTestFinished(bank.crib.runParked());
    const approve = async (id: string) => {
      const [shown] = await bank.crib.approvals.list({ state: 'waiting' });
      await bank.rest(`/api/approvals/${id}`, { decision: 'approve' });
      return shown;
    };
    await approve(waitingId(await bank.call('bank_ask')));
    const requestState = stateOf(await bank.call('bank_ask'));
    const id = waitingId(await bank.call('bank_ask', { params: { inputResponses: answering(5), requestState } }));
    expect(await approve(id)).toMatchObject({ inputResponses: answering(5), arguments: { to: 'bob' } });
    expect((await bank.call('bank_ask')).result).toMatchObject({
      content: [{ text: `did ${JSON.stringify(answering(5))}` }],
    });
    expect(bank.received()).toMatchObject([{ responses: null }, { responses: answering(5), state: 'asked how much' }]);
  });

  it('for one definition of a tool are not given to another, also through call_tool', async () => {
    const bank = await openBank({
      approvers: ['caller'],
      profile: { expose: 'search', policy: { approval: 'never' } },
    });
    const through = { name: 'call_tool', arguments: { name: 'bank_ask', arguments: { to: 'bob' } } };
    const smuggled = await bank.call('call_tool', { params: { ...through, inputResponses: answering(1_000_000) } });
    const requestState = stateOf(smuggled);
    expect(bank.received()).toMatchObject([{ responses: null }]);
    const answered = { ...through, inputResponses: answering(5), requestState };
    expect((await bank.call('call_tool', { params: answered })).result).toMatchObject({
      content: [{ text: `did ${JSON.stringify(answering(5))}` }],
    });
    const later = stateOf(await bank.call('call_tool', { params: through }));
    bank.crib.register({ name: 'other', description: 'x', run: () => 'x' });
    const elsewhere = { name: 'call_tool', arguments: { name: 'other', arguments: {} }, inputResponses: answering(5) };
    expect(await bank.call('call_tool', { params: { ...elsewhere, requestState: later } })).toMatchObject({
      error: { code: -32602 },
    });
  });
});
