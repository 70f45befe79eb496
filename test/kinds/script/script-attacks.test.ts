import { getHeapStatistics } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCrib, type ToolCall } from '../../../src/index.ts';
import { openShop, shopTools } from './script-shop.ts';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  process.env.SCRIPT_ATTACK_SECRET = 'never-to-be-seen';
  shop = await openShop({ cpuMs: 150, maxCalls: 30, maxOutputBytes: 20_000 });
});
afterAll(async () => {
  delete process.env.SCRIPT_ATTACK_SECRET;
  await shop.close();
});

const textOf = (result: unknown) => JSON.stringify(result);

describe('a script reaches nothing but tools', () => {
  it.each([
    'process',
    'require',
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'setTimeout',
    'setInterval',
    'queueMicrotask',
    'Buffer',
    'Worker',
    'WebAssembly',
    'Deno',
    'Bun',
    'os',
    'std',
    'bjson',
    'module',
    'global',
    'window',
    'performance',
  ])('%s', async (name) => {
    const code = `return [typeof ${name}, typeof globalThis.${name}, typeof Function('return this')().${name}]`;
    expect(await shop.run(code)).toMatchObject({ ok: true, data: ['undefined', 'undefined', 'undefined'] });
  });

  const escapes = {
    'the constructor of a function': 'return Object.keys((() => {}).constructor("return this")().process ?? {})',
    'the constructor of an async function':
      'const F = (async () => {}).constructor; return (await F("return typeof process + typeof require")()).length',
    'the constructor of a generator': 'return [...(function* () {}).constructor("yield typeof process")()]',
    'the constructor of a tool': 'return tools.add.constructor("return typeof process")()',
    'the constructor of an error of a call':
      'try { await tools.fail() } catch (e) { return e.constructor.constructor("return typeof process")() }',
    'the constructor of a promise of a call':
      'const p = tools.echo({}); const F = p.constructor.constructor; await p; return F("return typeof process")()',
    'a dynamic import': 'try { return Object.keys(await import("node:fs")) } catch (e) { return "refused" }',
    'an indirect eval': 'return (0, eval)("typeof process")',
    'a stack that is prepared': `Error.prepareStackTrace = (e, frames) => frames; Error.captureStackTrace?.({});
      return typeof new Error("x").stack`,
  };
  it.each(Object.entries(escapes))('not through %s', async (_, code) => {
    const result = await shop.run(code);
    expect(result.ok).toBe(true);
    expect(textOf(result)).not.toMatch(/function|never-to-be-seen|"object"/);
  });

  it('changed prototypes of a script change nothing outside it, nor in the next script', async () => {
    const code = `
      Object.prototype.polluted = 'yes'; Array.prototype.map = () => { throw 1 }; JSON.stringify = () => '{"a":"forged"}';
      Promise.prototype.then = () => { throw 1 }; Object.defineProperty(Object.prototype, 'text', { get() { return 'x' } });
      const echoed = await tools.echo({ own: 1 });
      return { own: echoed.own, polluted: ({}).polluted };`;
    expect(await shop.run(code)).toMatchObject({ ok: true, data: { own: 1 } });
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    expect(await shop.run('return [({}).polluted === undefined, [1].map((x) => x)]')).toMatchObject({
      data: [true, [1]],
    });
  });

  it('toJSON on prototypes changes neither which call is made nor how an error is told', async () => {
    const called = `
      for (const kind of [Array, String, Number]) kind.prototype.toJSON = () => 'forged';
      const [sum, { own }] = await Promise.all([tools.add({ a: 1, b: 2 }), tools.echo({ own: 'x' })]);
      return { sum, own };`;
    expect(await shop.run(called)).toMatchObject({ ok: true, data: { sum: 3, own: 'x' } });
    const told = `Object.prototype.toJSON = () => ({ text: 'x', line: 'y'.repeat(1e6) }); throw new Error('mine')`;
    const message = 'The script failed at line 1: Error: mine';
    expect(await shop.run(told)).toMatchObject({ error: { code: 'tool_error', message } });
  });

  it('getters, proxies and toJSON in arguments are resolved in the machine, and arrive as plain data', async () => {
    const code = `
      const hostile = { get a() { return 1 }, toJSON: undefined, nested: new Proxy({ b: 2 }, {}) };
      hostile.self = { toJSON: () => ({ '__proto__': { isAdmin: true }, c: 3 }) };
      return tools.echo(hostile);`;
    expect(await shop.run(code)).toMatchObject({ ok: true, data: { a: 1, nested: { b: 2 } } });
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    const throwing = 'try { await tools.echo({ get a() { throw new Error("mine") } }) } catch (e) { return e.message }';
    expect(await shop.run(throwing)).toMatchObject({ content: [{ text: 'mine' }] });
    const revoked = 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy';
    expect(await shop.run(revoked)).toMatchObject({ ok: false, error: { code: 'tool_error' } });
    const circular = 'const a = {}; a.a = a; return tools.echo(a)';
    expect(await shop.run(circular)).toMatchObject({ error: { message: expect.stringContaining('circular') } });
  });

  it('a tool of another profile does not exist, under any name', async () => {
    const crib = await createCrib({
      tools: [...shopTools],
      profiles: { agent: { include: ['echo'], expose: 'script' }, other: {} },
    });
    const chest = await crib.open('agent', { id: 'alice' });
    for (const call of ['tools.add({ a: 1, b: 1 })', 'tools["add"]()', 'tools.call_tool({ name: "add" })']) {
      const code = `try { return await ${call} } catch (e) { return { code: e.code } }`;
      expect(await chest.call('execute_script', { code })).toMatchObject({ data: { code: 'unknown_tool' } });
    }
    const code = 'return (await search("add two numbers")).map((hit) => hit.name)';
    expect(textOf(await chest.call('execute_script', { code }))).not.toContain('add');
    await crib.close();
  });

  it('a name that begins like that of a tool is another name, short or long', async () => {
    const names = ['add\\0', `add\\0${'x'.repeat(20_000)}`, 'add\\ud800'];
    for (const name of names) {
      const code = `try { return await tools['${name}']({ a: 1, b: 1 }) } catch (e) { return { code: e.code } }`;
      expect(await shop.run(code)).toMatchObject({ data: { code: 'unknown_tool' } });
    }
  });

  it('tools cannot be replaced for others, and is not a promise', async () => {
    const code =
      'try { tools.add = () => 5 } catch {} return [await tools.add({ a: 1, b: 1 }), typeof (await tools).add]';
    expect(await shop.run(code)).toMatchObject({ data: [2, 'function'] });
  });
});

