import { describe, expect, it, onTestFinished } from 'vitest';
import { type Crib, createCrib, type Source, type ToolInput } from '../../src/index.ts';
import { wrong } from './wrong.ts';

const long = (length: number) => 'x'.repeat(length);
const tool = (more: object) => ({ name: 'odd', description: 'Odd', run: () => 'ran', ...more });
const inputOf = (path: object) => ({ input: { type: 'object', properties: { path } } });

/** A source that lists these tools; a stranger's unless it is trusted. */
function listing(tools: readonly object[], more: Partial<Source> = {}): Source {
  const live = { specs: () => wrong(tools), onChange: () => () => {}, status: () => ({ state: 'ready' as const }) };
  return { name: 'far', start: async () => ({ ...live, close: async () => {} }), ...more };
}

async function cribWith(options: Parameters<typeof createCrib>[0]): Promise<Crib> {
  const crib = await createCrib(options);
  onTestFinished(() => crib.close());
  return crib;
}

/** Everything of a spec that can be too long, and what is left of it. */
const TEXTS: readonly (readonly [string, object, object])[] = [
  ['title', { title: long(501) }, { title: `${long(499)}…` }],
  ['version', { version: long(501) }, { version: `${long(499)}…` }],
  ['description', { description: long(9_000_000) }, { description: `${long(15_999)}…` }],
  ['description', { description: `${long(15_998)}\u{1f527}\u{1f527}` }, { description: `${long(15_998)}\ufffd…` }],
  ['instructions', { instructions: long(64_001) }, { instructions: `${long(63_999)}…` }],
  ['input schema', inputOf({ description: long(16_001) }), inputOf({ description: `${long(15_999)}…` })],
  ['input schema', inputOf({ anyOf: [{ title: long(16_001) }] }), inputOf({ anyOf: [{ title: `${long(15_999)}…` }] })],
  ['output schema', { output: { $comment: long(16_001) } }, { output: { $comment: `${long(15_999)}…` } }],
];

describe('a text that is too long', () => {
  it.each(TEXTS)('in a local tool is an error that names the tool: %s', async (what, more) => {
    const crib = await cribWith({ tools: [] });
    const { ok, rejected } = crib.register(tool(more) as ToolInput);
    expect(ok).toBe(false);
    expect(rejected).toMatchObject([{ name: 'odd', reason: expect.stringContaining(`its ${what} has`) }]);
    const trusted = await cribWith({ sources: [listing([tool(more)], { trust: true })] });
    expect(trusted.catalog.specs).toEqual([]);
    expect(trusted.warnings()).toContainEqual(expect.stringContaining(`its ${what} has`));
  });

  it.each(TEXTS)('of an untrusted source is cut, with a warning: %s', async (what, more, left) => {
    const crib = await cribWith({ sources: [listing([tool(more)])] });
    expect(crib.get('odd')).toMatchObject(left);
    expect(Object.isFrozen(crib.get('odd')?.input)).toBe(true);
    expect(crib.warnings()).toContainEqual(expect.stringMatching(new RegExp(`"odd" of far.*its ${what} has`)));
    expect(await (await crib.open()).call('odd', {})).toMatchObject({ ok: true });
  });

  it('that has exactly the maximum length is kept', async () => {
    const most = { title: long(500), description: long(16_000), instructions: long(64_000) };
    const crib = await cribWith({ tools: [tool(most) as ToolInput] });
    expect(crib.get('odd')).toMatchObject(most);
    expect(crib.warnings()).toEqual([]);
  });

  it.each(['const', 'default', 'enum'])('under %s is compared with arguments and never cut', async (key) => {
    const value = { description: long(20_000) };
    const path = { [key]: key === 'enum' ? [value] : value };
    const crib = await cribWith({ sources: [listing([tool(inputOf(path))])] });
    expect(crib.get('odd')?.input).toMatchObject(inputOf(path).input);
  });

  it.each(['examples', 'meta'])('in %s of an untrusted source is left out', async (key) => {
    const more = { [key]: key === 'meta' ? { icon: long(1_000_001) } : [{ request: long(1_000_001) }] };
    const crib = await cribWith({ sources: [listing([tool(more)])] });
    expect(crib.get('odd')).not.toHaveProperty(key);
    expect(crib.warnings()).toContainEqual(expect.stringContaining(`its ${key} has`));
  });

  it('in a schema that would then accept other arguments refuses the tool, from any source', async () => {
    const more = inputOf({ enum: Array.from({ length: 1000 }, (_, index) => `${index} ${long(1000)}`) });
    const crib = await cribWith({ sources: [listing([tool(more), tool({ name: 'fine' })])] });
    expect(crib.catalog.specs.map(({ name }) => name)).toEqual(['fine']);
    expect(crib.warnings()).toContainEqual(
      expect.stringContaining('its input schema has more than 1000000 characters'),
    );
  });
});
