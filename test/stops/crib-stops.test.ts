import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type AuditRow,
  breaker,
  type Caller,
  type Crib,
  type CribOptions,
  concurrency,
  createCrib,
  defineTool,
  type Extension,
  failed,
  rateLimit,
  type StopOutcome,
  toolError,
} from '../../src/index.ts';
import { idOf, OPERATOR, openOffice } from '../approvals/payments.ts';

const ANN: Caller = { id: 'ann' };

/** A crib of two tools: one adds, one waits until it is let go. */
async function openCrib(options: Partial<CribOptions> = {}) {
  const begun: string[] = [];
  const waiters: (() => void)[] = [];
  const wait = (name: string, effects = {}) =>
    defineTool({
      name,
      description: 'Waits',
      input: {},
      effects,
      run: () => {
        begun.push(name);
        return new Promise<string>((resolve) => waiters.push(() => resolve('done')));
      },
    });
  const add = defineTool({ name: 'add', description: 'Adds', input: {}, run: () => 3 });
  const outer = defineTool({
    name: 'outer',
    description: 'Calls add',
    input: {},
    run: (_: unknown, call) => call.tools.call('add', {}),
  });
  const tools = [add, outer, wait('wait'), wait('look', { readOnly: true })];
  const crib = await createCrib({ tools, ...options });
  onTestFinished(() => crib.close());
  onTestFinished(() => waiters.forEach((letGo) => void letGo()));
  return { crib, begun };
}

const call = async (crib: Crib, tool: string, caller: Caller = ANN, profile?: string) =>
  (await crib.open(profile, caller)).call(tool, {});

const stop = (crib: Crib, target: string, options = {}): Promise<StopOutcome> =>
  crib.stops.stop(target, options, OPERATOR);

describe('a stop', () => {
  it('refuses the calls of a tool as unavailable, with note, time and how to resume, until it is resumed', async () => {
    const { crib } = await openCrib();
    expect(await call(crib, 'add')).toMatchObject({ ok: true });
    const made = await stop(crib, 'tool:add', { note: 'it adds wrongly' });
    expect(made).toEqual({
      ok: true,
      result: 'stopped',
      stop: { target: 'tool:add', note: 'it adds wrongly', by: 'olga', at: expect.any(Number) },
      ended: 0,
    });
    const since = made.ok ? new Date(made.stop.at).toISOString() : '';
    expect(await call(crib, 'add')).toMatchObject({
      error: {
        code: 'unavailable',
        retryable: false,
        message: `"add" was not run: stopped by the operator (tool:add, since ${since}: it adds wrongly). It can be called again after the operator has resumed it with "toolcrib resume tool:add".`,
      },
    });
    expect(await call(crib, 'outer')).toMatchObject({ ok: false, error: { code: 'unavailable' } });
    expect(await crib.stops.list()).toMatchObject([{ target: 'tool:add' }]);
    expect(await crib.stops.resume('tool:add', {}, OPERATOR)).toMatchObject({ ok: true, result: 'resumed' });
    expect(await call(crib, 'add')).toMatchObject({ ok: true });
    expect(await crib.stops.list()).toEqual([]);
  });

  it.each([
    ['all', { ann: false, bob: false, other: false }],
    ['source:code', { ann: false, bob: false, other: false }],
    ['caller:ann', { ann: false, bob: true, other: false }],
    ['profile:one', { ann: false, bob: false, other: true }],
  ])('of %s refuses these calls and no others', async (target, expected) => {
    const { crib } = await openCrib({ profiles: { one: {}, two: {} }, defaultProfile: 'one' });
    await stop(crib, target);
    const isDone = async (caller: Caller, profile?: string) => (await call(crib, 'add', caller, profile)).ok;
    expect({ ann: await isDone(ANN), bob: await isDone({ id: 'bob' }), other: await isDone(ANN, 'two') }).toEqual(
      expected,
    );
  });

  it('names all stops that cover a call', async () => {
    const { crib } = await openCrib();
    await stop(crib, 'tool:add');
    await stop(crib, 'all');
    const result = await call(crib, 'add');
    expect(result).toMatchObject({
      error: { message: expect.stringContaining('"toolcrib resume all" and "toolcrib resume tool:add"') },
    });
  });

  it('of a tool that a caller may not see does not tell that it exists', async () => {
    const { crib } = await openCrib({ profiles: { one: { exclude: ['add'] } }, defaultProfile: 'one' });
    await stop(crib, 'tool:add');
    expect(await call(crib, 'add')).toMatchObject({ error: { code: 'unknown_tool' } });
    await stop(crib, 'all');
    expect(await call(crib, 'add')).toMatchObject({ error: { code: 'unavailable' } });
    expect(await call(crib, 'no_such')).toMatchObject({ error: { code: 'unavailable' } });
  });

  it('lets a stopped call use up nothing of a rate', async () => {
    const { crib } = await openCrib({
      extensions: [rateLimit({ rates: [{ scope: 'caller', amount: 1, perMs: 60_000 }] })],
    });
    await stop(crib, 'all');
    for (let count = 0; count < 5; count++)
      expect(await call(crib, 'add')).toMatchObject({ error: { code: 'unavailable' } });
    await crib.stops.resume('all', {}, OPERATOR);
    expect(await call(crib, 'add')).toMatchObject({ ok: true });
    expect(await call(crib, 'add')).toMatchObject({ error: { code: 'rate_limited' } });
  });

  it('that cannot be read refuses every call: it is not known what is stopped', async () => {
    const { crib } = await openCrib({ store: 'postgres://toolcrib@127.0.0.1:1/none' });
    const message = expect.stringContaining('The emergency stops cannot be read');
    expect(await call(crib, 'add')).toMatchObject({ error: { code: 'unavailable', retryable: true, message } });
    expect(await stop(crib, 'all')).toMatchObject({ ok: false, error: { code: 'unavailable' } });
  });

  it('is explained', async () => {
    const { crib } = await openCrib();
    expect(crib.explain(ANN, undefined, 'add')).not.toHaveProperty('stops');
    await stop(crib, 'tool:add', { note: 'wrong' });
    await stop(crib, 'caller:bob');
    expect(crib.explain(ANN, undefined, 'add').stops).toEqual([
      expect.stringMatching(/^calls are refused, stopped by the operator \(tool:add, since .*: wrong\); to end it: /),
    ]);
    expect(crib.explain({ id: 'bob' }, undefined, 'add').stops).toHaveLength(2);
    expect(crib.explain(ANN, undefined, 'outer')).not.toHaveProperty('stops');
  });
});

