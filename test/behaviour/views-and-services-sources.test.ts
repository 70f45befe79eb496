import { describe, expect, it, vi } from 'vitest';
import { createCrib, done, failed, type Source, type ToolInput, toolError } from '../../src/index.ts';

interface Server {
  readonly source: Source;
  /** Lists other tools from now on, or fails to list. */
  list(tools: readonly ToolInput[] | Error): void;
}

function server(name: string, first: readonly ToolInput[]): Server {
  let listed: readonly ToolInput[] | Error = first;
  let announce = () => {};
  return {
    list(tools) {
      listed = tools;
      announce();
    },
    source: {
      name,
      start: async () => ({
        specs() {
          if (listed instanceof Error) throw listed;
          return listed as never; // plain tools, which the crib turns into specs
        },
        onChange(listener) {
          announce = listener;
          return () => {};
        },
        status: () => ({ state: 'ready' }),
        close: async () => {},
      }),
    },
  };
}

function tool(name: string, run: () => unknown = () => name): ToolInput {
  return { name, description: name, run };
}

describe('after a server reconnects with other tools', () => {
  it('every view follows', async () => {
    const remote = server('remote', [tool('old')]);
    const crib = await createCrib({ sources: [remote.source], profiles: { all: {}, some: { include: ['new*'] } } });
    const [all, some] = [await crib.open('all'), await crib.open('some')];
    expect([all.list().length, some.list().length]).toEqual([1, 0]);
    remote.list([tool('new_one'), tool('other')]);
    expect(all.list().map((spec) => spec.name)).toEqual(['new_one', 'other']);
    expect(some.list().map((spec) => spec.name)).toEqual(['new_one']);
  });

  it('a tool that has gone answers unknown_tool and one that came can be called', async () => {
    const remote = server('remote', [tool('old')]);
    const chest = await (await createCrib({ sources: [remote.source] })).open();
    remote.list([tool('new')]);
    expect(await chest.call('old')).toMatchObject({ error: { code: 'unknown_tool' } });
    expect(await chest.call('new')).toMatchObject({ ok: true });
  });

  it('listeners get the added, removed and changed tools', async () => {
    const remote = server('remote', [tool('old'), tool('kept')]);
    const crib = await createCrib({ sources: [remote.source] });
    const heard = Promise.withResolvers<unknown>();
    crib.onChange(heard.resolve);
    remote.list([tool('new'), { ...tool('kept'), description: 'other words' }]);
    expect(await heard.promise).toEqual({ added: ['new'], removed: ['old'], changed: ['kept'] });
  });

  it('a call in flight keeps the tool it began with', async () => {
    const answer = Promise.withResolvers<string>();
    const remote = server('remote', [tool('slow', () => answer.promise)]);
    const chest = await (await createCrib({ sources: [remote.source] })).open();
    const result = chest.call('slow');
    remote.list([]);
    expect(chest.list()).toEqual([]);
    answer.resolve('finished');
    expect(await result).toMatchObject({ content: [{ text: 'finished' }] });
  });
});

describe('a selector that matches nothing', () => {
  it('is reported by check', async () => {
    const crib = await createCrib({ tools: [tool('add')], profiles: { math: { include: ['add', 'sub*'] } } });
    expect(crib.warnings()).toEqual(['Profile "math": include "sub*" matches no tool.']);
  });

  it('is reported by check also where a profile only prefers tools in searches', async () => {
    const search = { pin: ['ad'], boost: ['add'], bury: ['tag:gone'] };
    const crib = await createCrib({ tools: [tool('add')], profiles: { math: { search } } });
    expect(crib.warnings()).toEqual(
      ['pin "ad"', 'bury "tag:gone"'].map((what) => `Profile "math": ${what} matches no tool.`),
    );
  });

  it('is reported at start', async () => {
    const said = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await createCrib({ tools: [tool('add')], profiles: { math: { exclude: ['tag:gone'] } } });
    const messages = said.mock.calls.map(([message]) => message);
    said.mockRestore();
    expect(messages).toEqual(['Profile "math": exclude "tag:gone" matches no tool.']);
  });

  it('is reported no longer once something matches', async () => {
    const crib = await createCrib({ tools: [tool('add')], profiles: { math: { include: ['sub*'] } } });
    crib.register(tool('subtract'));
    expect(crib.warnings()).toEqual([]);
  });
});

describe('a source that fails to list', () => {
  it('keeps its last known list', async () => {
    const remote = server('remote', [tool('kept')]);
    const crib = await createCrib({ sources: [remote.source] });
    const chest = await crib.open();
    remote.list(new Error('connection lost'));
    expect(chest.list().map((spec) => spec.name)).toEqual(['kept']);
    expect(crib.sources()).toContainEqual(
      expect.objectContaining({
        name: 'remote',
        state: 'down',
        toolCount: 1,
        reason: expect.stringContaining('connection lost'),
      }),
    );
  });

  it('is shown as failed if it never had a list, and the rest are listed', async () => {
    const broken: Source = { name: 'broken', start: () => Promise.reject(new Error('no such host')) };
    const crib = await createCrib({ tools: [tool('mine')], sources: [broken, server('fine', [tool('other')]).source] });
    expect(crib.sources()).toContainEqual({
      name: 'broken',
      toolCount: 0,
      state: 'failed',
      reason: expect.stringContaining('no such host'),
    });
    expect(crib.catalog.specs.map((spec) => spec.name)).toEqual(['mine', 'other']);
  });

  it('does not give its names to another source while it is down', async () => {
    const first = server('first', [tool('send', () => 'first')]);
    const second = server('second', [tool('send', () => 'second')]);
    const chest = await (await createCrib({ sources: [first.source, second.source] })).open();
    first.list(new Error('connection lost'));
    expect(await chest.call('send')).toMatchObject({ content: [{ text: 'first' }] });
  });

  it('recovers automatically', async () => {
    const remote = server('remote', [tool('old')]);
    const crib = await createCrib({ sources: [remote.source] });
    remote.list(new Error('connection lost'));
    expect(crib.catalog.get('old')).toBeDefined();
    remote.list([tool('new')]);
    expect(crib.catalog.specs.map((spec) => spec.name)).toEqual(['new']);
    expect(crib.sources()).toContainEqual({ name: 'remote', state: 'ready', toolCount: 1 });
  });
});

describe('a tool that fails', () => {
  it('is never tried on another source', async () => {
    const run = vi.fn(() => done('from the second'));
    const first = server('first', [tool('send', () => failed(toolError('unavailable', 'down')))]);
    const chest = await (
      await createCrib({ sources: [first.source, server('second', [tool('send', run)]).source] })
    ).open();
    expect(await chest.call('send')).toMatchObject({ ok: false, error: { message: 'down' } });
    expect(run).not.toHaveBeenCalled();
  });

  it('leaves a report that names both sources of the name', async () => {
    const sources = [server('first', [tool('send')]).source, server('second', [tool('send')]).source];
    const crib = await createCrib({ sources });
    expect(crib.catalog.held).toMatchObject([{ name: 'send', owner: 'first', heldBack: 'second' }]);
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/"send".*first.*second/));
  });
});
