import { beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  type Approve,
  type Caller,
  type CribOptions,
  createCrib,
  defineExtension,
  defineTool,
  type Effects,
  failed,
  retry,
  type ToolCall,
  type ToolInput,
  toolError,
} from '../../src/index.ts';

const run = vi.fn((input: unknown): unknown => input);
const pay: ToolInput = {
  name: 'pay',
  title: 'Pay a bill',
  description: 'Pays',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  policy: { approval: 'always' },
  run,
};

async function openFor(caller: Caller, options: CribOptions = {}) {
  return (await createCrib({ tools: [pay], ...options })).open(undefined, caller);
}

beforeEach(() => {
  run.mockClear();
});

describe('approval: exactly one request', () => {
  it('carrying tool, arguments, caller and reason', async () => {
    const approve = vi.fn<Approve>(() => true);
    const chest = await openFor({ id: 'alice', roles: ['dev'], approve }, { profiles: { desk: {} } });
    await chest.call('pay', { amount: 3 }, { id: 'call-1' });
    expect(approve.mock.calls).toEqual([
      [
        {
          id: 'call-1',
          tool: 'pay',
          title: 'Pay a bill',
          description: 'Pays',
          arguments: { amount: 3 },
          caller: { id: 'alice', roles: ['dev'] },
          profile: 'desk',
          reason: 'its policy requires approval for every call',
          door: 'library',
          expiresAt: expect.any(Number),
          signal: expect.any(AbortSignal),
        },
      ],
    ]);
  });

  it.each<Effects>([{}, { idempotent: true }, { readOnly: true }])(
    'and one run, also of a tool with %j that fails temporarily',
    async (effects) => {
      const approve = vi.fn<Approve>(() => true);
      const flaky = vi.fn(() => failed(toolError('unavailable', 'busy', { retryable: true })));
      const chest = await openFor(
        { approve },
        {
          tools: [{ ...pay, effects, policy: { approval: 'always', retries: 2 }, run: flaky } as ToolInput], // the same tool with another function
          extensions: [retry({ firstDelayMs: 0 })],
        },
      );
      await chest.call('pay', { amount: 3 });
      expect([flaky.mock.calls.length, approve.mock.calls.length]).toEqual([1, 1]);
    },
  );

  it('about valid arguments: invalid ones are refused without a request', async () => {
    const approve = vi.fn<Approve>(() => true);
    const chest = await openFor({ approve });
    expect(await chest.call('pay', { amount: 'much' })).toMatchObject({ error: { code: 'invalid_input' } });
    expect(approve).not.toHaveBeenCalled();
  });

  it('that does not reveal the approver to the approver', async () => {
    const approve = vi.fn<Approve>(() => true);
    await (await openFor({ id: 'a', permissions: ['p'], approve })).call('pay', { amount: 3 });
    expect(approve.mock.calls[0]?.[0].caller).toEqual({ id: 'a' });
  });

  it('whose arguments the approver cannot change', async () => {
    const approve: Approve = (request) => {
      Object.assign(request.arguments, { amount: 1000 });
      return true;
    };
    const chest = await openFor({ approve });
    expect(await chest.call('pay', { amount: 3 })).toMatchObject({ ok: false, error: { code: 'denied' } });
    expect(run).not.toHaveBeenCalled();
  });
});

