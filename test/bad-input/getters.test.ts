import { describe, expect, it, vi } from 'vitest';
import { createCrib, defineBundle, defineExtension, defineTool, ToolcribError } from '../../src/index.ts';
import { unhandledDuring, wrong } from './wrong.ts';

/** An object with one member that throws when it is read. */
function trapped(key: string, rest: object = {}): never {
  return wrong(
    Object.defineProperty({ ...rest }, key, {
      enumerable: true,
      get() {
        throw new Error('sprung');
      },
    }),
  );
}

/** An object that throws whatever is done with it. */
function untouchable(): never {
  const spring = () => {
    throw new Error('sprung');
  };
  return wrong(
    new Proxy(
      {},
      { get: spring, ownKeys: spring, has: spring, getPrototypeOf: spring, getOwnPropertyDescriptor: spring },
    ),
  );
}

const TOOL = { name: 'tool', description: '', run: () => 1 };

describe('an option whose getter throws is an error that names it', () => {
  it.each<[string, () => unknown]>([
    ['createCrib: tools', () => createCrib(trapped('tools'))],
    ['createCrib: services', () => createCrib(trapped('services'))],
    ['createCrib: one of the services', () => createCrib({ services: trapped('clock') })],
    ['a profile: include', () => createCrib({ profiles: { only: trapped('include') } })],
    ['defineTool: name', async () => defineTool(trapped('name', TOOL))],
    ['defineTool: run', async () => defineTool(trapped('run', TOOL))],
    ['defineTool: input', async () => defineTool(trapped('input', TOOL))],
    ['defineTool: a schema', async () => defineTool({ ...TOOL, input: trapped('properties') })],
    ['defineTool: policy', async () => defineTool({ ...TOOL, input: {}, policy: trapped('rates') })],
    ['defineTool: meta', async () => defineTool({ ...TOOL, input: {}, meta: trapped('flag') })],
    ['defineBundle: name', async () => defineBundle(trapped('name'))],
    ['defineExtension: before', async () => defineExtension(trapped('before', { name: 'x' }))],
    ['caller: id', async () => (await createCrib()).open(undefined, trapped('id'))],
    ['caller: profiles', async () => (await createCrib()).open(undefined, trapped('profiles'))],
  ])('%s', async (_, make) => {
    const mistake = await Promise.resolve()
      .then(make)
      .catch((error: unknown) => error);
    expect(mistake).toBeInstanceOf(ToolcribError);
  });

  it('registering a tool whose name cannot be read is rejected', async () => {
    const crib = await createCrib();
    expect(crib.register(trapped('name', TOOL))).toMatchObject({ ok: false, applied: [] });
  });
});

describe('a call with a value that throws when it is read returns a result', () => {
  const run = vi.fn(() => 1);
  const open = async () => (await createCrib({ tools: [{ ...TOOL, run }] })).open();

  it.each<[string, unknown, unknown]>([
    ['an argument', trapped('path'), {}],
    ['an argument deep inside', { list: [{ a: trapped('path') }] }, {}],
    [
      'an argument with a toJSON that throws',
      {
        toJSON() {
          throw new Error('sprung');
        },
      },
      {},
    ],
    ['arguments that cannot be touched', untouchable(), {}],
    ['an option', {}, trapped('timeoutMs')],
    ['options that cannot be touched', {}, untouchable()],
    [
      'a time that throws when compared',
      {},
      {
        timeoutMs: {
          valueOf() {
            throw new Error('sprung');
          },
        },
      },
    ],
  ])('%s', async (_, input, options) => {
    run.mockClear();
    const chest = await open();
    expect(await chest.call('tool', input, wrong(options))).toMatchObject({
      ok: false,
      error: { code: 'invalid_input' },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('a name that cannot be read', async () => {
    expect(await (await open()).call(untouchable(), {})).toMatchObject({ ok: false, error: { code: 'unknown_tool' } });
  });

  it('an answer to an approval request: denied at once', async () => {
    const crib = await createCrib({ tools: [{ ...TOOL, run, policy: { approval: 'always' } }] });
    run.mockClear();
    const answers: unknown[] = [];
    const unhandled = await unhandledDuring(async () => {
      const chest = await crib.open(undefined, { approve: async () => trapped('approved') });
      chest.call('tool').then((result) => answers.push(result));
      await new Promise(setImmediate);
    });
    expect({ unhandled, answers }).toMatchObject({ unhandled: [], answers: [{ error: { code: 'denied' } }] });
    expect(run).not.toHaveBeenCalled();
  });

  it.each<[string, () => unknown]>([
    ['an answer', () => trapped('ok')],
    ['an answer deep inside', () => ({ list: [trapped('x')] })],
    ['an answer that looks like a promise', () => trapped('then')],
    ['an answer that cannot be touched', () => untouchable()],
  ])('%s of the tool: a failure of the tool', async (_, answer) => {
    const chest = await (await createCrib({ tools: [{ ...TOOL, run: answer }] })).open();
    expect(await chest.call('tool')).toMatchObject({ ok: false, status: 'failed' });
  });
});
