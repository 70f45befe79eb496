import { describe, expect, it, vi } from 'vitest';
import { createCrib, done, type Executor, failed, type Source, type ToolInput, toolError } from '../../src/index.ts';

const execute = vi.fn<Executor['execute']>((call, run) => done(`${run.greeting} ${call.input.name}`));
const greet: Executor = {
  kind: 'greet',
  runSchema: {
    type: 'object',
    properties: { kind: { const: 'greet' }, greeting: { type: 'string' } },
    required: ['greeting'],
  },
  execute,
};
const hello: ToolInput = { name: 'hello', description: 'Greets', run: { kind: 'greet', greeting: 'Hello' } };

function sourceOf(tools: readonly ToolInput[], more: Partial<Source> = {}): Source {
  return {
    name: 'remote',
    start: async () => ({
      specs: () => tools as never, // plain tools, which the crib turns into specs
      onChange: () => () => {},
      status: () => ({ state: 'ready' }),
      close: async () => {},
    }),
    ...more,
  };
}

describe('the same call serves every kind', () => {
  it('a custom kind runs with its executor, which gets the run of the tool', async () => {
    const chest = await (await createCrib({ tools: [hello], executors: [greet] })).open();
    expect(await chest.call('hello', { name: 'Ann' })).toMatchObject({ ok: true, content: [{ text: 'Hello Ann' }] });
  });

  it('an exception of an executor is a failure of the tool', async () => {
    const broken: Executor = {
      ...greet,
      execute() {
        throw new Error('no voice');
      },
    };
    const chest = await (await createCrib({ tools: [hello], executors: [broken] })).open();
    expect(await chest.call('hello')).toMatchObject({ error: { code: 'tool_error', message: 'no voice' } });
  });

  it('an error of an executor with a code keeps its code', async () => {
    const refusing: Executor = { ...greet, execute: () => failed(toolError('upstream', 'bad gateway')) };
    const chest = await (await createCrib({ tools: [hello], executors: [refusing] })).open();
    expect(await chest.call('hello')).toMatchObject({ error: { code: 'upstream', message: 'bad gateway' } });
  });

  it.each([[undefined], ['text'], [{ ok: 'yes' }], [null]])(
    'an executor that answers %j has failed',
    async (answer) => {
      const odd: Executor = { ...greet, execute: () => answer as never }; // plain JavaScript answers anything
      const chest = await (await createCrib({ tools: [hello], executors: [odd] })).open();
      expect(await chest.call('hello')).toMatchObject({
        ok: false,
        status: 'failed',
        error: { code: expect.any(String) },
      });
    },
  );

  it('a tool in code is checked once, however often it is listed', async () => {
    const check = vi.fn(() => []);
    const crib = await createCrib({ tools: [hello], executors: [{ ...greet, check }] });
    await crib.reload();
    expect((await crib.open()).list().map(({ name }) => name)).toEqual(['hello']);
    crib.register({ ...hello, name: 'hello_again' });
    expect((await crib.open()).list()).toHaveLength(2);
    expect(check).toHaveBeenCalledTimes(2);
  });

  it('executors are closed with the crib', async () => {
    const close = vi.fn(async () => {});
    const crib = await createCrib({ executors: [{ ...greet, close }] });
    await crib.close();
    expect(close).toHaveBeenCalledOnce();
  });

  it('needs are met for every kind, and the executor is not reached without them', async () => {
    execute.mockClear();
    const chest = await (
      await createCrib({ tools: [{ ...hello, needs: 'voice' } as ToolInput], executors: [greet] })
    ).open();
    expect(await chest.call('hello')).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining('voice') },
    });
    expect(execute).not.toHaveBeenCalled();
  });
});