describe('approval: an answer', () => {
  it.each<[string, Approve]>([
    ['true', () => true],
    ['a promise of true', async () => true],
    ['{ approved: true }', () => ({ approved: true })],
  ])('%s: runs', async (_, approve) => {
    expect(await (await openFor({ approve })).call('pay', { amount: 3 })).toMatchObject({
      ok: true,
      data: { amount: 3 },
    });
  });

  it.each<[string, unknown]>([
    ['false', false],
    ['{ approved: false }', { approved: false }],
    ["'yes'", 'yes'],
    ['1', 1],
    ['undefined', undefined],
    ['null', null],
    ['{}', {}],
    ["{ approved: 'true' }", { approved: 'true' }],
    ['[true]', [true]],
    ['a function', () => true],
  ])('%s: denied, not run', async (_, answer) => {
    const chest = await openFor({ approve: () => answer as never }); // callers in plain JavaScript answer anything
    expect(await chest.call('pay', { amount: 3 })).toMatchObject({
      ok: false,
      error: { code: 'denied', retryable: false },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it.each<[string, Approve]>([
    [
      'throws',
      () => {
        throw new Error('no terminal');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no terminal'))],
    [
      'throws nothing in particular',
      () => {
        throw undefined;
      },
    ],
  ])('that %s: denied, not run', async (_, approve) => {
    expect(await (await openFor({ approve })).call('pay', { amount: 3 })).toMatchObject({ error: { code: 'denied' } });
    expect(run).not.toHaveBeenCalled();
  });

  it('denied with a note: the note reaches the caller', async () => {
    const chest = await openFor({ approve: () => ({ approved: false, note: 'ask me tomorrow' }) });
    expect(await chest.call('pay', { amount: 3 })).toMatchObject({
      error: { message: expect.stringContaining('ask me tomorrow') },
    });
  });

  it('without an approver: denied, with that reason', async () => {
    const result = await (await openFor({})).call('pay', { amount: 3 });
    expect(result).toMatchObject({
      error: {
        code: 'denied',
        message: expect.stringMatching(/requires approval for every call.*no approver is available/),
      },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('that a failure follows: the failure after approval is the failure of the tool', async () => {
    run.mockImplementationOnce(() => {
      throw new Error('no money');
    });
    const chest = await openFor({ approve: () => true });
    expect(await chest.call('pay', { amount: 3 })).toMatchObject({
      error: { code: 'tool_error', message: 'no money' },
    });
  });

  it('counts for one call only: the same call again needs a new approval', async () => {
    const answers = [true, false];
    const approve: Approve = () => answers.shift() === true;
    const chest = await openFor({ approve });
    expect(await chest.call('pay', { amount: 3 })).toMatchObject({ ok: true });
    expect(await chest.call('pay', { amount: 3 })).toMatchObject({ error: { code: 'denied' } });
  });
});

describe('an approver approves exactly what was shown', () => {
  it('a definition that changes while the approver decides does not run', async () => {
    const answer = Promise.withResolvers<boolean>();
    const crib = await createCrib({ tools: [pay] });
    const chest = await crib.open(undefined, { approve: () => answer.promise });
    const result = chest.call('pay', { amount: 3 });
    crib.unregister('pay');
    const other = vi.fn();
    crib.catalog.get('pay');
    crib.register({ ...pay, run: other } as ToolInput); // the same tool with another function
    answer.resolve(true);
    expect(await result).toMatchObject({ ok: true, data: { amount: 3 } });
    expect(other).not.toHaveBeenCalled();
  });

  it('gates between approval and tool cannot change the arguments', async () => {
    const before = (call: ToolCall) => void Object.assign(call.input, { amount: 1000 });
    const chest = await openFor({ approve: () => true }, { extensions: [defineExtension({ name: 'greedy', before })] });
    expect(await chest.call('pay', { amount: 3 })).toMatchObject({ ok: false, error: { code: 'internal' } });
    expect(run).not.toHaveBeenCalled();
  });

  it("gates between approval and tool cannot change what an author's schema made of the arguments", async () => {
    const schema = z.object({ amount: z.number(), on: z.string().transform((text) => new Date(text)) });
    const dated = defineTool({ name: 'pay', description: '', input: schema, policy: { approval: 'always' }, run });
    const before = (call: ToolCall) =>
      void Object.assign((call as ToolCall & { parsed?: object }).parsed ?? {}, { amount: 1000 });
    const extensions = [defineExtension({ name: 'greedy', before })];
    const chest = await openFor({ approve: () => true }, { tools: [dated], extensions });
    await chest.call('pay', { amount: 3, on: '2030-01-01' });
    expect(run).not.toHaveBeenCalledWith(expect.objectContaining({ amount: 1000 }), expect.anything());
  });
});

describe('approval holds inside calls', () => {
  const outer: ToolInput = {
    name: 'outer',
    description: 'pays twice',
    run: async (_: unknown, call: ToolCall) => {
      await call.tools.call('pay', { amount: 1 });
      return call.tools.call('pay', { amount: 2 });
    },
  };

  it('nested calls require approval as well, once each', async () => {
    const approve = vi.fn<Approve>(() => true);
    await (await openFor({ approve }, { tools: [pay, outer] })).call('outer');
    expect(approve.mock.calls.map(([request]) => request.arguments)).toEqual([{ amount: 1 }, { amount: 2 }]);
  });

  it('nested calls that are denied do not run', async () => {
    const chest = await openFor({ approve: () => false }, { tools: [pay, outer] });
    expect(await chest.call('outer')).toMatchObject({ error: { code: 'denied' } });
    expect(run).not.toHaveBeenCalled();
  });

  it('an approval of the outer call does not apply to the inner one', async () => {
    const approve: Approve = (request) => request.tool === 'outer';
    const asking: ToolInput = { ...outer, policy: { approval: 'always' } } as ToolInput;
    const chest = await openFor({ approve }, { tools: [pay, asking] });
    expect(await chest.call('outer')).toMatchObject({ error: { code: 'denied' } });
    expect(run).not.toHaveBeenCalled();
  });
});
