import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type CribOptions,
  createCrib,
  done,
  type LogLevel,
  type LogLine,
  logging,
  type ToolCall,
  type ToolInput,
} from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'], now: Date.UTC(2026, 0, 2) });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const tools: readonly ToolInput[] = [
  { name: 'fine', description: '', run: () => 'done' },
  {
    name: 'slow',
    description: '',
    run: async () => {
      await vi.advanceTimersByTimeAsync(250);
      return 'done';
    },
  },
  {
    name: 'broken',
    description: '',
    run: () => {
      throw new Error('it broke');
    },
  },
  { name: 'outer', description: '', run: (_: unknown, call: ToolCall) => call.tools.call('fine', { inner: true }) },
];

/** A crib that logs from this level on, and its lines. */
async function logged(level: LogLevel, options: CribOptions = {}) {
  const lines: LogLine[] = [];
  const crib = await createCrib({
    tools,
    ...options,
    extensions: [logging({ level, sink: (line) => lines.push(line) }), ...(options.extensions ?? [])],
  });
  return { lines, crib, chest: await crib.open(undefined, { id: 'ann' }) };
}

const toldOf = (lines: readonly LogLine[]) => lines.map(({ level, event, tool }) => `${level} ${event} ${tool}`);

describe('log: start, end, duration, call id, outcome', () => {
  it('the end of a call, with everything that is known about it', async () => {
    const { lines, chest } = await logged('info');
    await chest.call('slow', { a: 1 }, { id: 'call-1', conversation: 'c-7', door: 'rest' });
    expect(lines).toEqual([
      {
        time: '2026-01-02T00:00:00.250Z',
        level: 'info',
        event: 'call.end',
        callId: 'call-1',
        tool: 'slow',
        source: 'code',
        profile: 'all',
        caller: 'ann',
        door: 'rest',
        conversation: 'c-7',
        outcome: 'done',
        durationMs: 250,
      },
    ]);
  });

  it('at debug also the start, and the arguments as they were after validation', async () => {
    const input = { type: 'object', properties: { n: { type: 'number', default: 3 } } };
    const { lines, chest } = await logged('debug', { tools: [{ name: 'fine', description: '', input, run: () => 1 }] });
    await chest.call('fine', { password: 'x', deep: [{ token: 'y', kept: 1 }] });
    expect(toldOf(lines)).toEqual(['debug call.start fine', 'info call.end fine']);
    expect(lines[0]?.arguments).toEqual({ password: '[redacted]', deep: [{ token: '[redacted]', kept: 1 }] });
    expect(lines[1]?.arguments).toEqual({ password: '[redacted]', deep: [{ token: '[redacted]', kept: 1 }], n: 3 });
    expect(lines[0]?.callId).toBe(lines[1]?.callId);
  });

  it('a nested call names its outer call', async () => {
    const { lines, chest } = await logged('info');
    await chest.call('outer', {}, { id: 'around' });
    expect(toldOf(lines)).toEqual(['info call.end fine', 'info call.end outer']);
    expect(lines[0]?.parentId).toBe('around');
    expect(lines[1]?.parentId).toBeUndefined();
  });

  it('a failure with its code and message; a refusal and an unknown name, too', async () => {
    const { lines, chest } = await logged('info');
    await chest.call('broken');
    await chest.call('nobody');
    await chest.call('fine', 'no object' as never);
    expect(lines.map(({ level, outcome, code, message }) => ({ level, outcome, code, message }))).toEqual([
      { level: 'warn', outcome: 'failed', code: 'tool_error', message: 'it broke' },
      { level: 'warn', outcome: 'failed', code: 'unknown_tool', message: 'The tool "nobody" was not found.' },
      { level: 'warn', outcome: 'failed', code: 'invalid_input', message: expect.stringContaining('JSON object') },
    ]);
    expect(lines[1]?.source).toBeUndefined();
  });

  it('the internal cause of a failure', async () => {
    const gate = {
      name: 'gate',
      priority: 500,
      wrap() {
        throw new Error('no disk');
      },
    };
    const { lines, chest } = await logged('error', { extensions: [gate] });
    await chest.call('fine');
    expect(lines).toMatchObject([{ level: 'error', code: 'internal', cause: 'no disk' }]);
  });
});

