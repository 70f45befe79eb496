import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Caller, createCrib, type GrantTerms, type Remember, type ToolInput } from '../../src/index.ts';
import { wrong } from '../bad-input/wrong.ts';
import { stillTime } from '../crib/manual-clock.ts';
import { idOf, OPERATOR, openOffice, PAY } from './payments.ts';
import { openJobs, pay as payCall } from './scripts.ts';

const MINUTE = 60_000;
const ALICE: Caller = { id: 'alice', roles: ['dev'] };
const UP_TO_100: GrantTerms = { uses: 2, forMs: MINUTE, vary: { amount: { maximum: 100 } } };

afterEach(() => {
  vi.useRealTimers();
});

/** A payment with a receiver, which must not change. */
const TO: Partial<ToolInput> = {
  input: {
    type: 'object',
    properties: { amount: {}, to: { type: 'string' }, note: {} },
    required: ['amount'],
  },
};

async function openWith(remember: Remember, first: Readonly<Record<string, unknown>> = { amount: 3, to: 'bob' }) {
  const office = await openOffice({ tool: TO });
  const chest = await office.crib.open(undefined, ALICE);
  const send = (input: Readonly<Record<string, unknown>>, options = {}) =>
    chest.call('pay', input, { door: 'cli', park: true, ...options });
  const id = idOf(await send(first));
  const outcome = await office.crib.approvals.answer(id, { decision: 'approve', remember }, OPERATOR);
  return { ...office, send, id, outcome };
}