describe('a script that exhausts something is ended, and nothing else is', () => {
  const attacks = {
    'an endless loop': ['for (;;);', 'timeout'],
    'an endless loop that catches everything': ['for (;;) try { for (;;); } catch {} finally { for (;;); }', 'timeout'],
    'endless microtasks': ['const again = () => Promise.resolve().then(again); await again();', 'timeout|tool_error'],
    'endless async recursion': ['const f = async () => { await null; return f() }; await f()', 'timeout|tool_error'],
    'a catastrophic regular expression': ['return /^(a|a)*$/.test("a".repeat(60) + "b")', 'timeout|tool_error'],
    'a catastrophic regular expression in replace': [
      '"x".repeat(50000).replace(/(x+x+)+y/g, "")',
      'timeout|tool_error',
    ],
    'deep recursion': ['const f = () => f() + 1; f()', 'tool_error'],
    'deep recursion through getters': ['const o = { get a() { return this.a } }; o.a', 'tool_error'],
    'deep recursion through a proxy': ['const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x', 'tool_error'],
    'deeply nested JSON': ['JSON.parse("[".repeat(1e6))', 'tool_error'],
    'a deeply nested result': ['let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a', 'tool_error|timeout'],
    'a huge allocation': ['const a = []; for (;;) a.push(new Array(1e5).fill(7))', 'tool_error|timeout'],
    'a huge string': ['let s = "x"; for (;;) s += s', 'tool_error'],
    'a huge repetition': ['return "x".repeat(2 ** 30)', 'tool_error'],
    'a huge buffer': ['return new Uint8Array(2 ** 31 - 1).length', 'tool_error'],
    'huge typed arrays': ['const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))', 'tool_error|timeout'],
    'a promise that never settles': ['await new Promise(() => {})', 'tool_error'],
    'a thenable that never settles': ['await { then() {} }', 'tool_error'],
    'a huge result': ['return "x".repeat(30_000)', 'too_large'],
    'a loop in toJSON': ['return { toJSON() { for (;;); } }', 'timeout'],
  } as const;
  it.each(Object.entries(attacks))('%s', async (_, [code, expected]) => {
    const result = await shop.run(code);
    expect(result).toMatchObject({ ok: false, error: { code: expect.stringMatching(new RegExp(`^(${expected})$`)) } });
    expect(textOf(result).length).toBeLessThan(30_000);
    expect(await shop.run('return tools.add({ a: 1, b: 1 })')).toMatchObject({ ok: true, data: 2 });
  });

  it('too many calls: further ones are refused, and the script can catch that', async () => {
    const code = `
      const ends = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => tools.echo({ n })));
      const refused = ends.filter((end) => end.status === 'rejected');
      return [ends.length - refused.length, refused[0].reason.code];`;
    expect(await shop.run(code)).toMatchObject({ ok: true, data: [30, 'denied'] });
  });

  it('scripts in scripts: a script cannot start another, directly or through delegate', async () => {
    const code =
      'try { return await tools.execute_script({ code: "return 1" }) } catch (e) { return { code: e.code } }';
    expect(await shop.run(code)).toMatchObject({ data: { code: 'denied' } });
    const around = await openShop({}, { profiles: { agent: { expose: 'script', delegate: { agent: 'open' } } } });
    const through =
      'return tools.delegate({ profile: "agent", tool: "execute_script", arguments: { code: "return 1" } })';
    expect(await around.run(through)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('denied') },
    });
    await around.close();
  });

  it('scripts in scripts: tools of kind script are three levels deep at most, and do not wait for each other', async () => {
    const run = { kind: 'script', code: 'return tools.again({ n: input.n + 1 })' };
    const deep = await openShop({ concurrency: 1 }, { tools: [{ name: 'again', description: 'Again', run }] });
    const result = await deep.chest.call('again', { n: 0 });
    expect(result).toMatchObject({ error: { message: expect.stringContaining('nested 3 levels deep') } });
    await deep.close();
  });

  it('arguments that are too long', async () => {
    const code = 'try { await tools.echo({ a: "x".repeat(1_000_001) }) } catch (e) { return { code: e.code } }';
    expect(await shop.run(code)).toMatchObject({ data: { code: 'invalid_input' } });
  });

  it('a flood of console output is cut', async () => {
    const lines: unknown[] = [];
    const code = 'for (let i = 0; i < 3000; i++) console.log("line " + i); return 1';
    const result = await shop.chest.call('execute_script', { code }, { onProgress: (line) => lines.push(line) });
    expect(result).toMatchObject({ ok: true, data: 1 });
    expect(lines.length).toBeLessThan(1100);
    expect(lines.at(-1)).toBe('Further console output of the script was dropped.');
    await shop.chest.call(
      'execute_script',
      { code: 'console.log("x".repeat(1e6))' },
      { onProgress: (line) => lines.push(line) },
    );
    expect(lines.at(-1)).toBe('Further console output of the script was dropped.');
  });

  it('a result of a tool that is larger than the machine', async () => {
    const big = {
      name: 'big',
      description: 'Big',
      input: { type: 'object' },
      run: () => 'x'.repeat(20_000_000),
    } as const;
    const own = await openShop({}, { tools: [big] });
    const code = 'try { await tools.big() } catch (e) { return { code: e.code } }';
    expect(await own.run(code)).toMatchObject({ data: { code: 'too_large' } });
    await own.close();
  });
});

