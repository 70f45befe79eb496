import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Chest, type Crib, createCrib, defineBundle, type ToolInput } from '../../src/index.ts';

const WHAT = { type: 'object', properties: { what: { type: 'string' } }, additionalProperties: false } as const;
const tool = (name: string, description: string, more: object = {}): ToolInput => ({
  name,
  description,
  input: WHAT,
  run: (input) => ({ ran: name, input }),
  ...more,
});
const files = defineBundle({ name: 'files', tools: [tool('read_file', 'Read a file')] });
const pages = defineBundle({ name: 'pages', tools: [tool('click', 'Click a button', { output: { type: 'object' } })] });
const secret = tool('fire', 'Dismiss an employee', { policy: { access: [{ roles: ['boss'] }] } });

let crib: Crib;
let chest: Chest;
beforeAll(async () => {
  crib = await createCrib({
    bundles: [files, pages],
    tools: [secret],
    profiles: {
      agent: { expose: 'script', essential: ['files'] },
      tight: { expose: 'script', settings: { script: { maxCalls: 1, memoryMb: 4000 } } },
      wrong: { expose: 'script', settings: { script: { maxCalls: 'many' } } },
      human: {},
    },
  });
  chest = await crib.open('agent', { id: 'alice' });
});
afterAll(() => crib.close());

const names = (specs: readonly { readonly name: string }[]) => specs.map(({ name }) => name).sort();
const described = (name: string, shown = chest) => shown.list().find((spec) => spec.name === name)?.description ?? '';

describe('a profile that exposes scripts', () => {
  it('shows its essential bundles, search_tools and execute_script', () => {
    expect(names(chest.list())).toEqual(['execute_script', 'read_file', 'search_tools']);
    expect(names(chest.listActive())).toContain('click');
  });

  it('another profile has none of them', async () => {
    const human = await crib.open('human', { id: 'alice' });
    for (const name of ['execute_script', 'search_tools', 'call_tool'])
      expect(await human.call(name, { code: 'return 1' })).toMatchObject({ error: { code: 'unknown_tool' } });
  });

  it('declares the tools of the caller in the description of execute_script, and no others', async () => {
    expect(described('execute_script')).toContain(
      '/** Click a button */\nclick(input?: { what?: string }): Promise<Record<string, unknown>>;',
    );
    expect(described('execute_script')).not.toContain('fire');
    const boss = await crib.open('agent', { id: 'bob', roles: ['boss'] });
    expect(described('execute_script', boss)).toContain('fire(');
  });

  it('gives signatures in the answer of search_tools, and says how to call them', async () => {
    expect(described('search_tools')).toContain('tools.NAME in execute_script');
    expect(await chest.call('search_tools', { query: 'click a button', limit: 1 })).toMatchObject({
      data: { tools: [{ signature: 'click(input?: { what?: string }): Promise<Record<string, unknown>>' }] },
    });
    expect(await chest.call('search_tools', { query: 'zzzz qqqq' })).toMatchObject({
      data: { tools: [], note: 'No tool found. Use other words.' },
    });
  });

  it('keeps both within their budgets, however many tools there are', async () => {
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`property_${n}`, { type: 'string' }]));
    const many = Array.from({ length: 300 }, (_, n) =>
      tool(`press_${n}`, 'Press a key', { input: { type: 'object', properties } }),
    );
    const large = await createCrib({ tools: many, profiles: { agent: { expose: 'script' } } });
    const open = await large.open('agent', { id: 'alice' });
    expect(described('execute_script', open).length).toBeLessThan(2000);
    expect(described('execute_script', open)).toContain('Find the signatures of tools with search_tools');
    const found = await open.call('search_tools', { query: 'press a key', limit: 20 });
    expect(JSON.stringify(found.ok && found.data).length).toBeLessThan(12_000);
    await large.close();
  });

  it('may tighten the limits of scripts by its settings, never loosen them', async () => {
    const tight = await crib.open('tight', { id: 'alice' });
    const code =
      'const ends = await Promise.allSettled([tools.click(), tools.click()]); return ends.map((end) => end.status)';
    expect(await tight.call('execute_script', { code })).toMatchObject({ data: ['fulfilled', 'rejected'] });
    const big = 'return new Uint8Array(100e6).length';
    expect(await tight.call('execute_script', { code: big })).toMatchObject({ ok: false });
    const wrong = await crib.open('wrong', { id: 'alice' });
    expect(await wrong.call('execute_script', { code })).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining('profile "wrong"') },
    });
  });
});

it('a profile may limit how many of its scripts run at the same time; those of other profiles go on', async () => {
  const begun: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const note = tool('note', 'Note a name', {
    input: { type: 'object' },
    run: async ({ name, isLong }: { readonly name: string; readonly isLong: boolean }) => {
      begun.push(name);
      if (isLong) await promise;
    },
  });
  const shared = await createCrib({
    tools: [note],
    profiles: { narrow: { expose: 'script', settings: { script: { concurrency: 1 } } }, wide: { expose: 'script' } },
  });
  const [narrow, wide] = await Promise.all([shared.open('narrow', { id: 'a' }), shared.open('wide', { id: 'a' })]);
  const run = (chest: Chest, name: string, isLong = false) =>
    chest.call('execute_script', { code: 'await tools.note(input); return 1', input: { name, isLong } });
  const first = run(narrow, 'first', true);
  await vi.waitUntil(() => begun.length === 1);
  const second = run(narrow, 'second');
  for (const name of ['other', 'one more']) expect(await run(wide, name)).toMatchObject({ data: 1 });
  expect(begun).toEqual(['first', 'other', 'one more']);
  resolve();
  expect(await Promise.all([first, second])).toMatchObject([{ data: 1 }, { data: 1 }]);
  expect(begun.at(-1)).toBe('second');
  await shared.close();
});

it.each([
  {},
  { code: '' },
  { code: 5 },
  { code: 'x'.repeat(200_001) },
  { code: 'return 1', more: 1 },
  { code: 'return 1', input: 5 },
])('execute_script refuses %.30j', async (input) => {
  expect(await chest.call('execute_script', input)).toMatchObject({ error: { code: 'invalid_input' } });
});