describe('an approval for further calls', () => {
  it('lets the named arguments vary within their schema, a number of times', async () => {
    const { crib, send, id, outcome, paid } = await openWith(UP_TO_100);
    expect(outcome).toMatchObject({ ok: true, approval: { answer: { remember: UP_TO_100 } } });
    expect(await send({ amount: 3, to: 'bob' })).toMatchObject({ ok: true }); // the approved call itself
    expect(await send({ amount: 101, to: 'bob' })).toMatchObject({ status: 'waiting' });
    expect(await send({ amount: 99, to: 'bob' })).toMatchObject({ ok: true });
    expect(await crib.approvals.grants()).toMatchObject([{ id, by: 'olga', usesLeft: 1, approval: { tool: 'pay' } }]);
    expect(await send({ amount: 7, to: 'bob' })).toMatchObject({ ok: true });
    expect(await send({ amount: 8, to: 'bob' })).toMatchObject({ status: 'waiting' });
    expect(paid).toHaveLength(3);
    expect(await crib.approvals.grants()).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['another receiver', { amount: 9, to: 'mallory' }],
    ['one argument more', { amount: 9, to: 'bob', note: 'x' }],
    ['one argument less', { amount: 9 }],
    ['the varying argument left out', { to: 'bob' }],
    ['a text that reads as a number', { amount: '9', to: 'bob' }],
    ['a text beyond the bound', { amount: '5000', to: 'bob' }],
    ['a list', { amount: [9], to: 'bob' }],
    ['an object', { amount: { value: 9 }, to: 'bob' }],
    ['null', { amount: null, to: 'bob' }],
  ])('does not cover %s', async (_, input) => {
    const { send, paid } = await openWith(UP_TO_100);
    expect((await send(input)).status).not.toBe('done');
    expect(paid).toEqual([]);
  });

  it('keeps the type of the approved value, even if its schema allows another one', async () => {
    const amount = { type: ['number', 'string', 'array', 'null'], maximum: 100 };
    const { send } = await openWith({ uses: 9, forMs: MINUTE, vary: { amount } });
    for (const other of ['5000', [5000], null])
      expect(await send({ amount: other, to: 'bob' }), String(other)).toMatchObject({ status: 'waiting' });
    expect(await send({ amount: 99, to: 'bob' })).toMatchObject({ ok: true });
  });

  it('without vary counts for exactly the approved arguments', async () => {
    const { send } = await openWith({ uses: 1, forMs: MINUTE });
    expect(await send({ amount: 3, to: 'bob' })).toMatchObject({ ok: true });
    expect(await send({ amount: 4, to: 'bob' })).toMatchObject({ status: 'waiting' });
    expect(await send({ to: 'bob', amount: 3 })).toMatchObject({ ok: true });
    expect(await send({ amount: 3, to: 'bob' })).toMatchObject({ status: 'waiting' });
  });

  it('ends at its time', async () => {
    const move = stillTime();
    const until = new Date(Date.now() + MINUTE).toISOString();
    const { send } = await openWith({ uses: 9, until, vary: { amount: { maximum: 100 } } });
    expect(await send({ amount: 4, to: 'bob' })).toMatchObject({ ok: true });
    move(MINUTE);
    expect(await send({ amount: 5, to: 'bob' })).toMatchObject({ status: 'waiting' });
  });

  it('counts for its caller only', async () => {
    const { crib } = await openWith(UP_TO_100);
    for (const as of [{ id: 'mallory', roles: ['dev'] }, { id: 'alice', roles: ['boss'] }, {}]) {
      const chest = await crib.open(undefined, as);
      const result = await chest.call('pay', { amount: 9, to: 'bob' }, { door: 'cli', park: true });
      expect(result.status, JSON.stringify(as)).toBe('waiting');
    }
  });

  it('a call that ended before its tool began returns the use', async () => {
    const office = await openOffice({ tool: TO, extensions: [] });
    let isDown = true;
    office.crib.extensions.add({
      name: 'down',
      priority: 400,
      wrap: (_call, next) => {
        if (!isDown) return next(_call);
        return { ok: false, status: 'failed', error: { code: 'unavailable', message: 'down', retryable: true } };
      },
    });
    const chest = await office.crib.open(undefined, ALICE);
    const send = (amount: number) => chest.call('pay', { amount, to: 'bob' }, { door: 'cli', park: true });
    const id = idOf(await send(3));
    await office.crib.approvals.answer(id, { decision: 'approve', remember: UP_TO_100 }, OPERATOR);
    expect(await send(4)).toMatchObject({ error: { code: 'unavailable' } });
    expect(await office.crib.approvals.grants()).toMatchObject([{ usesLeft: 2 }]);
    isDown = false;
    expect(await send(4)).toMatchObject({ ok: true });
    expect(await office.crib.approvals.grants()).toMatchObject([{ usesLeft: 1 }]);
  });

  it('is named by the audit row of each call that it let pass', async () => {
    const { crib, send, id } = await openWith(UP_TO_100);
    await send({ amount: 9, to: 'bob' });
    const [row] = await crib.calls.list({ tool: 'pay', limit: 1 });
    expect(row).toMatchObject({ outcome: 'done', approval: { id, by: 'olga', isRemembered: true } });
    expect(await crib.audit.verify()).toMatchObject({ ok: true });
  });

  it('is forgotten by an operator, not by its caller', async () => {
    const { crib, send, id } = await openWith(UP_TO_100);
    expect(await crib.approvals.forget(id, ALICE)).toMatchObject({ error: { code: 'denied' } });
    expect(await crib.approvals.forget(id, OPERATOR)).toMatchObject({ ok: true });
    expect(await send({ amount: 9, to: 'bob' })).toMatchObject({ status: 'waiting' });
  });

  it("counts if the host's approver gives it; one with a wrong schema counts once", async () => {
    const office = await openOffice({ tool: TO });
    const approve = vi.fn(() => ({ approved: true, remember: UP_TO_100 }));
    const chest = await office.crib.open(undefined, { ...ALICE, approve });
    for (const amount of [3, 4, 5]) await chest.call('pay', { amount, to: 'bob' });
    expect(approve).toHaveBeenCalledOnce();
    const loose = vi.fn(() => ({ approved: true, remember: { ...UP_TO_100, vary: { amount: {} } } }));
    const other = await office.crib.open(undefined, { id: 'carl', approve: loose });
    for (const amount of [3, 4]) await other.call('pay', { amount, to: 'bob' });
    expect(loose).toHaveBeenCalledTimes(2);
  });
});

