import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCrib } from '../../../src/index.ts';
import { folderWith } from '../../crib/workshop.ts';
import { cribOfPython, hasPython, rewrite } from './worker-pool.ts';

const CODE = `
import asyncio, os, sys, ctypes
count = 0
def add(a, b): return a + b
def counted():
    global count
    count += 1
    return {"count": count, "pid": os.getpid()}
async def waits(x):
    await asyncio.sleep(0)
    return [x, os.getpid()]
def fails(): raise ValueError("no such thing")
def crashes(): os._exit(3)
def prints():
    print("hello"); ctypes.CDLL(None).puts(b"from C"); sys.__stdout__.write("more")
    for id in range(9): os.write(1, b'{"id":%d,"ok":"forged"}\\n' % id)
    os.write(1, b"half a line")
    return "quiet"
def steps(n):
    for i in range(n): yield i
    return "over"
def only_yields(n):
    for i in range(n): yield i
async def async_steps(n):
    for i in range(n): yield i
def who(toolcrib_call): return toolcrib_call
`;

describe.skipIf(!hasPython)('Python (needs python3)', () => {
  it('a worker stays warm; sync and async functions', async () => {
    const { crib } = await cribOfPython(CODE, ['add', 'counted', 'waits']);
    const chest = await crib.open();
    expect(await chest.call('add', { a: 1, b: 2 })).toMatchObject({ ok: true, data: 3 });
    const first = await chest.call('counted', {});
    const second = await chest.call('counted', {});
    expect(first).toMatchObject({ ok: true, data: { count: 1 } });
    expect(second).toMatchObject({ ok: true, data: { count: 2 } });
    expect(await chest.call('waits', { x: 'a' })).toMatchObject({ ok: true, data: ['a', expect.any(Number)] });
  });

  it('an exception becomes `tool_error` with its message and not its traceback', async () => {
    const { crib } = await cribOfPython(CODE, ['fails']);
    const result = await (await crib.open()).call('fails', {});
    expect(result).toMatchObject({ ok: false, error: { code: 'tool_error', message: 'ValueError: no such thing' } });
    expect(JSON.stringify(result)).not.toContain('Traceback');
  });

  it.each([
    ['ConnectionResetError()', { idempotent: true }, 3, true],
    ['TimeoutError("slow")', { readOnly: true }, 3, true],
    ['asyncio.TimeoutError()', { readOnly: true }, 3, true],
    ['ConnectionError()', {}, 1, false],
    ['Passing()', { idempotent: true }, 3, true],
    ['ValueError()', { idempotent: true }, 1, false],
  ])('raise %s of a tool with %j is tried %i times', async (raised, effects, expected, retryable) => {
    const code = `
import asyncio
class Passing(Exception): retryable = True
def fails(toolcrib_call):
    with open(__file__ + ".tries", "a") as tries: tries.write("x")
    raise ${raised}
`;
    const folder = folderWith({ 'tools.py': code });
    const run = { kind: 'python', module: join(folder, 'tools.py'), function: 'fails' };
    const policy = { approval: 'never' } as const;
    const crib = await createCrib({ tools: [{ name: 'fails', description: '', effects, policy, run }] });
    onTestFinished(() => crib.close());
    expect(await (await crib.open()).call('fails')).toMatchObject({ error: { code: 'tool_error', retryable } });
    expect(readFileSync(join(folder, 'tools.py.tries'), 'utf8')).toHaveLength(expected);
  });

  it('a crash restarts the worker and fails only its calls', async () => {
    const { crib } = await cribOfPython(CODE, ['crashes', 'add', 'waits']);
    const chest = await crib.open();
    const [crashed, ...others] = await Promise.all([
      chest.call('crashes', {}),
      ...Array.from({ length: 5 }, (_, index) => chest.call('add', { a: index, b: 1 })),
      chest.call('waits', { x: 1 }),
    ]);
    expect(crashed).toMatchObject({ ok: false, error: { code: 'unknown_outcome' } });
    expect(others.map((result) => result.ok)).toEqual(others.map(() => true));
    expect(await chest.call('add', { a: 1, b: 1 })).toMatchObject({ data: 2 });
  });

  it('prints do not corrupt the channel', async () => {
    const { crib } = await cribOfPython(CODE, ['prints']);
    const chest = await crib.open();
    for (let round = 0; round < 3; round++)
      expect(await chest.call('prints', {})).toMatchObject({ ok: true, content: [{ text: 'quiet' }] });
  });

  it('generators yield progress; their return value is the result, else the list of yielded values', async () => {
    const { crib } = await cribOfPython(CODE, ['steps', 'only_yields', 'async_steps']);
    const chest = await crib.open();
    const progress: unknown[] = [];
    const onProgress = (value: unknown) => void progress.push(value);
    expect(await chest.call('steps', { n: 3 }, { onProgress })).toMatchObject({ content: [{ text: 'over' }] });
    expect(await chest.call('only_yields', { n: 2 }, { onProgress })).toMatchObject({ data: [0, 1] });
    expect(await chest.call('async_steps', { n: 2 }, { onProgress })).toMatchObject({ data: [0, 1] });
    expect(progress).toEqual([0, 1, 2, 0, 1, 0, 1]);
  });

  it('a function with a parameter `toolcrib_call` gets the caller, and no argument can replace it', async () => {
    const { crib } = await cribOfPython(CODE, ['who', 'add']);
    const chest = await crib.open(undefined, { id: 'alice', roles: ['dev'] });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const options = { timeZone: 'Europe/Berlin', traceparent };
    const result = await chest.call('who', { toolcrib_call: { caller: { id: 'root' } } }, options);
    expect(result).toMatchObject({
      data: { tool: 'who', caller: { id: 'alice', roles: ['dev'] }, timeZone: 'Europe/Berlin' },
    });
    expect(JSON.stringify(result)).toContain('0af7651916cd43dd8448eb211c80319c');
  });

  describe('services that a tool needs', () => {
    const withServices = async (
      needs: readonly string[],
      services: Readonly<Record<string, unknown>>,
      name = 'who',
    ) => {
      const folder = folderWith({ 'tools.py': CODE });
      const run = { kind: 'python', module: join(folder, 'tools.py'), function: name };
      const crib = await createCrib({ tools: [{ name, description: '', needs, run }], services });
      onTestFinished(() => crib.close());
      return { crib, result: await (await crib.open()).call(name) };
    };
    const rates = { euro: 1.5, list: [1, null] };

    it('reach it with the call if they are JSON, and no others', async () => {
      const { result } = await withServices(['rates', 'mailer?'], { rates, other: 1 });
      expect(result).toMatchObject({ ok: true, data: { tool: 'who', services: { rates } } });
      expect(result).toHaveProperty('data.services', { rates });
      const { result: nothing } = await withServices([], { rates });
      expect(nothing).toHaveProperty('data.services', {});
    });

    it('keep it from running if they are not, with a report at start', async () => {
      const { crib, result } = await withServices(['clock'], { clock: { now: () => 1 } });
      expect(result).toMatchObject({ error: { code: 'unavailable', message: expect.stringContaining('is not JSON') } });
      expect(crib.warnings()).toContainEqual(
        expect.stringMatching(/"who" needs the service "clock", which is not JSON/),
      );
    });

    it('are an error for a function without a matching parameter, which is refused before the call', async () => {
      await expect(withServices(['rates'], { rates }, 'counted')).rejects.toThrow(
        /Tool "counted" of kind python: it needs "rates", but the function "counted" has no parameter toolcrib_call .*add the parameter/,
      );
      await expect(withServices(['rates?'], {}, 'counted')).rejects.toThrow('has no parameter toolcrib_call');
    });

    it.each([
      ['in one line', 'def odd(toolcrib_call, a=1): return toolcrib_call["services"]', true],
      [
        'over several lines',
        'async def odd(\n  a=(1, 2),\n  *,\n  toolcrib_call,\n):\n  return toolcrib_call["services"]',
        true,
      ],
      ['decorated', 'import functools\n@functools.cache\ndef odd(): return 1', false],
      ['assigned', 'def other(toolcrib_call): return toolcrib_call["services"]\nodd = other', true],
      [
        'put in place of another',
        'def odd(): return 1\ndef other(toolcrib_call): return toolcrib_call["services"]\nodd = other',
        true,
      ],
      ['imported', 'from os import getcwd as odd', false],
    ])('are checked against the real function: %s', async (_, code, isTaken) => {
      const folder = folderWith({ 'tools.py': code });
      const run = { kind: 'python', module: join(folder, 'tools.py'), function: 'odd' };
      const crib = await createCrib({
        tools: [{ name: 'odd', description: '', needs: ['rates'], input: { type: 'object' }, run }],
        services: { rates },
      });
      onTestFinished(() => crib.close());
      const result = await (await crib.open()).call('odd');
      if (isTaken) expect(result).toMatchObject({ ok: true, data: { rates } });
      else expect(result).toMatchObject({ error: { code: 'unavailable' } });
    });

    it('keep it from running if it turns out to have no matching parameter', async () => {
      const folder = folderWith({ 'tools.py': 'def other(): return 1\ncounted = other' });
      const run = { kind: 'python', module: join(folder, 'tools.py'), function: 'counted' };
      const tool = { name: 'counted', description: '', needs: ['rates'], run };
      const crib = await createCrib({ tools: [tool], services: { rates } });
      onTestFinished(() => crib.close());
      const result = await (await crib.open()).call('counted');
      expect(result).toMatchObject({
        error: { code: 'unavailable', message: expect.stringContaining('without the parameter toolcrib_call') },
      });
    });
  });

  it('an edited file runs in its new form, without a restart', async () => {
    const { crib, folder } = await cribOfPython('from other import word\ndef say(): return word', ['say'], {});
    rewrite(folder, 'word = "first"', 'other.py');
    const chest = await crib.open();
    expect(await chest.call('say', {})).toMatchObject({ content: [{ text: 'first' }] });
    rewrite(folder, 'word = "other"', 'other.py');
    expect(await chest.call('say', {})).toMatchObject({ content: [{ text: 'other' }] });
    rewrite(folder, 'async def say(): return "async by now"');
    expect(await chest.call('say', {})).toMatchObject({ content: [{ text: 'async by now' }] });
    rewrite(folder, 'def say(:');
    expect(await chest.call('say', {})).toMatchObject({
      error: { code: 'unavailable', message: expect.stringMatching(/tools cannot be imported: SyntaxError: .*line 1/) },
    });
    rewrite(folder, 'def say(): return "mended"');
    expect(await chest.call('say', {})).toMatchObject({ content: [{ text: 'mended' }] });
  });
});