describe('kinds', () => {
  it('one that is neither registered nor named in CONTRACT.md is an error at load', async () => {
    await expect(createCrib({ tools: [hello] })).rejects.toMatchObject({
      name: 'ToolcribError',
      code: 'unknown_kind',
      message: expect.stringMatching(/"hello".*"greet"/),
    });
  });

  it('the nearest known kind is named', async () => {
    const typo: ToolInput = { name: 'list', description: '', run: { kind: 'pyhton' } };
    await expect(createCrib({ tools: [typo] })).rejects.toThrow('Did you mean "python"?');
  });

  it('an unknown kind fails only that tool of a source', async () => {
    const fine: ToolInput = { name: 'fine', description: '', run: () => 1 };
    const crib = await createCrib({ sources: [sourceOf([hello, fine])] });
    expect(crib.catalog.specs.map((spec) => spec.name)).toEqual(['fine']);
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/remote.*"hello".*"greet"/));
  });

  it.each([
    { kind: 'mcp', source: 'nowhere', tool: 'x' },
    { kind: 'agent', host: 'nowhere' },
    { kind: 'agent', model: 'nowhere' },
  ])('$kind without what it needs loads, is listed and answers unavailable', async (run) => {
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', run }] });
    const chest = await crib.open();
    expect(chest.list().map((spec) => spec.name)).toEqual(['tool']);
    expect(await chest.call('tool')).toMatchObject({ error: { code: 'unavailable', retryable: false } });
  });

  it.each(['python', 'mcp', 'http', 'shell', 'agent'])('a run of the kind %s is checked at load', async (kind) => {
    const tools = [{ name: 'tool', description: '', run: { kind } }];
    await expect(createCrib({ tools })).rejects.toMatchObject({ code: 'invalid_run' });
  });

  it('an executor in code replaces a built-in one', async () => {
    const own: Executor = { kind: 'shell', runSchema: {}, execute: () => done('mine') };
    const crib = await createCrib({
      tools: [{ name: 'tool', description: '', run: { kind: 'shell' } }],
      executors: [own],
    });
    expect(await (await crib.open()).call('tool')).toMatchObject({ ok: true, content: [{ text: 'mine' }] });
  });

  it('a source may bring only the kinds it is allowed', async () => {
    const crib = await createCrib({
      sources: [
        sourceOf([{ name: 'rm', description: '', run: { kind: 'shell', command: ['rm'] } }], { kinds: ['http'] }),
      ],
    });
    expect(crib.get('rm')).toBeUndefined();
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/"rm" of remote has kind shell.*only http/));
  });

  it('a source that is allowed no kind may bring no tools', async () => {
    const tool = { name: 'rm', description: '', run: { kind: 'shell', command: ['rm'] } };
    const crib = await createCrib({ sources: [sourceOf([tool], { kinds: [] })] });
    expect(crib.get('rm')).toBeUndefined();
    expect(crib.warnings()).toContainEqual(
      expect.stringMatching(/"rm" of remote .*its source allows no tools at all;/),
    );
  });

  it('two executors for one: error at registration', async () => {
    await expect(createCrib({ executors: [greet, { ...greet }] })).rejects.toMatchObject({
      code: 'duplicate',
      message: expect.stringContaining('"greet"'),
    });
  });

  it('a second executor for functions: error at registration', async () => {
    await expect(createCrib({ executors: [{ ...greet, kind: 'function' }] })).rejects.toMatchObject({
      code: 'duplicate',
    });
  });
});

describe('how a tool runs is checked at load by its executor', () => {
  const without = (greeting: unknown): ToolInput =>
    ({ name: 'hello', description: '', run: { kind: 'greet', greeting } }) as ToolInput; // a run that is wrong on purpose

  it('a wrong field is an error that names tool, kind and field', async () => {
    await expect(createCrib({ tools: [without(5)], executors: [greet] })).rejects.toMatchObject({
      code: 'invalid_run',
      message: expect.stringMatching(/"hello" of kind greet: run\/greeting/),
    });
  });

  it('a missing field is an error', async () => {
    await expect(createCrib({ tools: [without(undefined)], executors: [greet] })).rejects.toThrow(/greeting/);
  });

  it('registering is refused with the reason', async () => {
    const crib = await createCrib({ executors: [greet] });
    expect(crib.register(without(5))).toMatchObject({
      ok: false,
      rejected: [{ name: 'hello', reason: expect.stringContaining('run/greeting') }],
    });
  });

  it('an executor without further fields still runs tools that declare needs', async () => {
    const strict: Executor = { ...greet, runSchema: { ...greet.runSchema, additionalProperties: false } };
    const tools = [{ ...hello, needs: 'voice' } as ToolInput]; // the same tool, asking for a service
    const crib = await createCrib({ tools, executors: [strict], services: { voice: {} } });
    expect(await (await crib.open()).call('hello', { name: 'Ann' })).toMatchObject({ ok: true });
  });

  it('a run that is not JSON is an error that names the tool', async () => {
    const odd: ToolInput = { name: 'hello', description: '', run: { kind: 'greet', greeting: () => 'Hello' } };
    await expect(createCrib({ tools: [odd], executors: [greet] })).rejects.toMatchObject({
      name: 'ToolcribError',
      message: expect.stringContaining('"hello"'),
    });
  });
});
