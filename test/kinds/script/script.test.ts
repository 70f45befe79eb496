import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCrib, type ToolCall } from '../../../src/index.ts';
import { openShop, shopTools } from './script-shop.ts';

let shop: Awaited<ReturnType<typeof openShop>>;
const ended: { tool: string; parent: string | undefined }[] = [];
beforeAll(async () => {
  const watch = {
    name: 'watch',
    priority: 500,
    onEnd: ({ spec, parent }: ToolCall) => void ended.push({ tool: spec.name, parent: parent?.spec.name }),
  };
  shop = await openShop({}, { extensions: [watch] });
});
afterAll(() => shop.close());

const dataOf = async (code: string, input?: object) => {
  const result = await shop.run(code, input);
  return result.ok ? result.data : result;
};

describe('a script', () => {
  it('calls the tools of its caller and returns a value', async () => {
    expect(await dataOf('const x = await tools.add({ a: 1, b: 2 }); return { x };')).toEqual({ x: 3 });
  });

  it('may be TypeScript', async () => {
    const code = 'const sum: number = await tools.add({ a: 1, b: 2 }); return sum satisfies number;';
    expect(await dataOf(code)).toBe(3);
  });

  it('returns text as text, and says so if it returns nothing', async () => {
    expect(await shop.run('return "done"')).toMatchObject({ content: [{ text: 'done' }] });
    expect(await shop.run('1')).toMatchObject({ ok: true, content: [{ text: 'The script returned nothing.' }] });
    expect(await shop.run('console.log("seen", { a: 1 })')).toMatchObject({ content: [{ text: 'seen {"a":1}' }] });
  });

  it('reads its input', async () => {
    expect(await dataOf('return input.town', { town: 'Oslo' })).toEqual(undefined);
    expect(await shop.run('return input.town', { town: 'Oslo' })).toMatchObject({ content: [{ text: 'Oslo' }] });
  });

  it('makes calls in parallel with Promise.all, and gets their results in order', async () => {
    let most = 0;
    let running = 0;
    const gate = Promise.withResolvers<void>();
    const wait = {
      name: 'wait',
      description: 'Wait for the others',
      run: async (_: unknown, call: ToolCall) => {
        most = Math.max(most, ++running);
        if (running === 3) gate.resolve();
        await gate.promise;
        running--;
        return (call.input as { n: number }).n;
      },
      input: { type: 'object', properties: { n: { type: 'number' } } },
    } as const;
    const own = await openShop({}, { tools: [wait] });
    const result = await own.run('return Promise.all([1, 2, 3].map((n) => tools.wait({ n })))');
    expect(result).toMatchObject({ ok: true, data: [1, 2, 3] });
    expect(most).toBe(3);
    await own.close();
  });

  it('begins calls in the order in which it makes them, whatever their length', async () => {
    const begun: number[] = [];
    const note = {
      name: 'note',
      description: 'Note',
      run: ({ n }: { readonly n: number }) => void begun.push(n),
      input: { type: 'object' },
    } as const;
    const own = await openShop({ parallelCalls: 1 }, { tools: [note] });
    const code = `
      const call = (_, n) => tools.note({ n, text: 'x'.repeat(n % 7 === 3 ? 20_000 : 300) });
      await Promise.all(Array.from({ length: 60 }, call));`;
    expect(await own.run(code)).toMatchObject({ ok: true });
    expect(begun).toEqual(Array.from({ length: 60 }, (_, n) => n));
    await own.close();
  });

  it('can catch a failed call: the error has code, message and issues', async () => {
    const code = `
      const failures = [];
      for (const [tool, args] of [['add', { a: 'x' }], ['fail', {}], ['no_such_tool', {}]])
        try { await tools[tool](args) } catch (error) {
          failures.push([error instanceof ToolError, error.name, error.code, error.tool, error.issues?.length ?? 0]);
        }
      return failures;`;
    expect(await dataOf(code)).toEqual([
      [true, 'ToolError', 'invalid_input', 'add', 2],
      [true, 'ToolError', 'tool_error', 'fail', 0],
      [true, 'ToolError', 'unknown_tool', 'no_such_tool', 0],
    ]);
  });

  it('fails with the error that it does not catch, and its line', async () => {
    const failed = await shop.run('const a = 1;\nawait tools.fail();');
    expect(failed).toMatchObject({ ok: false, error: { code: 'tool_error' } });
    expect(failed).toMatchObject({
      error: { message: expect.stringMatching(/fail: tool_error: .*the shop is closed/) },
    });
    const broken = await shop.run('const a = 1;\nnull.x;');
    expect(broken).toMatchObject({ error: { message: expect.stringMatching(/failed at line 2: TypeError/) } });
    expect(await shop.run('throw "words"')).toMatchObject({ error: { message: expect.stringContaining('words') } });
  });

  it('is refused with a place if the code is not valid', async () => {
    const result = await shop.run('const a = 1;\nconst = 2;');
    expect(result).toMatchObject({ error: { code: 'invalid_input', issues: [{ path: '/code' }] } });
    expect(result).toMatchObject({ error: { message: expect.stringContaining('(line 2)') } });
    const imported = await shop.run('import fs from "node:fs"; return fs');
    expect(imported).toMatchObject({ error: { message: expect.stringContaining('import and export') } });
  });

  it('shows what it logs as progress, also when it fails', async () => {
    const lines: unknown[] = [];
    const code = 'console.log("one"); await tools.add({ a: 1, b: 1 }); console.warn("two", [2]); throw new Error("no")';
    const result = await shop.chest.call('execute_script', { code }, { onProgress: (line) => lines.push(line) });
    expect(lines).toEqual(['one', 'two [2]']);
    expect(result).toMatchObject({
      content: [{ text: expect.stringMatching(/Error: no\n\nConsole output:\none\ntwo/) }],
    });
  });

  it('finds tools by words, with their signatures', async () => {
    const found = (await dataOf('return search("add two numbers", { limit: 1 })')) as readonly { name: string }[];
    expect(found).toMatchObject([{ name: 'add', signature: 'add(input: { a: number; b: number }): Promise<number>' }]);
    expect(await shop.run('return search("x", { limit: 1000 })')).toMatchObject({
      error: { message: expect.stringContaining('search: invalid_input') },
    });
  });

  it('has each inner call in the records, below the script', async () => {
    ended.length = 0;
    await shop.run('await Promise.all([tools.add({ a: 1, b: 1 }), tools.echo({})])');
    expect(ended).toEqual([
      { tool: 'add', parent: 'execute_script' },
      { tool: 'echo', parent: 'execute_script' },
      { tool: 'execute_script', parent: undefined },
    ]);
  });

  it('lets calls finish that it did not wait for', async () => {
    ended.length = 0;
    await shop.run('tools.echo({}); return 1');
    expect(ended.map(({ tool }) => tool)).toEqual(['echo', 'execute_script']);
  });

  it('sees a clock that stands still between answers, and randomness that differs between scripts', async () => {
    const code =
      'const a = Date.now(); for (let i = 0; i < 1e5; i++); return [Date.now() - a, +new Date() - a, Math.random()]';
    const [first, second] = [await dataOf(code), await dataOf(code)] as [number[], number[]];
    expect(first.slice(0, 2)).toEqual([0, 0]);
    expect(first[2]).not.toBe(second[2]);
  });
});

