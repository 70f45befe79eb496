import { describe, expect, it, vi } from 'vitest';
import {
  type Chest,
  type CribOptions,
  createCrib,
  defineBundle,
  defineExtension,
  done,
  type Executor,
  type ProfileInput,
  type Source,
  type ToolCall,
  type ToolInput,
} from '../../src/index.ts';

const KINDS: Executor = { kind: 'echo', runSchema: {}, execute: () => done('echo') };
const REMOTE: Source = {
  name: 'server_x',
  trust: true,
  start: async () => ({
    specs: () => [defined('x_one', { tags: ['read'] }), defined('x_two')],
    onChange: () => () => {},
    status: () => ({ state: 'ready' }),
    close: async () => {},
  }),
};

function plain(name: string, more: Partial<ToolInput> = {}): ToolInput {
  return { name, description: name, run: () => name, ...more } as ToolInput; // a plain tool with some fields replaced
}

function defined(name: string, more: Partial<ToolInput> = {}) {
  return plain(name, more) as never; // a source may list plain tools; the crib makes specs of them
}

async function openUnder(profile: ProfileInput, options: CribOptions): Promise<Chest> {
  const crib = await createCrib({ profiles: { only: profile }, ...options });
  return crib.open('only');
}

async function namesUnder(profile: ProfileInput): Promise<readonly string[]> {
  const chest = await openUnder(profile, {
    tools: [
      plain('read_file', { tags: ['read', 'files'], category: 'disk' }),
      plain('write_file', { tags: ['files'], effects: { destructive: true }, meta: { slow: true } }),
      plain('say', { run: { kind: 'echo' } }),
    ],
    bundles: [defineBundle({ name: 'web', tools: [plain('fetch_page', { title: 'Get a page' })] })],
    sources: [REMOTE],
    executors: [KINDS],
  });
  return chest.list().map((spec) => spec.name);
}