describe('calls in flight', () => {
  it('go on, unless the stop cancels them; the outcome of what may not be repeated is unknown', async () => {
    const { crib, begun } = await openCrib();
    const calls = [call(crib, 'wait'), call(crib, 'look')];
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    expect(await stop(crib, 'all')).toMatchObject({ result: 'stopped', ended: 0 });
    const again = { note: 'the note of the first stop is kept', cancel: true };
    expect(await stop(crib, 'all', again)).toMatchObject({ result: 'already', ended: 2 });
    const [waiting, looking] = await Promise.all(calls);
    expect(waiting).toMatchObject({ error: { code: 'unknown_outcome', message: expect.stringContaining('(all, ') } });
    expect(looking).toMatchObject({ error: { code: 'cancelled' } });
    expect((await crib.stops.list())[0]).not.toHaveProperty('note');
  });

  it('of other tools, callers and profiles are not cancelled', async () => {
    const { crib, begun } = await openCrib();
    const calls = [call(crib, 'wait'), call(crib, 'wait', { id: 'bob' })];
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    expect(await stop(crib, 'tool:look', { cancel: true })).toMatchObject({ ended: 0 });
    expect(await stop(crib, 'caller:bob', { cancel: true })).toMatchObject({ ended: 1 });
    expect(await calls[1]).toMatchObject({ error: { code: 'unknown_outcome' } });
    expect(await Promise.race([calls[0], Promise.resolve('runs')])).toBe('runs');
  });

  it('that have not begun are refused at once, and their request for approval is withdrawn', async () => {
    const office = await openOffice();
    const paying = office.pay(3, { park: false, as: { id: 'alice', approve: () => new Promise(() => {}) } });
    await vi.waitFor(async () => expect(await office.waiting()).toHaveLength(1));
    expect(await stop(office.crib, 'tool:pay')).toMatchObject({ ended: 1 });
    expect(await paying).toMatchObject({ error: { code: 'unavailable' } });
    await vi.waitFor(async () => expect(await office.crib.approvals.list()).toMatchObject([{ state: 'withdrawn' }]));
    expect(office.paid).toEqual([]);
  });
});