it('a script runs in the background like any call, and its calls are made once', async () => {
  const made: unknown[] = [];
  const note = {
    name: 'note',
    description: 'Note',
    input: { type: 'object' },
    run: (input: unknown, { door }: ToolCall) => void made.push([input, door]),
  } as const;
  const crib = await createCrib({ tools: [note], store: 'memory', profiles: { agent: { expose: 'script' } } });
  const chest = await crib.open('agent', { id: 'alice' });
  const submitted = await chest.submit('execute_script', { code: 'await tools.note({ n: 1 }); return { n: 2 }' });
  const id = submitted.status === 'waiting' ? submitted.waiting.id : '';
  expect(await crib.tasks.wait(id, { by: { id: 'alice' } })).toMatchObject({ ok: true, data: { n: 2 } });
  expect(made).toEqual([[{ n: 1 }, 'task']]);
  await crib.close();
});

it('a tool of kind script runs code or a file, under the profile of its caller', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolcrib-script-'));
  writeFileSync(join(folder, 'twice.ts'), 'const n: number = input.n; return tools.add({ a: n, b: n });');
  const file = join(folder, 'twice.ts');
  const crib = await createCrib({
    tools: [
      ...shopTools,
      { name: 'twice', description: 'Double', input: { type: 'object' }, run: { kind: 'script', file } },
      { name: 'four', description: 'Four times', run: { kind: 'script', code: 'return tools.twice({ n: 2 * 2 })' } },
      { name: 'gone', description: 'No file', run: { kind: 'script', file: join(folder, 'gone.js') } },
    ],
    profiles: { few: { include: ['twice'] }, all: {} },
  });
  const all = await crib.open('all', { id: 'alice' });
  expect(await all.call('four', {})).toMatchObject({ ok: true, data: 8 });
  expect(await all.call('gone', {})).toMatchObject({ error: { code: 'unavailable' } });
  const few = await crib.open('few', { id: 'alice' });
  expect(await few.call('twice', { n: 2 })).toMatchObject({
    error: { message: expect.stringContaining('unknown_tool') },
  });
  await crib.close();
  await rm(folder, { recursive: true });
});

it.each([
  [{ kind: 'script' }, 'either code or file'],
  [{ kind: 'script', code: 'return 1', file: './x.js' }, 'either code or file'],
  [{ kind: 'script', code: 5 }, 'must be a string'],
  [{ kind: 'script', code: 'return 1', timeout: 5 }, 'timeout'],
])('a run like %j is an error when it is loaded', async (run, words) => {
  const tools = [{ name: 'bad', description: 'Bad', run }];
  await expect(createCrib({ tools })).rejects.toThrow(words);
});
