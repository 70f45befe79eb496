import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cribOf, folderWith } from '../../crib/workshop.ts';
import { watchPresence } from '../mcp/upstream.ts';
import { cribOfPython, hasPython, PYTHON } from './worker-pool.ts';

const RESULTS = `
import dataclasses, datetime, decimal, enum, sys, uuid, pathlib
class Odd: pass
class Model:
    def model_dump(self, mode): return {"mode": mode}
class Array:
    def tolist(self): return [1, 2]
@dataclasses.dataclass
class Pair:
    a: int
    b: object
class Kind(enum.Enum):
    X = "x"
def nested():
    return {"a": [1, Odd()]}
def raw_bytes(): return {"data": b"abc"}
def nan(): return {"x/y": [float("nan")]}
def lone_nan(): return float("-inf")
def huge(): return {"n": 2**60, "text": "1234567890123456789", "ok": 2**53 - 1}
def endless_digits():
    return [10**5000]
def surrogates(): return "a" + chr(0xD800) + "b\\U0001F600"
def circular():
    x = []; x.append(x); return x
def deep():
    x = []
    for _ in range(5000): x = [x]
    return x
def converted():
    return {"date": datetime.date(2026, 1, 2), "when": datetime.datetime(2026, 1, 2, 3, 4, 5), "money": decimal.Decimal("1.10"),
            "id": uuid.UUID(int=1), "path": pathlib.PurePosixPath("a/b"), "pair": Pair(1, Kind.X), "set": {3, 1, 2},
            "tuple": (1, 2), 7: None, "model": Model(), "array": Array(), "span": datetime.timedelta(seconds=90)}
def keys(): return {(1, 2): 3}
def large(): return "x" * 30_000_000
def just_large(): return "x" * 9_000_000
def recursion(): return recursion()
def nothing(): pass
def memory(): return "x" * (1 << 50)
def leaves(): sys.exit(3)
def raises_from_generator():
    yield 1
    raise KeyError("inside")
def yields_rubbish():
    yield 1
    yield Odd()
def endless_yields():
    while True: yield "x" * 10_000
class Silent(Exception):
    def __str__(self): raise RuntimeError("no words")
def silent(): raise Silent()
`;

const CODE_OF: Readonly<Record<string, readonly [string, RegExp]>> = {
  nested: ['invalid_output', /\/a\/1 has the type tools\.Odd, which is not JSON/],
  raw_bytes: ['invalid_output', /\/data is bytes, which is not JSON: decode it, or return base64 text/],
  nan: ['invalid_output', /\/x~1y\/0 is nan, which is not JSON/],
  circular: ['invalid_output', /\/0 contains itself/],
  deep: ['invalid_output', /nested deeper than 200 levels/],
  keys: ['invalid_output', /a key of the type tuple/],
  endless_digits: ['invalid_output', /\/0 is a number with too many digits/],
  large: ['too_large', /30000002 bytes, the limit is 10000000/],
  recursion: ['tool_error', /^RecursionError: maximum recursion depth exceeded/],
  memory: ['tool_error', /^MemoryError/],
  leaves: ['tool_error', /^SystemExit: 3/],
  raises_from_generator: ['tool_error', /^KeyError: 'inside'/],
  yields_rubbish: ['invalid_output', /tools\.Odd/],
  endless_yields: ['too_large', /yielded are too large/],
  silent: ['tool_error', /^Silent$/],
};