it('100 direct calls go on while scripts exhaust memory, stack and CPU', async () => {
  const attacks = ['for (;;);', 'const f = () => f(); f()', 'const a = []; for (;;) a.push(new Array(1e5).fill(7))'];
  const scripts = attacks.map((code) => shop.run(code));
  let running = scripts.length;
  for (const script of scripts) script.then(() => running--);
  const before = getHeapStatistics().used_heap_size;
  const calls = Array.from({ length: 100 }, (_, n) => shop.chest.call('add', { a: n, b: 1 }));
  expect((await Promise.all(calls)).every((result) => result.ok)).toBe(true);
  expect(running).toBeGreaterThan(0); // the direct calls were over first
  expect(getHeapStatistics().used_heap_size - before).toBeLessThan(64e6);
  for (const result of await Promise.all(scripts)) expect(result.ok).toBe(false);
});

it('a script that is ended ends its calls in flight', async () => {
  const aborted = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const wait = {
    name: 'wait',
    description: 'Wait for ever',
    input: { type: 'object' },
    run: (_: unknown, call: ToolCall) => {
      begun.resolve();
      return new Promise((_resolve, reject) =>
        call.onAbort((reason) => {
          aborted.resolve(reason.message);
          reject(new Error('aborted'));
        }),
      );
    },
  } as const;
  const own = await openShop({ cpuMs: 300 }, { tools: [...shopTools, wait] });
  const script = own.run('const p = tools.wait(); await tools.echo({}); for (;;);');
  await begun.promise;
  expect(await aborted.promise).toContain('script');
  expect(await script).toMatchObject({ error: { code: 'timeout' } });
  await own.close();
});

it('a cancelled script is ended at once, and so is the crib that is closed', async () => {
  const own = await openShop({ cpuMs: 600_000 });
  const controller = new AbortController();
  const script = own.chest.call(
    'execute_script',
    { code: 'console.log("on"); await tools.echo({}); for (;;);' },
    { signal: controller.signal, onProgress: () => controller.abort() },
  );
  expect(await script).toMatchObject({ error: { code: 'cancelled' } });
  await own.close();
});
