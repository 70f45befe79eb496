import { describe, expect, it } from 'vitest';
import type { Crib } from '../../../src/index.ts';
import { startSessions } from './http-servers.ts';
import { cribWith, saidOf, serverOf, stateOf, untilChanged, watchPresence } from './upstream.ts';

const namesOf = (crib: Crib) => crib.catalog.specs.map(({ name }) => name);
const DEAD = { command: 'there-is-no-such-program' };

describe('20. After a server reconnects with other tools every view follows. A selector that matches nothing is reported by `check` and at start.', () => {
  it('a server that restarts with other tools', async () => {
    const presence = await watchPresence();
    const rest = { profiles: { reader: { include: ['w_grown*', 'w_pid'] } } };
    const crib = await cribWith({ w: { mcp: serverOf('modern.ts', [], presence) } }, { rest });
    const reader = await crib.open('reader', {});
    expect(reader.list().map(({ name }) => name)).toEqual(['w_pid']);
    await (await crib.openAll()).call('w_grow');
    await untilChanged(crib, () => namesOf(crib).some((name) => name.startsWith('w_grown')));
    expect(reader.list()).toHaveLength(2);
    process.kill(presence.pids()[0] ?? 0, 'SIGKILL');
    await untilChanged(crib, () => !namesOf(crib).some((name) => name.startsWith('w_grown')));
    expect(reader.list().map(({ name }) => name)).toEqual(['w_pid']);
    expect(stateOf(crib, 'w')).toMatchObject({ state: 'ready' });
  });

  it('a server over HTTP that announces changed tools, or returns with others', async () => {
    const server = await startSessions();
    const crib = await cribWith({ w: { mcp: { url: server.url } } });
    await untilChanged(crib, () => server.requests.some(({ method }) => method === 'GET'));
    const added = untilChanged(crib, () => namesOf(crib).includes('w_new'));
    await server.add('new');
    await added;
    await server.stop();
    server.sessions.clear();
    await server.add('newer');
    await server.start();
    await (await crib.open()).call('w_work');
    await untilChanged(crib, () => namesOf(crib).includes('w_newer'));
  });

  it('a selector for a server that does not have the tool', async () => {
    const rest = { profiles: { reader: { include: ['w_nothing*', 'w_work'] } } };
    const crib = await cribWith({ w: { mcp: serverOf('rough.ts') } }, { rest });
    expect(crib.warnings().join('\n')).toContain('w_nothing*');
  });
});

describe('21. A source that fails to list keeps its last known list (calls answer `unavailable`), or is shown as failed; the rest are listed. A tool that *fails* is never tried on another source.', () => {
  it('a server that is gone keeps its tools, and they answer unavailable', async () => {
    const server = await startSessions();
    const crib = await cribWith(
      { w: { mcp: { url: server.url } }, r: { mcp: serverOf('rough.ts') } },
      { watch: false },
    );
    const chest = await crib.open();
    await server.stop();
    expect(await chest.call('w_work')).toMatchObject({
      error: { code: 'unavailable', message: 'The server of "w_work" cannot be reached; try again later.' },
    });
    await crib.reload();
    expect(namesOf(crib)).toEqual(expect.arrayContaining(['w_work', 'r_work']));
    expect(stateOf(crib, 'w')).toMatchObject({
      state: 'down',
      toolCount: 4,
      reason: expect.stringContaining('ECONNREFUSED'),
    });
    expect(await chest.call('r_work')).toMatchObject({ ok: true });
  });

  it('a server that never answered is shown as failed, and the rest are listed', async () => {
    const crib = await cribWith({ dead: { mcp: DEAD }, r: { mcp: serverOf('rough.ts') } });
    expect(stateOf(crib, 'dead')).toEqual({
      name: 'dead',
      state: 'failed',
      toolCount: 0,
      reason: 'program "there-is-no-such-program" not found in PATH; install it, or write its full path.',
    });
    expect(namesOf(crib)).toContain('r_work');
  });

  it('a tool that fails is not tried on a server with a tool of the same name', async () => {
    const sources = { a: { mcp: serverOf('modern.ts'), prefix: '' }, b: { mcp: serverOf('modern.ts'), prefix: '' } };
    const crib = await cribWith(sources);
    const chest = await crib.open();
    expect(await chest.call('fail')).toMatchObject({ error: { code: 'tool_error' } });
    expect(await chest.call('crash')).toMatchObject({ error: { code: 'unknown_outcome' } });
    expect(crib.catalog.held.map(({ name }) => name)).toContain('fail');
  });
});