describe.skipIf(!hasPython)('return values of Python functions (needs python3)', () => {
  it('are JSON, or an error that names the value and its place', async () => {
    const { crib } = await cribOfPython(RESULTS, [...Object.keys(CODE_OF), 'nothing']);
    const chest = await crib.open();
    for (const [name, [code, message]] of Object.entries(CODE_OF)) {
      // Python before 3.11 writes as many digits as there are.
      const result = await chest.call(name, {});
      if (name === 'endless_digits' && result.ok) continue;
      expect(result, name).toMatchObject({ ok: false, error: { code, message: expect.stringMatching(message) } });
      expect(JSON.stringify(result), name).not.toMatch(/Traceback|File "/);
    }
    expect(await chest.call('nothing', {})).toMatchObject({ ok: true, content: [{ text: 'Done.' }] });
  });

  it('are converted if the meaning is clear', async () => {
    const { crib } = await cribOfPython(RESULTS, ['converted', 'huge', 'surrogates', 'lone_nan', 'just_large']);
    const chest = await crib.open();
    expect(await chest.call('converted', {})).toMatchObject({
      data: {
        date: '2026-01-02',
        when: '2026-01-02T03:04:05',
        money: '1.10',
        id: '00000000-0000-0000-0000-000000000001',
        path: 'a/b',
        pair: { a: 1, b: 'x' },
        set: [1, 2, 3],
        tuple: [1, 2],
        7: null,
        model: { mode: 'json' },
        array: [1, 2],
        span: 90,
      },
    });
    expect(await chest.call('huge', {})).toMatchObject({
      data: { n: '1152921504606846976', text: '1234567890123456789', ok: 2 ** 53 - 1 },
    });
    expect(await chest.call('surrogates', {})).toMatchObject({ content: [{ text: 'a\uFFFDb\u{1F600}' }] });
    expect(await chest.call('lone_nan', {})).toMatchObject({ content: [{ text: '-Infinity' }] });
    expect(await chest.call('just_large', {}, { wholeResult: true })).toMatchObject({ ok: true });
  });
});

const TRICKS = `
import asyncio, ctypes, os, signal, socket, sys, threading, time
def present():
    one = socket.socket(socket.AF_UNIX)
    one.connect(os.environ["PRESENCE"])
    one.send(b"here %d\\n" % os.getpid())
    return one
def ok(): return os.getpid()
def segfault(): ctypes.string_at(0)
def killed(): os.kill(os.getpid(), signal.SIGKILL)
def closes_all():
    os.closerange(3, 100)
    return "closed"
def forks():
    pid = os.fork()
    if pid == 0: return "from the copy"
    os.waitpid(pid, 0)
    return "from the first"
def forks_and_stays():
    if os.fork() == 0:
        os.setsid()
        keep = present()
        time.sleep(1000)
    return "left one"
def prints_on():
    while True: print("x" * 1000)
def hangs():
    keep = present()
    time.sleep(1000)
def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    keep = present()
    while True: time.sleep(1000)
cleaned = []
async def async_hangs(mark):
    keep = present()
    try: await asyncio.sleep(1000)
    finally: open(mark, "w").write("cleaned")
async def async_blocks():
    keep = present()
    time.sleep(1000)
async def async_ok(): return os.getpid()
def reads_stdin(): return sys.stdin.read()
def writes_to_stdin(): return os.read(0, 10).decode()
def puts_others_in_place():
    import json
    json.JSONEncoder.encode = None
    os.write = None
    return "still here"
def threads_on():
    threading.Thread(target=lambda: time.sleep(1000)).start()
    return "started"
`;

const NAMES = [...TRICKS.matchAll(/^(?:async )?def (\w+)/gm)].flatMap((match) => match[1] ?? []);

async function tricks() {
  const presence = await watchPresence();
  const env = `{ PRESENCE: ${presence.path} }`;
  const config = `executors: { python: { interpreter: "${PYTHON}", workers: 3, env: ${env} } }\n`;
  const { crib, folder } = await cribOfPython(TRICKS, NAMES, { config });
  return { chest: await crib.open(), crib, folder, presence };
}

describe.skipIf(!hasPython)('Python that misbehaves (needs python3)', () => {
  it('fails its own call and no other, whatever it does to its process', async () => {
    const { chest } = await tricks();
    for (const name of ['segfault', 'killed']) {
      const [bad, good] = await Promise.all([chest.call(name, {}), chest.call('ok', {})]);
      expect(bad, name).toMatchObject({ error: { code: 'unknown_outcome' } });
      expect(good, name).toMatchObject({ ok: true });
    }
    expect(await chest.call('forks', {})).toMatchObject({ content: [{ text: 'from the first' }] });
    expect(await chest.call('puts_others_in_place', {})).toMatchObject({ content: [{ text: 'still here' }] });
    expect(await chest.call('reads_stdin', {})).toMatchObject({ content: [{ text: '' }] });
    expect(await chest.call('writes_to_stdin', {})).toMatchObject({ content: [{ text: '' }] });
    expect(await chest.call('threads_on', {})).toMatchObject({ content: [{ text: 'started' }] });
    expect(await chest.call('closes_all', {})).toMatchObject({ ok: false });
    expect(await chest.call('ok', {})).toMatchObject({ ok: true });
  });

  it('a cancelled or timed-out call really ends, even if it ignores signals', async () => {
    const { chest, presence, folder } = await tricks();
    const mark = join(folder, 'mark');
    for (const [index, name] of ['hangs', 'deaf', 'async_blocks', 'async_hangs'].entries()) {
      const aborter = new AbortController();
      const calling = chest.call(name, name === 'async_hangs' ? { mark } : {}, { signal: aborter.signal });
      await presence.arrived(index + 1);
      aborter.abort();
      expect(await calling, name).toMatchObject({ error: { code: 'cancelled' } });
      await presence.left();
    }
    expect(readFileSync(mark, 'utf8')).toBe('cleaned');
    expect(await chest.call('prints_on', {}, { timeoutMs: 500 })).toMatchObject({ error: { code: 'timeout' } });
    expect(await chest.call('ok', {})).toMatchObject({ ok: true });
    expect(await chest.call('async_ok', {})).toMatchObject({ ok: true });
  });

  it('leaves no process behind when the crib is closed', async () => {
    const { chest, crib, presence } = await tricks();
    expect(await chest.call('forks_and_stays', {})).toMatchObject({ ok: true });
    await presence.arrived(1);
    await crib.close();
    await presence.left();
  });

  it('two hundred concurrent calls with cancellations: every call ends, and the workers continue', async () => {
    const { chest } = await tricks();
    const calls = Array.from({ length: 200 }, (_, index) => {
      const trick = ({ 3: 'hangs', 19: 'segfault' } as Readonly<Record<number, string>>)[index % 40]; // few of them
      const name = trick ?? (index % 2 === 0 ? 'ok' : 'async_ok');
      const options = name === 'hangs' ? { timeoutMs: 300 } : {};
      return chest.call(name, {}, options);
    });
    const results = await Promise.all(calls);
    const codes = new Set(results.map((result) => (result.status === 'failed' ? result.error.code : result.status)));
    expect([...codes].sort()).toEqual(['done', 'timeout', 'unknown_outcome']);
    expect(await chest.call('ok', {})).toMatchObject({ ok: true });
  });
});

describe('no Python on the machine', () => {
  it('a tool is listed, and answers `unavailable` with a sentence', async () => {
    const folder = folderWith({
      'toolcrib.yaml':
        'sources: { local: { files: ./tools.yaml } }\nexecutors: { python: { interpreter: no-such-python } }\n',
      'tools.yaml':
        'tools:\n  - { name: a, description: A, input: { type: object }, run: { kind: python, module: m, function: f } }\n',
    });
    const crib = await cribOf(folder);
    expect(crib.catalog.specs.map(({ name }) => name)).toEqual(['a']);
    expect(await (await crib.open()).call('a', {})).toMatchObject({
      error: {
        code: 'unavailable',
        message:
          '"a" cannot be called: program "no-such-python" not found: install Python 3.9 or newer, or set executors.python.interpreter.',
      },
    });
  });

  it.each([
    ['{ kind: python, module: m }', 'function'],
    ['{ kind: python, module: "a b", function: f }', 'module'],
    ['{ kind: python, module: m, function: "f()" }', 'function'],
    ['{ kind: python, module: m, function: f, extra: 1 }', 'extra'],
  ])('%s is an error at load that names %s', async (run, word) => {
    const folder = folderWith({
      'toolcrib.yaml': 'sources: { local: { files: ./tools.yaml } }\n',
      'tools.yaml': `tools:\n  - { name: a, description: A, input: { type: object }, run: ${run} }\n`,
    });
    const crib = await cribOf(folder);
    expect(crib.catalog.specs).toEqual([]);
    expect(crib.warnings().join()).toContain(word);
  });
});