describe('views', () => {
  it('keep catalog order, whatever the order of the selectors', async () => {
    const names = await namesUnder({ include: ['x_two', 'fetch_page', 'say', 'read_file'] });
    expect(names).toEqual(['read_file', 'say', 'fetch_page', 'x_two']);
  });

  it('do not list an excluded tool, and the rest is untouched', async () => {
    expect(await namesUnder({ exclude: ['write_*', 'source:server_x'] })).toEqual(['read_file', 'say', 'fetch_page']);
  });

  it('answer unknown_tool for an excluded tool, and the executor is not reached', async () => {
    const run = vi.fn();
    const chest = await openUnder({ exclude: ['hidden'] }, { tools: [plain('hidden', { run })] });
    expect(await chest.call('hidden')).toMatchObject({ ok: false, error: { code: 'unknown_tool' } });
    expect(run).not.toHaveBeenCalled();
  });

  it('answer for a hidden tool with the same words as for one that does not exist', async () => {
    const chest = await openUnder({ exclude: ['hidden'] }, { tools: [plain('hidden'), plain('shown')] });
    const { error: forHidden } = (await chest.call('hidden')) as { error?: { message: string } };
    const { error: forAbsent } = (await chest.call('absent')) as { error?: { message: string } };
    expect(forHidden?.message.replace('hidden', 'NAME')).toBe(forAbsent?.message.replace('absent', 'NAME'));
  });

  it('record the attempt to call an excluded tool', async () => {
    const onEnd = vi.fn();
    const chest = await openUnder(
      { exclude: ['hidden'] },
      { tools: [plain('hidden')], extensions: [defineExtension({ name: 'record', onEnd })] },
    );
    await chest.call('hidden');
    const [call, result] = onEnd.mock.calls[0] ?? [];
    expect([onEnd.mock.calls.length, call.spec.name, result.error.code]).toEqual([1, 'hidden', 'unknown_tool']);
  });

  it('do not let another tool of the same name replace a hidden one', async () => {
    const run = vi.fn();
    const namesake: Source = {
      ...REMOTE,
      start: async () => ({ ...(await REMOTE.start({} as never)), specs: () => [defined('send', { run })] }),
    };
    const chest = await openUnder({ exclude: ['source:code'] }, { tools: [plain('send')], sources: [namesake] });
    expect(await chest.call('send')).toMatchObject({ error: { code: 'unknown_tool' } });
    expect(run).not.toHaveBeenCalled();
  });

  it.each<[string, ProfileInput['include'], readonly string[]]>([
    ['name', ['say'], ['say']],
    ['glob', ['*_file'], ['read_file', 'write_file']],
    ['a glob of single characters', ['x_t??'], ['x_two']],
    ['tag', ['tag:read'], ['read_file', 'x_one']],
    ['bundle', ['bundle:web'], ['fetch_page']],
    ['source', ['source:server_x'], ['x_one', 'x_two']],
    ['category', ['category:disk'], ['read_file']],
    ['kind', ['kind:echo'], ['say']],
    ['one name in the place of a list', 'say', ['say']],
    ['criteria, all of which must hold', [{ source: 'code', tags: ['files'], destructive: true }], ['write_file']],
    ['a boolean of meta', [{ slow: true }], ['write_file']],
    ['a word of the title', [{ text: 'get PAGE' }], ['fetch_page']],
    ['nothing at all', [], []],
  ])('select by %s', async (_, include, expected) => {
    expect(await namesUnder({ ...(include !== undefined && { include }) })).toEqual(expected);
  });

  it('can say "all local tools and only server X"', async () => {
    const other: Source = { ...REMOTE, name: 'server_y' };
    const chest = await openUnder(
      { include: ['source:code', 'source:server_x'] },
      {
        tools: [plain('local')],
        sources: [
          REMOTE,
          { ...other, start: async () => ({ ...(await REMOTE.start({} as never)), specs: () => [defined('y')] }) },
        ],
      },
    );
    expect(chest.list().map((spec) => spec.name)).toEqual(['local', 'x_one', 'x_two']);
  });

  it('are explained: which selector shows a tool, and which hides it', async () => {
    const crib = await createCrib({
      tools: [plain('shown'), plain('hidden')],
      profiles: { only: { include: ['shown', 'hid*'], exclude: ['hidden'] } },
    });
    expect(crib.explain({}, 'only', 'shown')).toMatchObject({ visible: true, reasons: ['included by "shown"'] });
    expect(crib.explain({}, 'only', 'hidden')).toMatchObject({ visible: false, reasons: ['excluded by "hidden"'] });
  });
});

