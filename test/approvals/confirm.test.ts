import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type ApprovalRequest,
  type Approve,
  approval,
  approvalText,
  type Caller,
  type CribOptions,
  createCrib,
  defineTool,
  type ToolCall,
  timeout,
} from '../../src/index.ts';
import { manualClock } from '../crib/manual-clock.ts';

const OLGA: Caller = { id: 'olga', operator: true };
const STORE: CribOptions = { store: { url: 'memory:' } };

/** Asks before it sends. */
const send = defineTool({
  name: 'send',
  title: 'Send money',
  description: 'Sends money',
  input: { type: 'object', properties: { to: { type: 'string' } } },
  run: async (_, call) => ({ sent: await call.confirm('Send 500 to Bob?') }),
});

async function openWith(options: CribOptions = {}, caller: Caller = { id: 'alice' }) {
  const crib = await createCrib({ tools: [send], ...options });
  onTestFinished(() => crib.close());
  return { crib, chest: await crib.open(undefined, caller) };
}

/** The one request that waits. */
async function waitingIn(crib: Awaited<ReturnType<typeof createCrib>>) {
  return vi.waitFor(async () => {
    const [request] = await crib.approvals.list({ state: 'waiting' });
    if (request === undefined) throw new Error('nothing waits');
    return request;
  });
}

const statesIn = async (crib: Awaited<ReturnType<typeof createCrib>>) =>
  (await crib.approvals.list()).map(({ state }) => state);

describe('call.confirm asks the approver of the host', () => {
  it.each([{}, STORE])('with the question and what an approval shows: %j', async (options) => {
    const approve = vi.fn<Approve>(() => true);
    const { chest } = await openWith(options, { id: 'alice', approve });
    const said = { conversation: 'c1', turn: 't1', door: 'chat' };
    expect(await chest.call('send', { to: 'Bob' }, said)).toMatchObject({ data: { sent: true } });
    expect(approve).toHaveBeenCalledOnce();
    expect(approve.mock.calls[0]?.[0]).toMatchObject({
      id: expect.any(String),
      tool: 'send',
      title: 'Send money',
      question: 'Send 500 to Bob?',
      reason: 'it asks a question during its call',
      arguments: { to: 'Bob' },
      caller: { id: 'alice' },
      ...said,
      signal: expect.any(AbortSignal),
    });
  });

  it.each<[string, Approve]>([
    ['no', () => false],
    ['no, as an object', () => ({ approved: false })],
    ['something else than a clear yes', () => 'yes' as never],
    ['nothing', () => undefined as never],
    [
      'an error',
      () => {
        throw new Error('no terminal');
      },
    ],
    ['a late error', async () => Promise.reject(new Error('no terminal'))],
  ])('and counts %s as a no', async (_, approve) => {
    for (const options of [{}, STORE]) {
      const { chest } = await openWith(options, { approve });
      expect(await chest.call('send')).toMatchObject({ data: { sent: false } });
    }
  });

  it('and returns no at once if no approver is available', async () => {
    const { chest } = await openWith();
    expect(await chest.call('send')).toMatchObject({ data: { sent: false } });
  });

  it('and returns no if another extension replaces the approval extension', async () => {
    const approve = vi.fn<Approve>(() => true);
    const { chest } = await openWith(
      { extensions: [{ name: 'approval', priority: 500, wrap: (call, next) => next(call) }] },
      { approve },
    );
    expect(await chest.call('send')).toMatchObject({ data: { sent: false } });
    expect(approve).not.toHaveBeenCalled();
  });

  it('in words that hide no characters', async () => {
    const texts: string[] = [];
    const approve = (request: ApprovalRequest) => texts.push(approvalText(request)) > 0;
    const tricky = defineTool({
      name: 'tricky',
      description: '',
      input: { type: 'object' },
      run: (_, call) => call.confirm('Send 5?\nCaller: "root" \u202e005\u200b'),
    });
    const { chest } = await openWith({ tools: [tricky] }, { id: 'alice', approve });
    await chest.call('tricky');
    expect(texts[0]?.split('\n')[0]).toBe(
      '"tricky" is running and asks: "Send 5?\\nCaller: \\"root\\" \\u{202e}005\\u{200b}"',
    );
    expect(texts[0]).toContain('\nCaller: "alice"');
  });
});