describe('47. Circuit breaker per source: a dead server fails fast, is probed, comes back by itself.', () => {
  it('while its neighbour answers', async () => {
    const [server, neighbour] = [await startSessions(), await startSessions()];
    const rest = { extensions: { retry: false, breaker: { failures: 3, openMs: 1 } } };
    const sources = { w: { mcp: { url: server.url } }, n: { mcp: { url: neighbour.url } } };
    const crib = await cribWith(sources, { rest, watch: false });
    const chest = await crib.open();
    await server.stop();
    const asked = server.requests.length;
    const dead = await chest.callAll(Array.from({ length: 20 }, () => ({ name: 'w_work', input: {} })));
    expect(dead.map(({ result }) => saidOf(result))).toEqual(Array(20).fill('unavailable'));
    expect(await chest.call('n_work')).toMatchObject({ ok: true });
    expect(server.requests).toHaveLength(asked);
    await server.start();
    const until = async (): Promise<string> => {
      const said = saidOf(await chest.call('w_work'));
      return said === 'unavailable' ? until() : said; // it is left alone for a while, and then probed by one of these
    };
    expect(await until()).toBe('work done');
  });
});

describe('52. MCP: connections shared as `share` says; opened lazily; initialisation bounded in time; one dead server never delays or hides the others; reconnects and refreshes its list; a call is repeated after a lost connection only if it never reached the server or is idempotent; otherwise its outcome is `unknown_outcome`. Content converted without loss. No child outlives its parent.', () => {
  it('initialisation is bounded in time, and a server that hangs hides no other', async () => {
    const presence = await watchPresence();
    const crib = await cribWith({
      hangs: { mcp: serverOf('rough.ts', ['hangs'], presence), initTimeoutMs: 700 },
      chatters: { mcp: serverOf('rough.ts', ['chatters'], presence), initTimeoutMs: 700 },
      r: { mcp: serverOf('rough.ts', [], presence) },
    });
    expect(stateOf(crib, 'hangs')).toMatchObject({ state: 'failed', reason: 'it did not answer within 700 ms' });
    expect(namesOf(crib)).toContain('r_work');
    await crib.close();
    await presence.left();
  });

  it('a server that never lists its tools does not delay closing', async () => {
    const presence = await watchPresence();
    const crib = await cribWith({ n: { mcp: serverOf('rough.ts', ['never lists'], presence), initTimeoutMs: 3000 } });
    expect(stateOf(crib, 'n')).toMatchObject({ state: 'failed', reason: 'it did not list its tools in time' });
    await crib.close();
    await presence.left();
  });

  it('a server that was killed reconnects automatically while its neighbour answers', async () => {
    const presence = await watchPresence();
    const crib = await cribWith({ a: { mcp: serverOf('rough.ts', [], presence) }, b: { mcp: serverOf('rough.ts') } });
    const chest = await crib.open();
    await presence.arrived(1);
    const pid = saidOf(await chest.call('a_pid'));
    process.kill(Number(pid), 'SIGKILL');
    expect(await chest.call('b_work')).toMatchObject({ ok: true });
    await presence.arrived(2); // no caller has called it
    expect(saidOf(await chest.call('a_pid'))).not.toBe(pid);
    expect(stateOf(crib, 'a')).toMatchObject({ state: 'ready' });
  });

  it('or at the next call, without watching', async () => {
    const presence = await watchPresence();
    const crib = await cribWith({ a: { mcp: serverOf('rough.ts', [], presence) } }, { watch: false });
    const chest = await crib.open();
    expect(await chest.call('a_die')).toMatchObject({ error: { code: 'unknown_outcome', retryable: false } });
    await presence.left();
    expect(await chest.call('a_pid')).toMatchObject({ ok: true });
    await presence.arrived(2);
  });

  it('an idempotent call is repeated after a lost connection, any other is not', async () => {
    const presence = await watchPresence();
    const overrides = { a_die: { effects: { idempotent: true } } };
    const crib = await cribWith({ a: { mcp: serverOf('rough.ts', [], presence), overrides } }, { watch: false });
    const chest = await crib.open();
    expect(await chest.call('a_die', {}, { retries: 1 })).toMatchObject({
      error: { code: 'upstream', retryable: true },
    });
    await presence.arrived(2); // each time it was tried it took a server with it
    await presence.left();
  });

  it('the claims of a server do not make a call repeatable', async () => {
    const presence = await watchPresence();
    const crib = await cribWith({ w: { mcp: serverOf('modern.ts', [], presence) } }, { watch: false });
    expect(await (await crib.open()).call('w_crash')).toMatchObject({ error: { code: 'unknown_outcome' } });
    await presence.left();
  });
});