it.each(['a retry', 'a gate'])('a tool that has begun does not begin again after a stop: by %s', async (by) => {
  const stopped = Promise.withResolvers<void>();
  const again: Extension = {
    name: 'again',
    priority: 400,
    async wrap(held, next) {
      await next(held);
      await stopped.promise;
      return next(held);
    },
  };
  let runs = 0;
  const busy = () => {
    runs++;
    return failed(toolError('upstream', 'busy', { retryable: true, retryAfterMs: 50 }));
  };
  const look = defineTool({ name: 'look', description: 'Looks', input: {}, effects: { readOnly: true }, run: busy });
  const isRetry = by === 'a retry';
  const crib = await createCrib({ tools: [look], extensions: isRetry ? [] : [again] });
  onTestFinished(() => crib.close());
  const looking = (await crib.open(undefined, ANN)).call('look', {}, { retries: isRetry ? 2 : 0 });
  await vi.waitFor(() => expect(runs).toBe(1));
  await stop(crib, 'tool:look');
  stopped.resolve();
  expect(await looking).toMatchObject({ error: { code: isRetry ? 'upstream' : 'cancelled' } });
  expect(runs).toBe(1);
});

it('calls that a stop ended while they waited for a slot do not count as failures of their source', async () => {
  const letGo = Promise.withResolvers<void>();
  const { crib, pay, paid } = await openOffice({
    tool: { effects: { readOnly: true } },
    work: () => letGo.promise,
    extensions: [concurrency({ slots: [{ scope: 'all', amount: 1 }] }), breaker({ failures: 2 })],
  });
  const calls = [1, 2, 3, 4].map((amount) => pay(amount));
  await vi.waitFor(() => expect(paid).toHaveLength(1));
  expect(await stop(crib, 'tool:pay')).toMatchObject({ ended: 3 });
  const refused = calls.map((call) => Promise.race([call, letGo.promise]));
  await vi.waitFor(async () => {
    const ended = await Promise.all(refused.map((end) => Promise.race([end, 'runs'])));
    expect(ended.filter((end) => end !== 'runs')).toHaveLength(3);
  });
  await crib.stops.resume('tool:pay', {}, OPERATOR);
  const next = pay(5);
  expect(await Promise.race([next, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits');
  letGo.resolve();
  expect(await next).toMatchObject({ ok: true });
});

describe('a yes is used by a run, and by no stopped call', () => {
  it('an approved call stays approved while it is stopped, and runs after it was resumed', async () => {
    const { crib, pay, answer, paid } = await openOffice();
    const id = idOf(await pay(3));
    await answer(id, 'approve');
    await stop(crib, 'tool:pay');
    for (const options of [{}, { approvalId: id }])
      expect(await pay(3, options)).toMatchObject({ error: { code: 'unavailable' } });
    expect(await crib.approvals.get(id)).toMatchObject({ state: 'approved' });
    await crib.stops.resume('tool:pay', {}, OPERATOR);
    expect(await pay(3)).toMatchObject({ ok: true });
    expect(paid).toHaveLength(1);
  });

  it('a call that is stopped between the yes and its run gives the yes back', async () => {
    const holding = Promise.withResolvers<void>();
    const hold: Extension = {
      name: 'hold',
      priority: 400,
      wrap: async (held, next) => {
        await holding.promise;
        return next(held);
      },
    };
    const { crib, pay, answer, paid } = await openOffice({ extensions: [hold] });
    const id = idOf(await pay(3));
    await answer(id, 'approve');
    const paying = pay(3);
    await vi.waitFor(async () => expect(await crib.approvals.get(id)).toMatchObject({ state: 'claimed' }));
    expect(await stop(crib, 'caller:alice')).toMatchObject({ ended: 1 });
    expect(await paying).toMatchObject({ error: { code: 'unavailable' } });
    holding.resolve();
    await vi.waitFor(async () => expect(await crib.approvals.get(id)).toMatchObject({ state: 'approved' }));
    expect(paid).toEqual([]);
  });

  it('the crib that runs approved calls leaves a stopped one, without a row for every attempt', async () => {
    const { crib, pay, answer, paid } = await openOffice();
    const id = idOf(await pay(3, { door: 'library' }));
    await stop(crib, 'caller:alice');
    await answer(id, 'approve');
    const { look } = crib.server.poll(async () => {});
    for (let count = 0; count < 3; count++) await look();
    expect(await crib.approvals.get(id)).toMatchObject({ state: 'approved' });
    expect(await crib.calls.list({ outcome: 'unavailable' })).toEqual([]);
    await crib.stops.resume('caller:alice', {}, OPERATOR);
    await vi.waitFor(() => expect(paid).toHaveLength(1), 8000);
  }, 15_000);
});

describe('who may stop, and what', () => {
  it('is refused for a caller that is not an operator', async () => {
    const { crib } = await openCrib();
    const refused = { ok: false, error: { code: 'denied', message: 'Only an operator may stop or resume calls.' } };
    expect(await crib.stops.stop('all', {}, ANN)).toMatchObject(refused);
    expect(await crib.stops.resume('all', {}, {})).toMatchObject(refused);
    expect(await crib.stops.list()).toEqual([]);
  });

  it.each([
    ['tool:ad', {}, 'Nothing was stopped: the tool "ad" was not found. Did you mean "add"? To stop a name'],
    ['source:cod', {}, 'the source "cod" was not found. Did you mean "code"?'],
    ['profile:nobody', {}, 'the profile "nobody" was not found.'],
    ['ad', {}, '"ad" cannot be stopped: use tool:NAME'],
    ['all', { note: 'x'.repeat(201) }, '"note" must be a text of at most 200 characters on one line'],
    ['all', { note: 'a\u001b[2Jb' }, 'without control characters'],
    ['all', { note: 7 }, '"note" must be a text'],
    ['all', { cancel: 'yes' }, '"cancel" must be true or false, got "yes".'],
    ['all', { cancle: true }, 'Did you mean "cancel"?'],
    [7, {}, '7 cannot be stopped'],
  ])('%j with %j stops nothing and says why', async (target, options, message) => {
    const { crib } = await openCrib();
    const outcome = await stop(crib, target as string, options);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
    expect(outcome.ok ? '' : outcome.error.message).toContain(message);
    expect(await crib.stops.list()).toEqual([]);
  });

  it('a name that is not listed can be stopped with force, and any caller without', async () => {
    const { crib } = await openCrib();
    expect(await stop(crib, 'tool:later', { force: true })).toMatchObject({ ok: true });
    expect(await stop(crib, 'caller:never seen')).toMatchObject({ ok: true });
    crib.register(defineTool({ name: 'later', description: 'Comes later', input: {}, run: () => 1 }));
    expect(await call(crib, 'later')).toMatchObject({ error: { code: 'unavailable' } });
  });

  it('of two that stop or resume at once one changes it; resuming what is not stopped is a conflict', async () => {
    const { crib } = await openCrib({ store: 'memory' });
    const stops = await Promise.all([stop(crib, 'all'), stop(crib, 'all')]);
    expect(stops.map((made) => made.ok && made.result).toSorted()).toEqual(['already', 'stopped']);
    const resumes = await Promise.all([1, 2].map(() => crib.stops.resume('all', {}, OPERATOR)));
    expect(resumes.map(({ ok }) => ok).toSorted()).toEqual([false, true]);
    await stop(crib, 'caller:bob');
    expect(await crib.stops.resume('all', {}, OPERATOR)).toMatchObject({
      error: { code: 'conflict', message: 'all is not stopped, so it cannot be resumed. Stopped are: caller:bob.' },
    });
  });

  it('is in the audit: who stopped and resumed what, and when; not among the calls', async () => {
    const { crib } = await openCrib({ store: 'memory' });
    await stop(crib, 'tool:add', { note: 'wrong', cancel: true });
    await stop(crib, 'tool:add');
    await crib.stops.resume('tool:add', { note: 'right again' }, { operator: true });
    const rows: AuditRow[] = [];
    for await (const row of crib.audit.export()) rows.push(row);
    expect(rows.filter(({ kind }) => kind === 'stop')).toMatchObject([
      { outcome: 'stopped', target: 'tool:add', note: 'wrong', caller: 'olga', cancels: true, door: 'library' },
      { outcome: 'resumed', target: 'tool:add', note: 'right again', caller: 'operator', operator: true },
    ]);
    expect(await crib.calls.list()).toEqual([]);
    expect(await crib.audit.verify()).toMatchObject({ ok: true });
  });

  it('a caller that keeps calling what is stopped does not fill the audit', async () => {
    const { crib } = await openCrib({ store: 'memory' });
    await stop(crib, 'all');
    for (let count = 0; count < 100; count++) await call(crib, 'add');
    expect(await crib.calls.list({ limit: 1000 })).toHaveLength(20);
  });
});
