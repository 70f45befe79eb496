import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Caller, Chest, Crib, ToolInput, ToolResult } from '../../src/index.ts';
import { cribOf, folderWith } from './workshop.ts';

const LINES = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}: ${index % 7 === 0 ? 'error' : 'fine'}`);
const ITEMS = Array.from({ length: 3000 }, (_, id) => ({ id, name: `item ${id}`, 'a/b~c': id * 2 }));

const TOOLS: readonly ToolInput[] = [
  { name: 'log', description: '', run: () => LINES.join('\n') },
  { name: 'items', description: '', run: () => ({ items: ITEMS }) },
  { name: 'hostile', description: '', run: () => `${'a'.repeat(40_000)}!` },
  { name: 'small', description: '', run: () => 'small' },
  {
    name: 'mixed',
    description: '',
    run: () => ({
      ok: true,
      status: 'done',
      content: [
        { type: 'text', text: 'x'.repeat(20_000) },
        { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' },
      ],
    }),
  },
  {
    name: 'file',
    description: '',
    run: () => ({
      ok: true,
      status: 'done',
      content: [
        { type: 'resource', resource: { uri: 'repo://a.txt', mimeType: 'text/plain', text: LINES.join('\n') } },
        { type: 'resource', resource: { uri: 'repo://a.bin', blob: 'x'.repeat(20_000) } },
      ],
    }),
  },
  {
    name: 'outer',
    description: '',
    run: async (_input, call) => {
      const inner = await call.tools.call('log', {});
      return inner.ok && inner.content[0]?.type === 'text' ? inner.content[0].text.length : 0;
    },
  },
];

async function crib(results = '{ offloadBytes: 10000 }', more = ''): Promise<Crib> {
  return cribOf(folderWith({ 'toolcrib.yaml': `results: ${results}\n${more}` }), { tools: TOOLS });
}

async function open(caller: Caller = { id: 'ann' }): Promise<Chest> {
  return (await crib()).open(undefined, caller);
}

function textOf(result: ToolResult): string {
  if (result.status === 'failed') return result.error.message;
  const part = result.status === 'done' ? result.content[0] : undefined;
  return part?.type === 'text' ? part.text : '';
}

async function keptBy(chest: Chest, tool = 'log'): Promise<string> {
  const result = await chest.call(tool);
  const kept = result.status === 'done' ? (result.meta?.['toolcrib/result'] as { id: string } | undefined) : undefined;
  return kept?.id ?? 'nothing was kept';
}

describe('large results are stored, and the caller gets their beginning', () => {
  it('a script gets whole results; its own result is stored if it is large', async () => {
    const scripts = await crib(undefined, 'profiles: { agent: { expose: script } }\n');
    const chest = await scripts.open('agent', { id: 'ann' });
    const length = await chest.call('execute_script', { code: 'return (await tools.log()).length' });
    expect(length).toMatchObject({ data: LINES.join('\n').length });
    const whole = await chest.call('execute_script', { code: 'return tools.log()' });
    expect(textOf(whole)).toMatch(/read parts of it with read_result/);
    expect(chest.list().map(({ name }) => name)).toContain('read_result');
  });

  it('states the full size, the expiry and how to read the rest', async () => {
    const result = await (await open()).call('log');
    expect(textOf(result)).toMatch(/^line 1: error\nline 2: fine/);
    expect(textOf(result)).toMatch(
      /first characters of 79607 bytes\. The complete result is stored as "r_[\w-]{16}" until \d{4}-.*read_result/,
    );
    expect(textOf(result).length).toBeLessThan(3000);
    expect(result).not.toHaveProperty('data');
  });

  it('a result that is small enough, requested in full, or needed by another tool is returned unchanged', async () => {
    const chest = await open();
    expect(textOf(await chest.call('small'))).toBe('small');
    expect(textOf(await chest.call('log', {}, { wholeResult: true }))).toBe(LINES.join('\n'));
    expect(await chest.call('outer')).toMatchObject({ data: LINES.join('\n').length });
  });

  it('images and other parts stay', async () => {
    const result = await (await open()).call('mixed');
    expect(result).toMatchObject({ content: [{ type: 'text' }, { type: 'image', data: 'aGVsbG8=' }] });
  });

  it('the text of an embedded resource is text; a blob stays', async () => {
    const chest = await open();
    const result = await chest.call('file');
    expect(result).toMatchObject({ content: [{ type: 'text' }, { resource: { uri: 'repo://a.bin' } }] });
    expect(textOf(result)).toMatch(/^line 1: error[\s\S]*first characters of 79607 bytes/);
    const last = await chest.call('read_result', { id: await keptBy(chest, 'file'), fromLine: 5000 });
    expect(textOf(last)).toBe(LINES.at(-1));
  });

  it('a caller that fills its quota leaves room for others', async () => {
    const limited = await crib('{ offloadBytes: 10000, quotaBytesPerCaller: 100000 }');
    const [ann, bob] = [await limited.open(undefined, { id: 'ann' }), await limited.open(undefined, { id: 'bob' })];
    const whether = async (chest: Chest) => textOf(await chest.call('log')).includes('is stored as');
    expect([await whether(ann), await whether(ann), await whether(bob)]).toEqual([true, false, true]);
  });

  it('without results in the configuration nothing is stored, and read_result does not exist', async () => {
    const without = await cribOf(folderWith({ 'toolcrib.yaml': 'profiles: {}\n' }), { tools: TOOLS });
    const chest = await without.open();
    expect(textOf(await chest.call('log'))).toBe(LINES.join('\n'));
    expect(chest.get('read_result')).toBeUndefined();
  });

  it('a result beyond the quota is not stored, and says so; its beginning is returned', async () => {
    const chest = await (await crib('{ offloadBytes: 10000, quotaBytes: 20000 }')).open();
    const result = await chest.call('log');
    expect(result).toMatchObject({ ok: true });
    expect(textOf(result)).toMatch(/^line 1: error[\s\S]*The rest could not be stored/);
  });

  it('a store that cannot be written loses the rest of a result, not its beginning', async () => {
    const store = { url: `sqlite:${join(folderWith({ file: '' }), 'file', 'crib.db')}` };
    const broken = await cribOf(folderWith({ 'toolcrib.yaml': 'results: {}\n' }), {
      tools: [{ name: 'log', description: '', run: () => LINES.join('\n').repeat(3) }],
      store,
    });
    expect(textOf(await (await broken.open()).call('log'))).toMatch(
      /^line 1: error[\s\S]*The rest could not be stored/,
    );
    expect(broken.warnings().join()).toContain('could not be stored');
  });
});

describe('read_result', () => {
  const read = async (tool: string, part: object): Promise<string> => {
    const chest = await open();
    return textOf(await chest.call('read_result', { id: await keptBy(chest, tool), ...part }));
  };

  it('reads a range of characters and says where to continue', async () => {
    expect(await read('log', { offset: 6, length: 7 })).toBe(
      `: error\n\n[${LINES.join('\n').length - 13} more characters; continue with offset 13.]`,
    );
  });

  it('reads lines', async () => {
    expect(await read('log', { fromLine: 4999 })).toBe('line 4999: error\nline 5000: fine');
    expect(await read('log', { fromLine: 2, toLine: 3 })).toBe('line 2: fine\nline 3: fine');
    expect(await read('log', { fromLine: 9999 })).toBe('Line 9999 does not exist; the text has 5000 lines.');
  });

  it('reads the value at a JSON pointer', async () => {
    expect(await read('items', { pointer: '/items/7/name' })).toBe('item 7');
    expect(await read('items', { pointer: '/items/7/a~1b~0c' })).toBe('14');
    expect(JSON.parse(await read('items', { pointer: '/items/2' }))).toEqual(ITEMS[2]);
    expect(await read('items', { pointer: '/items/x' })).toBe(
      '"x" does not exist at "/items", which is a list of 3000.',
    );
    expect(await read('items', { pointer: '/constructor' })).toContain('which is an object with "items"');
    expect(await read('items', { pointer: 'items' })).toContain('must start with "/"');
    expect(await read('log', { pointer: '/a' })).toContain('not JSON');
  });

  it('finds lines by a regular expression, each with its number', async () => {
    expect(await read('log', { grep: 'line 1\\d: error' })).toBe('15: line 15: error');
  });

  it.each([
    ['(a+)+$', /^$/],
    ['(a|aa)*!', /^1: a{19997}\n\n\[/],
    ['(.*)*z{900}', /^$/],
  ])('a hostile pattern %s cannot hang it', async (grep, answer) => {
    expect(await read('hostile', { grep })).toMatch(answer);
  });

  it.each([['('], ['(?=x)'], ['a'.repeat(1001)]])('the pattern %s is refused in words', async (grep) => {
    expect(await read('log', { grep })).toMatch(/pattern|not valid/);
  });

  it('belongs to its caller: for others it does not exist; an operator may read it', async () => {
    const both = await crib();
    const [ann, bob] = [await both.open(undefined, { id: 'ann' }), await both.open(undefined, { id: 'bob' })];
    const id = await keptBy(ann);
    const [foreign, unknown] = await Promise.all(
      [id, `r_${'x'.repeat(16)}`].map(async (one) => textOf(await bob.call('read_result', { id: one }))),
    );
    expect(foreign?.replace(id, 'ID')).toBe(unknown?.replace(`r_${'x'.repeat(16)}`, 'ID'));
    expect(textOf(await (await both.openAll()).call('read_result', { id, length: 4 }))).toMatch(/^line/);
  });

  it('exists in every profile that shows a tool, and in no other', async () => {
    const profiles =
      'profiles:\n  some: { include: [log] }\n  none: { include: [] }\n  without: { exclude: [read_result] }\n';
    const all = await crib('{ offloadBytes: 10000 }', profiles);
    const has = async (name: string) => (await all.open(name)).get('read_result') !== undefined;
    expect([await has('some'), await has('none'), await has('without')]).toEqual([true, false, false]);
  });

  it('its name is reserved', async () => {
    await expect(
      cribOf(folderWith({ 'toolcrib.yaml': 'results: {}\n' }), {
        tools: [{ name: 'read_result', description: '', run: () => 'mine' }],
      }),
    ).rejects.toThrow(/"read_result".*reserved/);
  });

  it('results of read_result are never stored again', async () => {
    const chest = await open();
    const part = await chest.call('read_result', { id: await keptBy(chest), length: 50_000 });
    expect(textOf(part).length).toBeGreaterThan(50_000);
  });
});

describe('a large result that repeats a secret', () => {
  it.each([
    ['text', () => `${'x'.repeat(20_000)} sk-live-4242424242`],
    ['data', () => ({ filler: 'x'.repeat(20_000), card: 'sk-live-4242424242' })],
  ])('is stored with the name of the secret instead of the value: %s', async (_, run) => {
    vi.stubEnv('TOOLCRIB_TEST_CARD', 'sk-live-4242424242');
    const config = 'results: { offloadBytes: 10000 }\nsecrets: { card: { env: TOOLCRIB_TEST_CARD } }\n';
    const made = await cribOf(folderWith({ 'toolcrib.yaml': config }), {
      tools: [{ name: 'leak', description: '', run }],
    });
    const chest = await made.open(undefined, { id: 'ann' });
    const id = await keptBy(chest, 'leak');
    const kept = JSON.stringify(await made.store?.results.get(id));
    expect(kept).toContain('[secret card]');
    expect(kept).not.toContain('4242424242');
    expect(JSON.stringify(await chest.call('read_result', { id, length: 100_000 }))).toContain('[secret card]');
    vi.unstubAllEnvs();
  });
});