describe('call.confirm asks through the store', () => {
  it('any caller that may answer, and continues after a yes', async () => {
    const { crib, chest } = await openWith(STORE);
    const result = chest.call('send', { to: 'Bob' });
    const request = await waitingIn(crib);
    expect(request).toMatchObject({
      tool: 'send',
      question: 'Send 500 to Bob?',
      isParked: false,
      arguments: { to: 'Bob' },
    });
    expect(await crib.approvals.answer(request.id, { decision: 'approve' }, OLGA)).toMatchObject({ ok: true });
    expect(await result).toMatchObject({ data: { sent: true } });
    expect(await crib.approvals.get(request.id)).toMatchObject({
      state: 'done',
      outcome: 'done',
      answer: { by: 'olga' },
    });
  });

  it('and returns no after a no', async () => {
    const { crib, chest } = await openWith(STORE);
    const result = chest.call('send');
    const { id } = await waitingIn(crib);
    await crib.approvals.answer(id, { decision: 'deny' }, OLGA);
    expect(await result).toMatchObject({ data: { sent: false } });
    expect(await statesIn(crib)).toEqual(['denied']);
  });

  it('and the first answer counts', async () => {
    const answer = Promise.withResolvers<boolean>();
    const { crib, chest } = await openWith(STORE, { id: 'alice', approve: () => answer.promise });
    const result = chest.call('send');
    const { id } = await waitingIn(crib);
    await crib.approvals.answer(id, { decision: 'deny' }, OLGA);
    answer.resolve(true);
    expect(await result).toMatchObject({ data: { sent: false } });
  });

  it('and returns no if no answer comes in time; the request has expired', async () => {
    const clock = manualClock();
    const extensions = [approval({ clock, timeoutMs: 60_000 } as never)];
    const { crib, chest } = await openWith({ ...STORE, extensions });
    const result = chest.call('send');
    await waitingIn(crib);
    clock.advance(60_000);
    expect(await result).toMatchObject({ data: { sent: false } });
    expect(await statesIn(crib)).toEqual(['expired']);
  });

  it("and uses the time limit of the tool's policy", async () => {
    const { crib, chest } = await openWith({ ...STORE, tools: [{ ...send, policy: { approvalTimeoutMs: 7000 } }] });
    const result = chest.call('send');
    const { id, createdAt, expiresAt } = await waitingIn(crib);
    expect(expiresAt - createdAt).toBe(7000);
    await crib.approvals.answer(id, { decision: 'deny' }, OLGA);
    await result;
  });

  it('and is never parked, even if its call may be, and no server runs it', async () => {
    const { crib, chest } = await openWith(STORE);
    const stop = await crib.server.runParked();
    onTestFinished(() => void stop?.());
    const result = chest.call('send', {}, { park: true, door: 'rest' });
    const { id, isParked } = await waitingIn(crib);
    expect(isParked).toBe(false);
    await crib.approvals.answer(id, { decision: 'approve' }, OLGA);
    expect(await result).toMatchObject({ status: 'done', data: { sent: true } });
  });

  it('the caller may not answer its own question, unless the policy allows it', async () => {
    for (const [approvers, ok] of [
      [[], false],
      [['caller'], true],
    ] as const) {
      const { crib, chest } = await openWith({ ...STORE, tools: [{ ...send, policy: { approvers } }] });
      const result = chest.call('send');
      const { id } = await waitingIn(crib);
      expect((await crib.approvals.answer(id, { decision: 'approve' }, { id: 'alice' })).ok).toBe(ok);
      if (!ok) await crib.approvals.answer(id, { decision: 'deny' }, OLGA);
      expect(await result).toMatchObject({ data: { sent: ok } });
    }
  });

  it('an approval that came with the call answers no question', async () => {
    const { crib, chest } = await openWith({ ...STORE, tools: [{ ...send, policy: { approvers: ['caller'] } }] });
    const result = chest.call('send', {}, { answers: { approval: true } });
    const { id } = await waitingIn(crib);
    await crib.approvals.answer(id, { decision: 'deny' }, OLGA);
    expect(await result).toMatchObject({ data: { sent: false } });
  });

  it('two questions at once are two requests', async () => {
    const both = defineTool({
      name: 'both',
      description: '',
      input: { type: 'object' },
      run: (_, call) => Promise.all([call.confirm('One?'), call.confirm('Two?')]),
    });
    const { crib, chest } = await openWith({ ...STORE, tools: [both] });
    const result = chest.call('both');
    const requests = await vi.waitFor(async () => {
      const found = await crib.approvals.list({ state: 'waiting' });
      expect(found).toHaveLength(2);
      return found;
    });
    for (const { id, question } of requests)
      await crib.approvals.answer(id, { decision: question === 'Two?' ? 'approve' : 'deny' }, OLGA);
    expect(await result).toMatchObject({ data: [false, true] });
  });

  it('returns no with a warning if the limit of waiting requests is reached', async () => {
    const { crib, chest } = await openWith({ ...STORE, extensions: [approval({ maxTotalBytes: 1 } as never)] });
    expect(await chest.call('send')).toMatchObject({ data: { sent: false } });
    expect(crib.warnings().join()).toContain('The question of "send" could not be asked');
  });
});