describe('levels', () => {
  it.each<[LogLevel, readonly string[]]>([
    ['debug', ['debug call.start fine', 'info call.end fine', 'debug call.start broken', 'warn call.end broken']],
    ['info', ['info call.end fine', 'warn call.end broken']],
    ['warn', ['warn call.end broken']],
    ['error', []],
    ['silent', []],
  ])('%s', async (level, expected) => {
    const { lines, chest } = await logged(level);
    await chest.call('fine');
    await chest.call('broken');
    expect(toldOf(lines)).toEqual(expected);
  });

  it('a waiting call is logged like one that is done', async () => {
    const waiting = { ok: false, status: 'waiting', waiting: { for: 'input', id: 'w', expiresAt: 1 } } as const;
    const { lines, chest } = await logged('info', { tools: [{ name: 'ask', description: '', run: () => waiting }] });
    await chest.call('ask');
    expect(lines).toMatchObject([{ level: 'info', outcome: 'waiting' }]);
  });

  it('a crib without a log writes none', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const crib = await createCrib({ tools });
    await (await crib.open()).call('broken');
    expect(write).not.toHaveBeenCalled();
    write.mockRestore();
  });
});

describe('secrets', () => {
  it('(8 characters or more, also base64 and URL-encoded) redacted at any depth, in keys and known values; long values cut', async () => {
    vi.stubEnv('TOOLCRIB_TEST_SECRET', 'hun ter2/8');
    const { lines, crib, chest } = await logged('debug', {
      secrets: { s: { env: 'TOOLCRIB_TEST_SECRET' } },
      store: { url: 'memory:' },
      watch: false,
    });
    const spelt = ['hun ter2/8', Buffer.from('hun ter2/8').toString('base64'), 'hun%20ter2%2F8', 'hun+ter2%2f8'];
    await chest.call(
      'fine',
      { deep: [{ spelt, 'hun ter2/8': 1 }], long: 'x'.repeat(5000) },
      { id: spelt[2] ?? '', conversation: 'hun ter2/8' },
    );
    await chest.call('hun ter2/8');
    await (await crib.open(undefined, { id: 'hun ter2/8' })).call('fine');
    const text = JSON.stringify(lines);
    for (const spelling of spelt) expect(text).not.toContain(spelling);
    expect(lines[0]).toMatchObject({
      callId: '[secret s]',
      conversation: '[secret s]',
      arguments: {
        deep: [
          { spelt: ['[secret s]', expect.stringContaining('[secret s]'), '[secret s]', '[secret s]'], '[secret s]': 1 },
        ],
        long: `${'x'.repeat(500)}…`,
      },
    });
  });

  it('custom keys', async () => {
    const lines: LogLine[] = [];
    const extensions = [logging({ level: 'debug', redact: 'iban*', sink: (line) => lines.push(line) })];
    const chest = await (await createCrib({ tools, extensions })).open();
    await chest.call('fine', { iban_1: 'x', other: 'y' });
    expect(lines[0]?.arguments).toEqual({ iban_1: '[redacted]', other: 'y' });
  });

  it('results of tools are not logged', async () => {
    const answer = done('something private');
    const { lines, chest } = await logged('debug', { tools: [{ name: 'fine', description: '', run: () => answer }] });
    await chest.call('fine');
    expect(JSON.stringify(lines)).not.toContain('private');
  });
});

describe('a sink', () => {
  it.each<[string, (line: LogLine) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('that %s fails no call, and is reported once', async (_, sink) => {
    const crib = await createCrib({ tools, extensions: [logging({ sink })] });
    const chest = await crib.open();
    expect((await chest.call('fine')).ok).toBe(true);
    expect((await chest.call('fine')).ok).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(crib.warnings().filter((warning) => warning.includes('disk full'))).toHaveLength(1);
  });

  it('that never settles is not awaited', async () => {
    const crib = await createCrib({ tools, extensions: [logging({ sink: () => new Promise(() => {}) })] });
    expect((await (await crib.open()).call('fine')).ok).toBe(true);
  });

  it('that calls a tool itself gets no line for that call', async () => {
    const lines: LogLine[] = [];
    const crib = await createCrib({
      tools,
      extensions: [
        logging({
          sink: (line) => {
            lines.push(line);
            return chest.call('fine');
          },
        }),
      ],
    });
    const chest = await crib.open();
    await chest.call('fine');
    expect(lines).toHaveLength(1);
  });
});