describe('services', () => {
  const clock = { now: () => 7 };
  const settled = async (needs: ToolInput, options: CribOptions = {}, input: unknown = {}) => {
    const crib = await createCrib({ tools: [needs], services: { clock, secret: 'hidden' }, ...options });
    return (await crib.open()).call('tool', input);
  };

  it('reach tools that declare them, by identity', async () => {
    const run = vi.fn((_: unknown, call: ToolCall) => call.services.clock === clock);
    expect(await settled(plain('tool', { needs: 'clock', run }))).toMatchObject({ data: true });
  });

  it('never reach other tools', async () => {
    const run = (_: unknown, call: ToolCall) => Object.keys(call.services);
    expect(await settled(plain('tool', { needs: ['clock'], run }))).toMatchObject({ data: ['clock'] });
    expect(await settled(plain('tool', { run }))).toMatchObject({ data: [] });
  });

  it('cannot be overwritten by arguments chosen by a model', async () => {
    const run = (_: unknown, call: ToolCall) => call.services.clock === clock;
    const input = { clock: 'mine', services: { clock: 'mine' }, needs: [] };
    expect(await settled(plain('tool', { needs: 'clock', run }), {}, input)).toMatchObject({ data: true });
  });

  it('that are missing give an error naming tool and service, and the function does not run', async () => {
    const run = vi.fn();
    const result = await settled(plain('tool', { needs: ['clock', 'mailer'], run }));
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'unavailable', message: expect.stringMatching(/"tool".*"mailer"/) },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('with a question mark reach the tool if they exist, and it runs without them', async () => {
    const run = (_: unknown, call: ToolCall) => Object.keys(call.services);
    const needs = ['clock?', 'mailer?', 'setting:units?'];
    expect(await settled(plain('tool', { needs, run }))).toMatchObject({ data: ['clock'] });
    const crib = await createCrib({ tools: [plain('tool', { needs, run })] });
    expect(crib.warnings()).toEqual([]);
    expect(await (await crib.open()).call('tool')).toMatchObject({ ok: true, data: [] });
  });

  it('that are missing are reported at start', async () => {
    const crib = await createCrib({ tools: [plain('tool', { needs: 'mailer' })] });
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/"tool".*"mailer"/));
  });

  it('do not include inherited members of objects', async () => {
    const run = vi.fn();
    expect(await settled(plain('tool', { needs: 'constructor', run }))).toMatchObject({
      error: { code: 'unavailable' },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('and settings: a missing setting gives an error naming tool and setting, and the function is not run', async () => {
    const run = vi.fn();
    const result = await settled(plain('tool', { needs: 'setting:calendar', run }));
    expect(result).toMatchObject({
      error: { code: 'unavailable', message: expect.stringMatching(/"tool".*"calendar"/) },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it("and settings: the profile's settings reach the tool", async () => {
    const run = (_: unknown, call: ToolCall) => call.settings.calendar;
    const profiles = { default: { settings: { calendar: { id: 'family' } } } };
    expect(await settled(plain('tool', { needs: 'setting:calendar', run }), { profiles })).toMatchObject({
      data: { id: 'family' },
    });
  });
});

describe('nested calls', () => {
  const outer = (name: string) => plain('outer', { run: (_: unknown, call: ToolCall) => call.tools.call(name, {}) });

  it("see their caller's chest", async () => {
    const chest = await openUnder({}, { tools: [outer('inner'), plain('inner', { run: () => 'from inside' })] });
    expect(await chest.call('outer')).toMatchObject({ ok: true, content: [{ text: 'from inside' }] });
  });

  it('do not leave the view they started in', async () => {
    const run = vi.fn();
    const chest = await openUnder({ exclude: ['inner'] }, { tools: [outer('inner'), plain('inner', { run })] });
    expect(await chest.call('outer')).toMatchObject({ error: { code: 'unknown_tool' } });
    expect(run).not.toHaveBeenCalled();
  });

  it('list and search the tools that the caller sees, and no more', async () => {
    const run = async (_: unknown, call: ToolCall) => [
      call.tools.list().map((spec) => spec.name),
      (await call.tools.search('inner', { limit: 50 })).filter((hit) => hit.name === 'inner'),
    ];
    const chest = await openUnder({ exclude: ['inner'] }, { tools: [plain('outer', { run }), plain('inner')] });
    expect(await chest.call('outer')).toMatchObject({ data: [['outer'], []] });
  });

  it('are made by the same caller, in the same conversation, through the same door', async () => {
    const inner = plain('inner', {
      run: (_: unknown, call: ToolCall) => [call.caller.id, call.conversation, call.turn, call.timeZone, call.door],
    });
    const crib = await createCrib({ tools: [outer('inner'), inner] });
    const chest = await crib.open(undefined, { id: 'alice' });
    const options = { conversation: 'c', turn: 't', timeZone: 'Europe/Berlin', door: 'cli' };
    expect(await chest.call('outer', {}, options)).toMatchObject({ data: ['alice', 'c', 't', 'Europe/Berlin', 'cli'] });
  });

  it('are refused if they call themselves without end', async () => {
    const chest = await openUnder({}, { tools: [outer('outer')] });
    expect(await chest.call('outer')).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('16') },
    });
  });
});