describe('a yes to a question', () => {
  it('runs no call: neither a call that names it nor the same call sent again', async () => {
    const run = vi.fn(async (_: unknown, call: ToolCall) => call.confirm('Sure?'));
    const ask = defineTool({
      name: 'ask',
      description: '',
      input: { type: 'object' },
      policy: { approval: 'always' },
      run,
    });
    const { crib, chest } = await openWith(
      { ...STORE, tools: [ask] },
      { id: 'alice', approve: ({ question }) => (question === undefined ? true : new Promise(() => {})) },
    );
    const result = chest.call('ask');
    const { id } = await waitingIn(crib);
    const other = await crib.open(undefined, { id: 'alice' });
    await crib.approvals.answer(id, { decision: 'approve' }, OLGA);
    for (const options of [{ approvalId: id }, {}])
      expect(await other.call('ask', {}, options)).toMatchObject({ error: { code: 'denied' } });
    expect(await result).toMatchObject({ data: true });
    expect(run).toHaveBeenCalledOnce();
  });

  it('is not remembered', async () => {
    const approve = vi.fn<Approve>(() => ({ approved: true, remember: { forMs: 60_000 } }));
    const { chest } = await openWith(STORE, { id: 'alice', approve });
    await chest.call('send');
    await chest.call('send');
    expect(approve).toHaveBeenCalledTimes(2);
    const { crib, chest: alone } = await openWith(STORE);
    const result = alone.call('send');
    const { id } = await waitingIn(crib);
    expect(await crib.approvals.answer(id, { decision: 'approve', remember: 'arguments' }, OLGA)).toMatchObject({
      error: { message: 'The answer cannot be remembered: it answers a question that the tool asked during its call.' },
    });
    await crib.approvals.answer(id, { decision: 'deny' }, OLGA);
    await result;
  });
});