describe('inside a script', () => {
  it('counts for inner calls of the same script, not for others and not for direct calls', async () => {
    const { crib, sealed } = await openJobs();
    const { ids } = await sealed([payCall(3)]);
    const remember = { ...UP_TO_100, uses: 10 };
    await crib.approvals.answer(ids[0] ?? '', { decision: 'approve', remember }, OPERATOR);
    const direct = await crib.open(undefined, ALICE);
    expect(await direct.call('pay', { amount: 9 }, { park: true })).toMatchObject({ status: 'waiting' });
    const { results } = await sealed([payCall(9)]); // this tool is another program with other arguments
    expect(results).toMatchObject([{ status: 'waiting' }]);
  });

  it('is bound to the code of the script, and not to its input', async () => {
    const paid: unknown[] = [];
    const tool = {
      ...PAY,
      run: (input: unknown) => {
        paid.push(input);
        return 'paid';
      },
    } as ToolInput;
    const crib = await createCrib({ tools: [tool], store: 'memory', profiles: { agent: { expose: 'script' } } });
    const chest = await crib.open('agent', { id: 'alice' });
    const seen: string[] = [];
    const run = async (code: string, amount: number, as: Caller) =>
      (await crib.open('agent', as)).call('execute_script', { code, input: { amount } });
    const host: Caller = {
      id: 'alice',
      approve: ({ arguments: { amount } }) => {
        seen.push(String(amount));
        return { approved: true, remember: { uses: 5, forMs: MINUTE, vary: { amount: { maximum: 100 } } } };
      },
    };
    const code = 'return tools.pay({ amount: input.amount })';
    expect(await run(code, 3, host)).toMatchObject({ ok: true });
    expect(await run(code, 4, host)).toMatchObject({ ok: true });
    expect(seen).toEqual(['3']);
    expect(await run(`${code} // changed`, 4, host)).toMatchObject({ ok: true });
    expect(seen).toEqual(['3', '4']);
    expect(await chest.call('pay', { amount: 4 })).toMatchObject({ ok: false });
    expect(paid).toEqual([{ amount: 3 }, { amount: 4 }, { amount: 4 }]);
    await crib.close();
  });
});

