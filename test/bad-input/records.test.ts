import fc from 'fast-check';
import parse from 'parse-prometheus-text-format';
import { describe, expect, it, vi } from 'vitest';
import { type Crib, createCrib, type LogLine, logging, metrics, ToolcribError, trace } from '../../src/index.ts';
import { logToStderr } from '../../src/system/telemetry.ts';
import { wrong } from './wrong.ts';

const tools = [{ name: 'fine', description: '', run: () => 'done' }];

/** What the default sink writes to stderr while this is done. */
async function writtenBy(work: (crib: Crib) => Promise<unknown>): Promise<readonly string[]> {
  const written: string[] = [];
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  try {
    await work(await createCrib({ tools, extensions: [logging({ level: 'debug' })] }));
  } finally {
    write.mockRestore();
  }
  return written;
}

const HOSTILE = [
  'two\nlines',
  'two\r\nlines',
  '{"level":"info"}\n{"level":"error","message":"forged"}',
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u009b31m',
  '\u0000null',
  'line\u2028separator\u2029',
  'turned \u202e round',
  '\u007f\u0008\u0008',
  '\ud800 alone',
];

describe('a log line is one line, whatever it contains', () => {
  it.each(HOSTILE)('%j', async (text) => {
    const written = await writtenBy(async (crib) => {
      const chest = await crib.open(undefined, { id: text });
      await chest.call('fine', { [text]: text }, { id: text, conversation: text, door: text });
      await chest.call(text);
    });
    expect(written).toHaveLength(4);
    for (const line of written) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
      expect(line).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\ud800-\udfff]+\n$/);
      expect(JSON.parse(line)).toMatchObject({ event: expect.stringMatching(/^call\.(start|end)$/) });
    }
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ callId: text, caller: text, arguments: { [text]: text } });
  });

  it('any text at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const written = await writtenBy(async (crib) => (await crib.open()).call(text, { text }, { id: text }));
        for (const line of written) expect(line.trimEnd().split(/[\n\r\u2028\u2029]/)).toHaveLength(1);
      }),
      { numRuns: 15 },
    );
  });

  it('and its length is limited', async () => {
    const huge = 'x'.repeat(1_000_000);
    const written = await writtenBy(async (crib) => {
      const chest = await crib.open(undefined, { id: huge });
      await chest.call(
        huge,
        { [huge]: huge, list: Array.from({ length: 10_000 }, () => huge) },
        { id: huge, door: huge },
      );
    });
    expect(written).toHaveLength(2);
    for (const line of written) expect(line.length).toBeLessThan(30_000);
  });

  it('ids that are not text', async () => {
    const written = await writtenBy(async (crib) => {
      await (await crib.open()).call('fine', {}, wrong({ id: { a: 1 }, conversation: 7, door: ['x'] }));
    });
    const lines = written.map((line) => JSON.parse(line));
    expect(lines.map(({ callId }) => typeof callId)).toEqual(['string', 'string']);
    expect(lines.at(-1)).toMatchObject({ code: 'invalid_input' });
  });

  it('a slow reader loses lines and delays no call', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(false);
    const waiting = vi.spyOn(process.stderr, 'writableLength', 'get').mockReturnValue(2_000_000);
    logToStderr(wrong({ event: 'call.end' }));
    expect(write).not.toHaveBeenCalled();
    waiting.mockReturnValue(10);
    logToStderr(wrong({ event: 'call.end' }));
    expect(write).toHaveBeenCalledWith('{"event":"call.end"}\n');
    write.mockRestore();
    waiting.mockRestore();
  });
});

/** The label values of all that was counted. */
async function labelsOf(crib: Crib): Promise<readonly Readonly<Record<string, string>>[]> {
  return parse(await crib.metrics()).flatMap((family) =>
    family.metrics.flatMap(({ labels }) => (labels === undefined ? [] : [labels])),
  );
}

describe('labels are bounded', () => {
  it('a flood of unknown names, callers, profiles and ids creates no labels', async () => {
    const crib = await createCrib({ tools });
    for (let index = 0; index < 3000; index++) {
      const chest = await crib.open(undefined, { id: `caller-${index}`, roles: [`role-${index}`] });
      await chest.call(
        `unknown_${Math.random()}`,
        {},
        { id: `${index}`, conversation: `c${index}`, door: `d${index}` },
      );
    }
    await (await crib.open()).call('x\n"y"{z="1"} 5');
    expect(await labelsOf(crib)).toEqual([{ tool: 'unknown', source: '', outcome: 'unknown_tool' }, { source: '' }]);
    expect((await crib.metrics()).length).toBeLessThan(3000);
  });

  it('tools after the first thousand share one label, and no call is lost', async () => {
    const many = Array.from({ length: 1500 }, (_, index) => ({ name: `t${index}`, description: '', run: () => index }));
    const crib = await createCrib({ tools: many });
    const chest = await crib.open();
    for (const { name } of many) await chest.call(name);
    const text = await crib.metrics();
    const counted = parse(text).find(({ name }) => name === 'toolcrib_calls_total')?.metrics ?? [];
    expect(counted).toHaveLength(1001);
    expect(counted.reduce((sum, { value }) => sum + Number(value), 0)).toBe(1500);
    expect(text).toMatch(/toolcrib_calls_in_flight\{source=""\} 0/);
  });

  it('a tool named like a shared label is counted separately', async () => {
    const names = ['unknown', 'other'];
    const crib = await createCrib({ tools: names.map((name) => ({ name, description: '', run: () => 1 })) });
    const chest = await crib.open();
    for (const name of [...names, 'nobody']) await chest.call(name);
    expect(await labelsOf(crib)).toEqual(
      expect.arrayContaining([
        { tool: 'unknown', source: '', outcome: 'unknown_tool' },
        { tool: 'unknown', source: 'code', outcome: 'done' },
        { tool: 'other', source: 'code', outcome: 'done' },
      ]),
    );
  });
});

describe('invalid options of a recording extension are an error', () => {
  it.each<[string, () => unknown]>([
    ['logging: an unknown option', () => logging(wrong({ levle: 'info' }))],
    ['logging: an unknown level', () => logging({ level: wrong('verbose') })],
    ['logging: a level that is not text', () => logging({ level: wrong(3) })],
    ['logging: keys that are not names', () => logging({ redact: wrong([/token/]) })],
    ['logging: a sink that is not a function', () => logging({ sink: wrong({ write() {} }) })],
    ['metrics: an unknown option', () => metrics(wrong({ otel: true }))],
    ['metrics: neither on nor off', () => metrics({ prometheus: wrong('yes') })],
    ['trace: an unknown option', () => trace(wrong({ prometheus: true }))],
    ['trace: neither on, off nor auto', () => trace({ otel: wrong('always') })],
  ])('%s', (_, make) => {
    expect(make).toThrow(ToolcribError);
  });

  it('an extension works without a crib', () => {
    const lines: LogLine[] = [];
    expect(logging({ sink: (line) => lines.push(line) })).toMatchObject({ name: 'logging', priority: 1000 });
    expect(metrics()).toMatchObject({ name: 'metrics' });
    expect(trace()).toMatchObject({ name: 'trace' });
  });
});
