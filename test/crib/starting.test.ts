import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Crib, createCrib, type ToolResult } from '../../src/index.ts';
import { modernClient, post, request } from '../doors/mcp/clients.ts';
import { serveCrib } from '../doors/mcp/gateway.ts';
import { askThrough, execute } from '../doors/rest/served.ts';
import { cribWith, saidOf, serverOf, stateOf, untilChanged } from '../kinds/mcp/upstream.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { folderWith, namesOf } from './workshop.ts';

/** A busy machine is not a failing test. */
const PATIENCE = { timeout: 30_000 };

const slow = (ms: number) => ({ mcp: { ...serverOf('editable.ts'), env: { DELAY_MS: String(ms), MARK: 'up' } } });
const TOOL = { name: 'here', description: '', run: () => 'here' };

/** A crib with a source that lists nothing before it is let. */
async function starting(options: Parameters<typeof createCrib>[0] = {}) {
  const listed = Promise.withResolvers<void>();
  let specs: readonly object[] = [];
  let isStarting = true;
  let announce = () => {};
  const crib = await createCrib({
    store: { url: 'memory:' },
    sources: [
      {
        name: 'slow',
        start: async () => ({
          specs: () => specs as never, // plain tools, which the crib turns into specs
          onChange(listener: () => void) {
            announce = listener;
            return () => {};
          },
          status: () => ({ state: isStarting ? ('starting' as const) : ('ready' as const) }),
          listed: listed.promise,
          close: async () => {},
        }),
      },
    ],
    ...options,
  });
  onTestFinished(() => crib.close());
  return {
    crib,
    list(...names: readonly string[]) {
      specs = names.map((name) => ({ name, description: '', run: () => name }));
      isStarting = false;
      announce();
      listed.resolve();
    },
  };
}

const NOT_YET = {
  ok: false,
  error: { code: 'unavailable', retryable: true, retryAfterMs: expect.any(Number) },
};

/** The result as text, without the name. */
const words = (result: ToolResult, name: string) => JSON.stringify(result).replaceAll(name, 'NAME');

describe('while a source is in its first start', () => {
  it('an unknown, a hidden and a starting tool get the same answer: try again', async () => {
    const profiles = { one: { include: ['here', 'late'] } };
    const { crib, list } = await starting({ tools: [TOOL, { ...TOOL, name: 'hidden' }], profiles });
    const chest = await crib.open('one', { id: 'alice' });
    const names = ['absent', 'hidden', 'late', 'her'];
    const answers = await Promise.all(names.map(async (name) => words(await chest.call(name), name)));
    expect(new Set(answers).size).toBe(1);
    expect(await chest.call('absent')).toMatchObject(NOT_YET);
    expect(await chest.call('here')).toMatchObject({ ok: true });
    list('late');
    expect(await chest.call('late')).toMatchObject({ ok: true });
    for (const name of ['absent', 'hidden', 'her'])
      expect(await chest.call(name)).toMatchObject({ error: { code: 'unknown_tool', retryable: false } });
  });

  it('call_tool gives the same answer', async () => {
    const { crib } = await starting({ profiles: { one: { expose: 'search' } } });
    const chest = await crib.open('one');
    expect(await chest.call('call_tool', { name: 'absent', arguments: {} })).toMatchObject(NOT_YET);
  });

  it('REST answers 503 with a time to retry, and MCP with a text that a model can read', async () => {
    const { crib } = await starting();
    const gateway = await serveCrib(crib);
    const ask = askThrough((asked) => fetch(asked), gateway.url().replace(/\/mcp$/, ''));
    const heard = await execute(ask, 'absent', {});
    expect(heard).toMatchObject({ status: 503, json: NOT_YET });
    expect(heard.headers.get('retry-after')).toBe('1');
    expect(await ask('/api/tools/absent')).toMatchObject({ status: 503, json: NOT_YET });
    const { messages } = await post(gateway.url(), request('tools/call', { name: 'absent', arguments: {} }));
    expect(messages[0]?.result).toMatchObject({ isError: true });
  });

  it('the first start ends after ten minutes, whatever the source reports', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { crib } = await starting();
    const chest = await crib.open();
    vi.advanceTimersByTime(599_000);
    expect(await chest.call('absent')).toMatchObject(NOT_YET);
    vi.advanceTimersByTime(2000);
    expect(await chest.call('absent')).toMatchObject({ error: { code: 'unknown_tool' } });
  });

  it('a real server: its tool answers "try again" until it is there, and never unknown_tool', async () => {
    const crib = await cribWith({ s: slow(1500) }, { background: true });
    const chest = await crib.open();
    const codes = new Set<string>();
    await expect
      .poll(async () => {
        const said = saidOf(await chest.call('s_mark'));
        codes.add(said);
        return said;
      }, PATIENCE)
      .toBe('up');
    expect([...codes].sort()).toEqual(['unavailable', 'up']);
    expect(saidOf(await chest.call('s_absent'))).toBe('unknown_tool');
  });

  it('a failed source reserves no names', async () => {
    const crib = await cribWith({ s: { mcp: serverOf('rough.ts', ['exits']) } }, { background: true });
    const chest = await crib.open();
    await expect.poll(() => stateOf(crib, 's')?.state, PATIENCE).toBe('failed');
    expect(saidOf(await chest.call('absent'))).toBe('unknown_tool');
  });

  it('a stored list counts at once', async () => {
    const store = { url: `sqlite:${join(temporaryFolder(), 'crib.db')}` };
    const sources = { s: { mcp: serverOf('editable.ts') } };
    await (await cribWith(sources, { store, watch: false })).close();
    const crib = await cribWith(sources, { store, watch: false, background: true });
    expect(namesOf(crib)).toContain('s_mark');
    expect(stateOf(crib, 's')).toMatchObject({ state: 'ready' });
    expect(saidOf(await (await crib.open()).call('absent'))).toBe('unknown_tool');
  });
});

