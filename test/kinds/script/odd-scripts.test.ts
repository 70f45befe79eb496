import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop } from './script-shop.ts';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop({ concurrency: 1, memoryMb: 16 });
});
afterAll(() => shop.close());

const messageOf = async (code: string) => {
  const result = await shop.run(code);
  if (result.status !== 'failed') throw new Error(`did not fail: ${JSON.stringify(result)}`);
  return result.error.message;
};

describe('code that cannot be compiled', () => {
  it.each([
    ['JavaScript', '('.repeat(150_000)],
    ['types', `type A = ${'B<'.repeat(70_000)}`],
  ])('that is nested too deeply, as %s, leaves the TypeScript of later scripts alone', async (_, code) => {
    expect(await messageOf(code)).toMatch(/stack/);
    expect(await shop.run('const sum: number = 1; return sum')).toMatchObject({ ok: true, data: 1 });
  });

  it.each([
    ['an enum', 'const a = 1;\nenum Color { Red }', 'enum', 2],
    ['a namespace', 'namespace N { export const a = 1 }', 'namespace', 1],
    ['a parameter property', '\n\nclass A { constructor(public x: number) {} }', 'parameter property', 3],
  ])('because it has %s is TypeScript all the same: the error says which part is not available', async (...row) => {
    const [, code, part, line] = row;
    const message = await messageOf(code);
    expect(message).toMatch(new RegExp(`TypeScript ${part}.* is not supported.*\\(line ${line}\\)`));
    expect(message).not.toContain('neither');
  });

  it('after a type is told with the line of the mistake, not with that of the type', async () => {
    expect(await messageOf('const a: number = 1;\n\nconst = 2;')).toContain('(line 3)');
  });
});

describe('what a script returns', () => {
  it.each([
    ['return tools.add', 'function'],
    ['return class {}', 'function'],
    ['return Symbol("x")', 'symbol'],
  ])('is an error if it has no JSON form: %s', async (code, type) => {
    expect(await messageOf(code)).toContain(`The result is of type ${type}, which has no JSON form`);
  });

  it('is a list if it is a Map or a Set, also inside of something, in arguments and on the console', async () => {
    const code = `
      const map = new Map([['a', 1]]);
      const { sent } = await tools.echo({ sent: new Set([1, 2]) });
      console.log(map);
      return { map, sent };`;
    const lines: unknown[] = [];
    const result = await shop.chest.call('execute_script', { code }, { onProgress: (line) => lines.push(line) });
    expect(result).toMatchObject({ ok: true, data: { map: [['a', 1]], sent: [1, 2] } });
    expect(lines).toEqual(['[["a",1]]']);
  });
});

it('arguments without a JSON form are an error of the script, with its line', async () => {
  const code = 'const a = 1;\nreturn tools.echo(() => 1)';
  expect(await messageOf(code)).toMatch(/line 2: .*arguments of "echo" is of type function, which has no JSON form/);
});

it.each(['search()', 'search({ query: "add" })', 'search(Symbol("x"))'])(
  'words that are not a text are refused: %s',
  async (call) => {
    expect(await shop.run(`try { return await ${call} } catch (error) { return { code: error.code } }`)).toMatchObject({
      data: { code: 'invalid_input' },
    });
  },
);

it('console.log never throws', async () => {
  const code = `
    const cyclic = Object.create(null);
    cyclic.self = cyclic;
    console.log(cyclic, { toJSON() { throw 1 }, toString() { throw 2 } }, Object.defineProperty(new Error(), 'message', { get() { throw 3 } }));
    return 'over';`;
  expect(await shop.run(code)).toMatchObject({ ok: true, content: [{ text: 'over' }] });
});

it('an error of several calls names them', async () => {
  const message = await messageOf('return Promise.any([tools.fail(), tools.no_such_tool()])');
  expect(message).toMatch(/AggregateError: .*the shop is closed.*"no_such_tool" was not found/);
});

it.each([16, 20, 24, 28, 32])('a script without memory for an error says so, with %d MB', async (memoryMb) => {
  const own = await openShop({ memoryMb });
  for (const link of ['() => 1', '(sum) => [sum]', '() => null']) {
    const code = `let chain = Promise.resolve(); for (;;) chain = chain.then(${link})`;
    expect(await own.run(code)).toMatchObject({ error: { message: expect.stringContaining('memory') } });
  }
  await own.close();
});