describe('an answer for further calls that is refused', () => {
  const parked = async (first: Readonly<Record<string, unknown>> = { amount: 3, to: 'bob' }) => {
    const office = await openOffice({ tool: { ...TO, policy: { approvers: ['caller', 'role:boss'] } } });
    const chest = await office.crib.open(undefined, ALICE);
    const id = idOf(await chest.call('pay', first, { door: 'cli', park: true }));
    const answer = (remember: unknown, by: Caller = OPERATOR) =>
      office.crib.approvals.answer(id, { decision: 'approve', remember: wrong(remember) }, by);
    return { ...office, id, answer };
  };

  it('is not given by the caller itself, nor by an approver who is not an operator', async () => {
    const { answer, waiting, crib } = await parked();
    for (const by of [ALICE, { id: 'bea', roles: ['boss'] }])
      for (const remember of [UP_TO_100, { uses: 1, forMs: MINUTE }])
        expect(await answer(remember, by)).toMatchObject({
          error: { code: 'denied', message: expect.stringContaining('only an operator') },
        });
    expect(await waiting()).toHaveLength(1);
    expect(await crib.approvals.grants()).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['no number', { forMs: MINUTE, vary: {} }, '"remember.uses"'],
    ['the number 0', { uses: 0, forMs: MINUTE }, '"remember.uses"'],
    ['half a use', { uses: 1.5, forMs: MINUTE }, '"remember.uses"'],
    ['a number as text', { uses: '5', forMs: MINUTE }, '"remember.uses"'],
    ['too many uses', { uses: 1_000_000, forMs: MINUTE }, '"remember.uses"'],
    ['no end', { uses: 1 }, 'needs an end'],
    ['two ends', { uses: 1, forMs: MINUTE, until: '2999-01-01T00:00:00Z' }, 'needs an end'],
    ['an end that is not a time', { uses: 1, until: 'tomorrow' }, '"remember.until"'],
    ['an end without a zone', { uses: 1, until: '2999-01-01T00:00:00' }, '"remember.until"'],
    ['a time below 0', { uses: 1, forMs: -1 }, '"remember.forMs"'],
    ['more than 30 days', { uses: 1, forMs: 31 * 86_400_000 }, '30 days'],
    ['an unknown key', { uses: 1, forMs: MINUTE, varies: {} }, '"remember.varies" is not known'],
    ['a list in vary', { ...UP_TO_100, vary: [] }, '"remember.vary"'],
    ['a schema that is true', { ...UP_TO_100, vary: { amount: true } }, 'must be an object'],
    ['a schema that accepts everything', { ...UP_TO_100, vary: { amount: {} } }, 'accepts everything'],
    ['only a description', { ...UP_TO_100, vary: { amount: { description: 'any' } } }, 'accepts everything'],
    ['a schema of another type', { ...UP_TO_100, vary: { amount: { type: 'string' } } }, 'does not fit'],
    ['bounds of another type', { ...UP_TO_100, vary: { amount: { maxLength: 5 } } }, 'does not fit'],
    ['a schema that the approved value breaks', { ...UP_TO_100, vary: { amount: { maximum: 2 } } }, 'does not fit'],
    ['an argument that the call does not have', { ...UP_TO_100, vary: { note: { type: 'string' } } }, 'does not have'],
    ['a remote reference', { ...UP_TO_100, vary: { amount: { $ref: 'https://x.test/s.json' } } }, 'amount'],
    ['an invalid schema', { ...UP_TO_100, vary: { amount: { type: 'nonsense' } } }, 'amount'],
    ['a prototype', { ...UP_TO_100, vary: JSON.parse('{"__proto__":{"type":"number"}}') }, '"remember"'],
    [
      'too many names',
      { ...UP_TO_100, vary: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`a${n}`, { type: 'number' }])) },
      'at most 20',
    ],
    ['a huge schema', { ...UP_TO_100, vary: { amount: { enum: ['x'.repeat(20_000)] } } }, 'at most 10000'],
  ])('%s', async (_, remember, words) => {
    const { answer, waiting } = await parked();
    expect(await answer(remember)).toMatchObject({
      error: { code: 'invalid_input', message: expect.stringContaining(words) },
    });
    expect(await waiting()).toHaveLength(1);
  });

  it('a value that cannot be read', async () => {
    const { answer, waiting } = await parked();
    const hostile = {
      get uses() {
        throw new Error('no');
      },
    };
    for (const remember of [
      hostile,
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no');
          },
        },
      ),
      () => 1,
      Symbol('x'),
      5,
      null,
    ])
      expect((await answer(remember)).ok).toBe(false);
    expect(await waiting()).toHaveLength(1);
  });

  it('vary for a batch of several', async () => {
    const { crib, sealed } = await openJobs();
    const { batch, ids } = await sealed([payCall(3), payCall(4)]);
    expect(await crib.approvals.answer(batch, { decision: 'approve', remember: UP_TO_100 }, OPERATOR)).toMatchObject({
      error: { code: 'invalid_input', message: expect.stringContaining('one by one') },
    });
    const [first = ''] = ids;
    expect(await crib.approvals.answer(first, { decision: 'approve', remember: UP_TO_100 }, OPERATOR)).toMatchObject({
      ok: true,
    });
  });
});
