import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { newFacts } from '../../src/core/begun-runs.ts';
import { type CallFacts, FACTS } from '../../src/core/tool-call.ts';
import { TOOL_ERROR_CODES, type ToolErrorCode } from '../../src/core/tool-error.ts';
import {
  breaker,
  concurrency,
  done,
  type Effects,
  type Executor,
  type Extension,
  failed,
  type ToolCall,
  type ToolResult,
  toolError,
} from '../../src/index.ts';
import { stillTime } from '../crib/manual-clock.ts';
import { idOf, openOffice } from './payments.ts';

const refusal = (code: ToolErrorCode, retryable = false): ToolResult =>
  failed(toolError(code, 'not now', { retryable }));

/** A gate behind the approval that answers instead of the tool as long as it is told to. */
function barrier() {
  const state: { answer: (() => unknown) | undefined } = { answer: undefined };
  const extension: Extension = {
    name: 'barrier',
    priority: 400,
    wrap: (call, next) => (state.answer === undefined ? next(call) : (state.answer() as ToolResult)), // plain JavaScript answers anything
  };
  return { state, extension };
}

/** An office in which this bank pays, and an approved payment in it. */
async function approvedIn(bank: Executor['execute'], options: Parameters<typeof openOffice>[0] = {}) {
  const executor: Executor = { kind: 'bank', runSchema: { type: 'object' }, execute: bank };
  const office = await openOffice({ executors: [executor], ...options });
  const id = idOf(await office.pay(3));
  await office.answer(id, 'approve');
  const stateOf = async () => (await office.crib.approvals.get(id))?.state;
  return { office, id, stateOf };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('an approval is used by a run of the tool, and by nothing else', () => {
  it.each(TOOL_ERROR_CODES)('a tool that answers %s has run: the approval is used', async (code) => {
    const entries: string[] = [];
    const { office, id, stateOf } = await approvedIn((call) => {
      entries.push(call.id);
      return refusal(code, true);
    });
    expect(await office.pay(3, { approvalId: id })).toMatchObject({ error: { code } });
    expect(await stateOf()).toBe('done');
    expect(await office.pay(3, { approvalId: id })).toMatchObject({ ok: false });
    expect(idOf(await office.pay(3))).not.toBe(id);
    expect(entries).toHaveLength(1);
  });

  it.each(TOOL_ERROR_CODES)(
    'a gate behind the approval that answers %s has not run the tool: the approval is valid again',
    async (code) => {
      const { state, extension } = barrier();
      const entries: string[] = [];
      const pay: Executor['execute'] = (call) => {
        entries.push(call.id);
        return done('paid');
      };
      const { office, id, stateOf } = await approvedIn(pay, { extensions: [extension] });
      state.answer = () => refusal(code);
      for (const options of [{}, { approvalId: id }]) {
        expect(await office.pay(3, options)).toMatchObject({ error: { code } });
        expect(await stateOf()).toBe('approved');
      }
      state.answer = undefined;
      expect(await office.pay(3)).toMatchObject({ ok: true });
      expect(await stateOf()).toBe('done');
      expect(entries).toHaveLength(1);
    },
  );

  it('a gate that throws or returns an invalid result has not started the tool', async () => {
    const { state, extension } = barrier();
    const { office, id, stateOf } = await approvedIn(() => done('paid'), { extensions: [extension] });
    const answers = [
      () => {
        throw new Error('broken');
      },
      () => 'nothing',
    ];
    for (const answer of answers) {
      state.answer = answer;
      expect(await office.pay(3, { approvalId: id })).toMatchObject({ error: { code: 'internal' } });
      expect(await stateOf()).toBe('approved');
    }
    state.answer = undefined;
    expect(await office.pay(3)).toMatchObject({ ok: true });
  });

  it.each<[string, Extension]>([
    ['breaker', breaker({ failures: 1, openMs: 50 })],
    ['concurrency', concurrency({ slots: [{ scope: 'tool', amount: 1 }], maxWaiting: 0 })],
  ])('a call that the %s refuses keeps the approval', async (_, extension) => {
    const busy = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let isDown = true;
    const pay: Executor['execute'] = async ({ input }) => {
      if (input.amount === 3) return done('paid');
      begun.resolve();
      await busy.promise;
      return isDown ? refusal('unavailable') : done('paid');
    };
    const { office, id, stateOf } = await approvedIn(pay, { extensions: [extension] });
    const yes = { as: { id: 'bob', approve: () => true } };
    const other = office.pay(1, yes);
    await begun.promise;
    if (extension.name === 'breaker') {
      busy.resolve();
      await other;
    }
    expect(await office.pay(3, { approvalId: id })).toMatchObject({ error: { code: 'unavailable' } });
    expect(await stateOf()).toBe('approved');
    isDown = false;
    busy.resolve();
    await other;
    await vi.waitFor(async () => expect(await office.pay(3, { approvalId: id })).toMatchObject({ ok: true }));
    expect(await stateOf()).toBe('done');
  });

  it('a call that is cancelled while it waits for a slot keeps the approval', async () => {
    const slots = concurrency({ slots: [{ scope: 'tool', amount: 1 }] });
    const [begun, busy] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const pay: Executor['execute'] = async () => {
      begun.resolve();
      await busy.promise;
      return done('paid');
    };
    const { office, id, stateOf } = await approvedIn(pay, { extensions: [slots] });
    const other = office.pay(1, { as: { id: 'bob', approve: () => true } });
    await begun.promise;
    const asker = new AbortController();
    const called = office.pay(3, { approvalId: id, signal: asker.signal });
    await vi.waitFor(async () => expect(await stateOf()).toBe('claimed'));
    asker.abort();
    expect(await called).toMatchObject({ error: { code: 'cancelled' } });
    await vi.waitFor(async () => expect(await stateOf()).toBe('approved'));
    busy.resolve();
    await other;
    expect(await office.pay(3)).toMatchObject({ ok: true });
  });

  it('a gate that calls next after it has answered finds that the tool can no longer begin', async () => {
    const late = Promise.withResolvers<ToolResult>();
    let isFirst = true;
    const impatient: Extension = {
      name: 'impatient',
      priority: 400,
      wrap(call, next) {
        if (!isFirst) return next(call);
        isFirst = false;
        void Promise.resolve().then(async () => {
          await given.promise;
          late.resolve(await next(call));
        });
        return refusal('unavailable', true);
      },
    };
    const given = Promise.withResolvers<void>();
    const entries: ToolCall[] = [];
    const pay: Executor['execute'] = (call) => {
      entries.push(call);
      return done('paid');
    };
    const { office, id, stateOf } = await approvedIn(pay, { extensions: [impatient] });
    expect(await office.pay(3, { approvalId: id })).toMatchObject({ error: { code: 'unavailable' } });
    expect(await stateOf()).toBe('approved');
    given.resolve();
    expect(await late.promise).toMatchObject({ error: { code: 'cancelled' } });
    expect(entries).toEqual([]);
    expect(await office.pay(3)).toMatchObject({ ok: true });
    expect(entries).toHaveLength(1);
  });

  it("an approval by the host's approver is kept for the same call, which runs as it was shown", async () => {
    const { state, extension } = barrier();
    const zones: unknown[] = [];
    const { office } = await approvedIn(
      (call) => {
        zones.push(call.timeZone);
        return done('paid');
      },
      { extensions: [extension] },
    );
    const approve = vi.fn(() => true);
    state.answer = () => refusal('unavailable', true);
    const as = { id: 'bob', approve };
    expect(await office.pay(8, { as, timeZone: 'Asia/Tokyo' })).toMatchObject({ error: { code: 'unavailable' } });
    state.answer = undefined;
    expect(await office.pay(8, { as, timeZone: 'Europe/Rome' })).toMatchObject({ ok: true });
    expect(approve).toHaveBeenCalledTimes(1);
    expect(zones).toEqual(['Asia/Tokyo']);
  });

  it('expires at the time it was given for', async () => {
    const pass = stillTime();
    const { state, extension } = barrier();
    const { office, id } = await approvedIn(() => done('paid'), { extensions: [extension] });
    state.answer = () => refusal('unavailable');
    pass(299_999);
    await office.pay(3, { approvalId: id });
    expect(await office.crib.approvals.get(id)).toMatchObject({ state: 'approved' });
    pass(1);
    expect(await office.crib.approvals.get(id)).toMatchObject({ state: 'expired' });
    state.answer = undefined;
    expect(await office.pay(3, { approvalId: id })).toMatchObject({ error: { code: 'denied' } });
  });
});

/** Puts other facts wherever the call, or what it is made of, holds some. */
function replaceFacts(call: ToolCall, facts: CallFacts): ToolResult {
  Reflect.defineProperty(call, FACTS, { value: facts });
  const origin: unknown = Reflect.get(call, 'origin');
  for (const part of [call, origin] as object[]) Reflect.set(part, 'facts', facts); // whatever it can reach
  Reflect.set(call, 'origin', { ...(origin as object), facts }); // likewise
  return refusal('unavailable', true);
}

describe('a tool cannot say that it did not run', () => {
  it.each<[string, (call: ToolCall) => ToolResult]>([
    ['by the code', () => refusal('unavailable', true)],
    ['by more members of its error', () => ({ ...refusal('unavailable'), isUnsent: true, begun: false }) as never], // plain JavaScript adds what it likes
    [
      'by what it finds on the call',
      (call) => {
        for (const part of [call, ...Object.values(call)] as object[]) // whatever it can reach
          for (const key of Reflect.ownKeys(part ?? {})) {
            const value: unknown = Reflect.get(part, key);
            if (typeof value === 'object' && value !== null) Reflect.set(value, 'begun', 0);
          }
        return refusal('unavailable', true);
      },
    ],
    ['by new facts in the place of the first', (call) => replaceFacts(call, newFacts(0))],
    ['by copied facts in the place of the first', (call) => replaceFacts(call, { ...call[FACTS] } as CallFacts)], // without its count
  ])('%s', async (_, answer) => {
    let runs = 0;
    const { office, id, stateOf } = await approvedIn((call) => {
      runs++;
      return answer(call);
    });
    await office.pay(3, { approvalId: id });
    expect(await stateOf()).toBe('done');
    await office.pay(3, { approvalId: id });
    expect(runs).toBe(1);
  });
});

it('whatever gates and tools answer, an executor never runs twice for one approval', async () => {
  const code = fc.constantFrom(...TOOL_ERROR_CODES);
  const answer = fc.record({ code, isRetryable: fc.boolean(), isThrown: fc.boolean() });
  const attempt = fc.record({
    gate: fc.option(answer, { nil: undefined }),
    tool: fc.option(answer, { nil: undefined }),
    times: fc.constantFrom(1, 3),
    isNamed: fc.boolean(),
    retries: fc.constantFrom(0, 2),
    isRepeated: fc.boolean(),
  });
  const effects = fc.constantFrom<Effects>({}, { destructive: true }, { idempotent: true }, { readOnly: true });
  type Answer = { readonly code: ToolErrorCode; readonly isRetryable: boolean; readonly isThrown: boolean };
  const say = ({ code, isRetryable, isThrown }: Answer): ToolResult => {
    if (isThrown) throw new Error(code);
    return refusal(code, isRetryable);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(attempt, { minLength: 1, maxLength: 6 }), effects, async (attempts, effects) => {
      const { state, extension } = barrier();
      let entries = 0;
      let tool: Answer | undefined;
      let isRepeated = false;
      const twice: Extension = {
        name: 'twice',
        priority: 390,
        wrap: async (call, next) => {
          const [first] = await Promise.all([next(call), ...(isRepeated ? [next(call)] : [])]);
          return isRepeated ? next(call) : first;
        },
      };
      const { office, id } = await approvedIn(
        async () => {
          entries++;
          return tool === undefined ? done('paid') : say(tool);
        },
        { extensions: [extension, twice], tool: { effects, policy: { approval: 'always' } } },
      );
      for (const one of attempts) {
        isRepeated = one.isRepeated;
        const { gate, times, isNamed, retries } = one;
        state.answer = gate === undefined ? undefined : () => say(gate);
        tool = one.tool;
        const options = { retries, ...(isNamed && { approvalId: id }) };
        await Promise.all(Array.from({ length: times }, () => office.pay(3, options)));
      }
      expect(entries).toBeLessThanOrEqual(1);
      const isUsed = (await office.crib.approvals.get(id))?.state === 'done';
      expect(isUsed).toBe(entries === 1);
      await office.crib.close();
    }),
    { numRuns: 60 },
  );
}, 60_000);

describe('idempotency keys: a call that did not begin releases its key, a call that began keeps it', () => {
  it.each(TOOL_ERROR_CODES)('%s', async (code) => {
    const { state, extension } = barrier();
    let runs = 0;
    const pay: Executor['execute'] = () => {
      runs++;
      return refusal(code, true);
    };
    const { office } = await approvedIn(pay, { extensions: [extension] });
    const as = { id: 'bob', approve: () => true };
    const call = () => office.pay(5, { as, idempotencyKey: 'order', retries: 0 });
    state.answer = () => refusal(code);
    expect(await call()).toMatchObject({ error: { code } });
    state.answer = undefined;
    expect(await call()).toMatchObject({ error: { code } });
    expect(await call()).toMatchObject({ error: { code } });
    expect(runs).toBe(1);
  });
});