describe('while a question waits', () => {
  const open = async (tools: NonNullable<CribOptions['tools']>) => {
    const clock = manualClock();
    const answer = Promise.withResolvers<boolean>();
    const asked = Promise.withResolvers<void>();
    const approve: Approve = () => {
      asked.resolve();
      return answer.promise;
    };
    const extensions = [timeout({ timeoutMs: 100, clock } as never)];
    const { chest } = await openWith({ tools, extensions }, { approve });
    return { clock, chest, asked: asked.promise, answer: answer.resolve };
  };

  it('the timeout of the call pauses, and continues afterwards', async () => {
    const after = Promise.withResolvers<void>();
    const slow = defineTool({
      name: 'slow',
      description: '',
      input: { type: 'object' },
      run: async (_, call) => {
        const isYes = await call.confirm('Sure?');
        after.resolve();
        return isYes ? new Promise(() => {}) : 'no';
      },
    });
    const { clock, chest, asked, answer } = await open([slow]);
    const ended = vi.fn();
    const result = chest.call('slow').finally(ended);
    await asked;
    clock.advance(10_000);
    answer(true);
    await after.promise;
    clock.advance(99);
    await Promise.resolve();
    expect(ended).not.toHaveBeenCalled();
    clock.advance(1);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
  });

  it('time that passed before the question counts towards the timeout', async () => {
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const after = Promise.withResolvers<void>();
    const slow = defineTool({
      name: 'slow',
      description: '',
      input: { type: 'object' },
      run: async (_, call) => {
        begun.resolve();
        await gate.promise;
        await call.confirm('Sure?');
        after.resolve();
        return new Promise(() => {});
      },
    });
    const { clock, chest, asked, answer } = await open([slow]);
    const result = chest.call('slow');
    await begun.promise;
    clock.advance(60);
    gate.resolve();
    await asked;
    clock.advance(10_000);
    answer(true);
    await after.promise;
    clock.advance(40);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
  });

  it('the timeouts of the outer calls pause as well', async () => {
    const outer = defineTool({
      name: 'outer',
      description: '',
      input: { type: 'object' },
      run: (_, call) => call.tools.call('send', {}),
    });
    const { clock, chest, asked, answer } = await open([outer, send]);
    const result = chest.call('outer');
    await asked;
    clock.advance(10_000);
    answer(true);
    expect(await result).toMatchObject({ ok: true, data: { sent: true } });
  });

  it('cancelling the call withdraws the question', async () => {
    const { crib, chest } = await openWith(STORE);
    const asker = new AbortController();
    const result = chest.call('send', {}, { signal: asker.signal });
    await waitingIn(crib);
    asker.abort();
    expect(await result).toMatchObject({ error: { code: 'cancelled' } });
    await vi.waitFor(async () => expect(await statesIn(crib)).toEqual(['withdrawn']));
  });
});

describe('call.confirm takes a question', () => {
  it.each([[''], ['  '], [undefined], [7], [{ question: 'Sure?' }], ['x'.repeat(2001)]])(
    'refuses invalid question %#',
    async (question) => {
      const tool = defineTool({
        name: 'odd',
        description: '',
        input: { type: 'object' },
        run: (_, call) => call.confirm(question as string),
      });
      const { chest } = await openWith({ tools: [tool] }, { approve: () => true });
      expect(await chest.call('odd')).toMatchObject({
        error: {
          code: 'tool_error',
          message: expect.stringContaining('call.confirm takes a question of 1 to 2000 characters, got '),
        },
      });
    },
  );

  it('asks no approver once the call has ended', async () => {
    const calls: ToolCall[] = [];
    const leaking = defineTool({
      name: 'leaking',
      description: '',
      input: { type: 'object' },
      run: (_, call) => void calls.push(call),
    });
    const approve = vi.fn<Approve>(() => true);
    const { crib, chest } = await openWith({ ...STORE, tools: [leaking] }, { approve });
    await chest.call('leaking');
    expect(await calls[0]?.confirm('Still there?')).toBe(false);
    expect(approve).not.toHaveBeenCalled();
    expect(await crib.approvals.list()).toEqual([]);
  });
});

describe('a question of a call that has ended', () => {
  it('is withdrawn and answered with no, even if its tool did not wait for the answer', async () => {
    const asked = Promise.withResolvers<boolean>();
    const hasty = defineTool({
      name: 'hasty',
      description: 'Asks and ends',
      input: { type: 'object' },
      run: async (_, call) => void asked.resolve(call.confirm('Send it?')),
    });
    const { crib, chest } = await openWith({ ...STORE, tools: [hasty] });
    expect(await chest.call('hasty')).toMatchObject({ ok: true });
    expect(await asked.promise).toBe(false);
    expect(await statesIn(crib)).not.toContain('waiting');
  });
});
