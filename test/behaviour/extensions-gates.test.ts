import { describe, expect, it, vi } from 'vitest';
import {
  createCrib,
  defineExtension,
  done,
  type Extension,
  failed,
  type ToolCall,
  type ToolInput,
  toolError,
} from '../../src/index.ts';

const run = vi.fn(() => 'ran');
const tool: ToolInput = { name: 'tool', description: '', run };

async function through(...extensions: readonly Extension[]) {
  run.mockClear();
  const crib = await createCrib({ tools: [tool], extensions });
  return (await crib.open()).call('tool');
}

const gate = (wrap: NonNullable<Extension['wrap']>, more: Partial<Extension> = {}): Extension => ({
  name: 'gate',
  priority: 'normal',
  wrap,
  ...more,
});
const loose = (value: unknown) => value as never; // plain JavaScript returns anything

describe('a gate', () => {
  it('that does not call next refuses with its result, and the tool does not run', async () => {
    expect(await through(gate(() => failed(toolError('denied', 'closed on Sundays'))))).toMatchObject({
      error: { code: 'denied', message: 'closed on Sundays' },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('may answer instead of the tool', async () => {
    expect(await through(gate(() => done('cached')))).toMatchObject({ ok: true, content: [{ text: 'cached' }] });
    expect(run).not.toHaveBeenCalled();
  });

  it('that calls next without an argument passes the call on', async () => {
    expect(await through(gate((_, next) => next()))).toMatchObject({ ok: true });
  });

  it.each<[string, NonNullable<Extension['wrap']>]>([
    [
      'throws',
      () => {
        throw new Error('secret detail');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret detail'))],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
    ],
    ['returns nothing', () => loose(undefined)],
    ['promises nothing', async () => loose(undefined)],
    ['returns true', () => loose(true)],
    ['returns text', () => loose('fine')],
    ['returns something that is not a result', () => loose({ status: 'done' })],
    ['returns a failure without an error', () => loose({ ok: false, status: 'failed', error: null })],
    ['returns a failure without a status', () => loose({ ok: false, error: { code: 'denied', message: 'no' } })],
    ['passes a spread copy of the call on', (call, next) => next({ ...call } as ToolCall)], // a copy has lost its getters
    [
      'passes a copy with other arguments on',
      (call, next) => next(Object.assign(Object.create(call), { input: { evil: true } })),
    ],
    ['passes something on that is not a call', (_, next) => next(loose({ spec: 'x' }))],
  ])('that %s refuses, and the tool does not run', async (_, wrap) => {
    const result = await through(gate(wrap));
    expect(result).toMatchObject({
      ok: false,
      status: 'failed',
      error: { code: 'internal', message: expect.stringContaining('"gate"') },
    });
    expect(JSON.stringify(result)).not.toContain('secret detail');
    expect(run).not.toHaveBeenCalled();
  });

  it('that changes the arguments of the call does not pass them to the tool', async () => {
    const seen = vi.fn();
    const meddle = gate((call, next) => {
      const evil = { amount: 1000 };
      Object.assign(call, { input: evil, parsed: evil });
      return next(call);
    });
    const crib = await createCrib({ tools: [{ name: 'pay', description: '', run: seen }], extensions: [meddle] });
    await (await crib.open()).call('pay', { amount: 1 });
    expect(seen).not.toHaveBeenCalledWith({ amount: 1000 }, expect.anything());
  });

  it('that passes another call to next refuses', async () => {
    const calls: ToolCall[] = [];
    const swap = gate((call, next) => {
      calls.push(call);
      return next(calls[0]);
    });
    const crib = await createCrib({ tools: [tool], extensions: [swap] });
    const chest = await crib.open();
    expect(await chest.call('tool', { first: true })).toMatchObject({ ok: true });
    expect(await chest.call('tool', { second: true })).toMatchObject({ ok: false, error: { code: 'internal' } });
  });

  it('that returns only { ok: true } has not returned a result', async () => {
    expect(await through(gate(() => loose({ ok: true })))).toMatchObject({ ok: false, status: 'failed' });
  });

  it('that throws counts as a refusal for the gates outside it', async () => {
    const seen: unknown[] = [];
    const outer = defineExtension({ name: 'outer', priority: 600, onError: (_, error) => void seen.push(error.code) });
    await through(
      outer,
      gate(() => {
        throw new Error('no');
      }),
    );
    expect(seen).toEqual(['internal']);
  });

  it('whose applies() throws takes part', async () => {
    const wrap = vi.fn(() => failed(toolError('denied', 'no')));
    const unsure = gate(wrap, {
      applies() {
        throw new Error('who knows');
      },
    });
    expect(await through(unsure)).toMatchObject({ error: { code: 'denied' } });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['0', 0],
    ['an empty text', ''],
    ['NaN', Number.NaN],
    ['a text that reads as 0', '0'],
    ['an empty list', []],
    ['10', 10],
    ['a promise of a no', Promise.resolve(false)],
  ])(
    'takes part in the calls of a tool for which applies() returns %s, whatever it returns for others',
    async (_, answer) => {
      const refuse = gate(() => failed(toolError('denied', 'no')), {
        applies: ({ name }) => (name === 'free' ? false : loose(answer)),
      });
      const crib = await createCrib({ tools: [tool, { ...tool, name: 'free' }], extensions: [refuse] });
      const chest = await crib.open();
      expect(await chest.call('free')).toMatchObject({ ok: true });
      expect(await chest.call('tool')).toMatchObject({ error: { code: 'denied' } });
    },
  );

  it('takes part although applies() of two gates returns numbers of several digits', async () => {
    const counts: Readonly<Record<string, readonly unknown[]>> = { one: [true, false, 10], two: [10, true, false] };
    const gates = ['a', 'b', 'c'].map((name, index) =>
      gate((call, next) => (name === 'b' ? failed(toolError('denied', 'no')) : next(call)), {
        name,
        applies: (spec) => loose(counts[spec.name]?.[index]),
      }),
    );
    const tools = Object.keys(counts).map((name) => ({ ...tool, name }));
    const chest = await (await createCrib({ tools, extensions: gates })).open();
    expect(await chest.call('one')).toMatchObject({ ok: true });
    expect(await chest.call('two')).toMatchObject({ error: { code: 'denied' } });
  });

  it('has its applies() called once per tool, not per call', async () => {
    const applies = vi.fn(() => true);
    const crib = await createCrib({ tools: [tool], extensions: [gate((call, next) => next(call), { applies })] });
    const chest = await crib.open();
    for (let i = 0; i < 5; i++) await chest.call('tool');
    expect(applies).toHaveBeenCalledOnce();
  });

  it('sees valid arguments, frozen', async () => {
    const seen: boolean[] = [];
    await through(
      gate((call, next) => {
        seen.push(Object.isFrozen(call.input));
        return next(call);
      }),
    );
    expect(seen).toEqual([true]);
  });

  it('does not see a call that was refused further out', async () => {
    const wrap = vi.fn<NonNullable<Extension['wrap']>>((call, next) => next(call));
    const crib = await createCrib({
      tools: [{ name: 'tool', description: '', input: { type: 'object', required: ['a'] }, run }],
      extensions: [gate(wrap)],
    });
    await (await crib.open()).call('tool', {});
    expect(wrap).not.toHaveBeenCalled();
  });
});

describe('chains', () => {
  it('are linked once per shape, however many tools there are', async () => {
    let links = 0;
    // Whether an extension observes is looked up when a chain is linked, and never again if it does not.
    const counting: Extension = {
      name: 'counting',
      priority: 500,
      get onStart(): never {
        links++;
        return undefined as never; // an absent hook
      },
      onList: (specs) => specs,
    };
    const tools: ToolInput[] = Array.from({ length: 100 }, (_, index) => ({
      name: `tool_${index}`,
      description: '',
      ...(index % 2 === 0 && { policy: { maxResultBytes: 100 } }),
      run: () => index,
    }));
    const crib = await createCrib({ tools, extensions: [counting] });
    const chest = await crib.open();
    links = 0;
    for (const { name } of chest.list()) await chest.call(name);
    for (const { name } of chest.list()) await chest.call(name);
    expect(links).toBe(2);
  });
});