describe('tools/list while a source is in its first start', () => {
  it('waits for the list', async () => {
    const { crib, list } = await starting();
    const gateway = await serveCrib(crib);
    const waits = vi.spyOn(crib.server, 'listed');
    const asked = (await modernClient(gateway.url())).listTools();
    await vi.waitFor(() => expect(waits).toHaveBeenCalled(), PATIENCE);
    list('late');
    expect((await asked).tools.map(({ name }) => name)).toEqual(['late']);
  });

  it('lists the known tools after five seconds with a short lifetime, and announces the rest', async () => {
    const { crib, list } = await starting({ tools: [TOOL] });
    const gateway = await serveCrib(crib);
    const changed = Promise.withResolvers<void>();
    const client = await modernClient(gateway.url());
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
    const subscription = await client.listen({ toolsListChanged: true });
    const first = await client.listTools();
    expect(first.tools.map(({ name }) => name)).toEqual(['here']);
    expect((first as { readonly ttlMs?: number }).ttlMs).toBeLessThanOrEqual(1000); // of the newest revision
    list('late');
    await changed.promise;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['here', 'late']);
    await subscription.close();
  });
});

describe('warnings about selectors', () => {
  /** The warnings emitted during the work. */
  async function warningsOf(work: () => Promise<Crib>) {
    const said: string[] = [];
    const listen = (warning: Error) => void said.push(warning.message);
    process.on('warning', listen);
    onTestFinished(() => void process.off('warning', listen));
    return { crib: await work(), said };
  }

  it('are printed once all lists are there, and not before', async () => {
    const profiles = { one: { include: ['late', 'never'], approve: ['*_wipe'] } };
    const scene = Promise.withResolvers<Awaited<ReturnType<typeof starting>>>();
    const { crib, said } = await warningsOf(async () => {
      scene.resolve(await starting({ profiles }));
      return (await scene.promise).crib;
    });
    await new Promise(setImmediate);
    expect(said.filter((text) => text.includes('matches no tool'))).toEqual([]);
    expect(crib.warnings()).toEqual([]);
    (await scene.promise).list('late');
    await vi.waitFor(
      () =>
        expect(said.filter((text) => text.includes('matches no tool'))).toEqual([
          'Profile "one": include "never" matches no tool.',
          'Profile "one": approve "*_wipe" matches no tool.',
        ]),
      PATIENCE,
    );
  });

  it('are not printed if a server brings the matching tools', async () => {
    const profiles = { one: { approve: ['*_wipe'], include: ['s_mark', 's_wipe'] } };
    const { crib, said } = await warningsOf(() => cribWith({ s: slow(300) }, { background: true, rest: { profiles } }));
    await untilChanged(crib, () => namesOf(crib).includes('s_mark'));
    await new Promise(setImmediate);
    expect(said.filter((text) => text.includes('matches no tool'))).toEqual([]);
  });
});

it('a folder without a server starts as before', async () => {
  const crib = await createCrib({ configFile: folderWith({ 'toolcrib.yaml': '{}' }), store: { url: 'memory:' } });
  onTestFinished(() => crib.close());
  expect(saidOf(await (await crib.open()).call('absent'))).toBe('unknown_tool');
});
