import { describe, expect, it } from 'vitest';
import type { KeptListPort, StoredList } from '../../src/core/ports/store.ts';
import { RUN } from '../../src/core/tool-spec.ts';
import type { SourceContext } from '../../src/index.ts';
import { http } from '../../src/sources/http-list.ts';
import { startServer, type TestServer } from './http-server.ts';

const entry = (name: string) => ({
  name,
  description: name,
  run: { kind: 'http', url: `https://example.com/${name}` },
});
const listOf = (...names: readonly string[]) => ({ tools: names.map(entry) });
const NOT_FOUND = (server: TestServer) => server.answer((_, response) => void response.writeHead(503).end());

interface Keeping extends KeptListPort {
  list: StoredList | undefined;
  puts: number;
}

/** A place for one list. */
function keeping(list?: StoredList): Keeping {
  return {
    list,
    puts: 0,
    async get() {
      return this.list;
    },
    async put(next) {
      this.list = structuredClone(next);
      this.puts++;
    },
  };
}

interface Told extends SourceContext {
  readonly warnings: readonly string[];
  /** Lets every timer end. */
  endTimers(): void;
}

function told(): Told {
  const warnings: string[] = [];
  const timers: (() => void)[] = [];
  return {
    warnings,
    endTimers: () => timers.splice(0).forEach((end) => void end()),
    clock: {
      now: () => 1234.5,
      setTimer: (_, task) => {
        timers.push(task);
        return () => {};
      },
    },
    services: {},
    signal: new AbortController().signal,
    warn: (message) => void warnings.push(message),
  };
}

async function start(server: TestServer, kept: KeptListPort, context: SourceContext = told()) {
  const live = await http({ name: 'team', url: server.url, kept }).start(context);
  return { live, names: live.specs().map((spec) => spec.name) };
}

describe('the last list of an address', () => {
  it('is stored as it came, with its ETag', async () => {
    const server = await startServer();
    const tools = [entry('a'), { name: 'bad' }, 'no entry', { tool_type: 'http', ...entry('older'), run: undefined }];
    server.give({ tools }, { etag: '"one"', 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT' });
    const kept = keeping();
    const { live, names } = await start(server, kept);
    await live.close();
    expect(names).toEqual(['a', 'older']);
    expect(kept.list).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      specs: [entry('a'), { name: 'bad' }, { tool_type: 'http', name: 'older', description: 'older' }],
      at: 1235,
      about: { validators: { 'if-none-match': '"one"', 'if-modified-since': 'Wed, 21 Oct 2015 07:28:00 GMT' } },
    });
  });

  it('is requested with its ETag at the next start, and an unchanged list is the stored one', async () => {
    const server = await startServer();
    server.give(listOf('a'), { etag: '"one"' });
    const kept = keeping();
    await (await start(server, kept)).live.close();
    server.answer((_, response) => void response.writeHead(304).end());
    const { live, names } = await start(server, kept);
    expect(server.requests.at(-1)?.headers['if-none-match']).toBe('"one"');
    expect([names, live.status()]).toEqual([['a'], { state: 'ready' }]);
    await live.close();
    expect(kept.puts).toBe(1);
  });

  it('is not stored again while it is the same, and is if it differs', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    const kept = keeping();
    const { live } = await start(server, kept);
    await live.refresh?.();
    server.give(listOf('b'));
    await live.refresh?.();
    await live.close();
    expect([kept.puts, kept.list?.specs]).toEqual([2, [entry('b')]]);
  });

  it('is used by a start that cannot fetch it, until it can', async () => {
    const server = await startServer();
    server.give(listOf('a', 'b'));
    const kept = keeping();
    await (await start(server, kept)).live.close();
    NOT_FOUND(server);
    const context = told();
    const { live, names } = await start(server, kept, context);
    const reason = `${server.host} answered with status 503. The tools of the last list are shown, but cannot be called.`;
    expect([names, live.status()]).toEqual([['a', 'b'], { state: 'down', reason }]);
    const shown = live.specs();
    await live.refresh?.();
    expect(live.specs()).toBe(shown);
    expect(context.warnings).toEqual([`team: ${reason}`]);
    let changes = 0;
    live.onChange(() => void changes++);
    server.give(listOf('a', 'b'));
    await live.refresh?.();
    expect([live.status(), changes]).toEqual([{ state: 'ready' }, 1]);
    expect(live.specs()[0]?.[RUN]).toEqual(entry('a').run);
    await live.close();
    expect(kept.puts).toBe(1);
  });

  it('stays callable if it was fetched once in this process', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    const { live } = await start(server, keeping());
    const before = live.specs();
    NOT_FOUND(server);
    await live.refresh?.();
    expect(live.specs()).toBe(before);
    expect(live.status()).toEqual({ state: 'down', reason: `${server.host} answered with status 503.` });
    await live.close();
  });
});

describe('a store that misbehaves', () => {
  it('and never answers delays no start for long', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    const context = told();
    const never: KeptListPort = { get: () => new Promise(() => {}), put: () => new Promise(() => {}) };
    const starting = start(server, never, context);
    context.endTimers();
    const { live, names } = await starting;
    await live.close(); // nothing is waited for
    expect(names).toEqual(['a']);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no disk'))],
    [
      'throws',
      () => {
        throw new Error('no disk');
      },
    ],
  ])('and %s only loses the stored list', async (_, fail) => {
    const server = await startServer();
    server.give(listOf('a'));
    const context = told();
    const { live, names } = await start(server, { get: fail, put: fail }, context);
    await live.close();
    expect([names, live.status()]).toEqual([['a'], { state: 'ready' }]);
    expect(context.warnings).toEqual(['team: the last list cannot be read from the store: no disk']);
  });

  it('and cannot be written only loses the stored list, and is tried again with the next list', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    const context = told();
    const kept = keeping();
    let tries = 0;
    const put: KeptListPort['put'] = (list) => (++tries === 1 ? Promise.reject(new Error('no disk')) : kept.put(list));
    const { live, names } = await start(server, { get: () => kept.get(), put }, context);
    server.give(listOf('b'));
    await live.refresh?.();
    await live.close();
    expect([names, live.status()]).toEqual([['a'], { state: 'ready' }]);
    expect(context.warnings).toEqual(['team: the last list cannot be written to the store: no disk']);
    expect(kept.list?.specs).toEqual([entry('b')]);
  });

  it.each<[string, unknown]>([
    ['no list', { hash: 'x', specs: 'none', at: 1 }],
    ['no hash', { specs: [entry('evil')], at: 1 }],
    [
      'other headers',
      { hash: 'x', specs: [], at: 1, about: { validators: { authorization: 'x', 'if-none-match': 5 } } },
    ],
    ['broken headers', { hash: 'x', specs: [], at: 1, about: { validators: { 'if-none-match': '"a"\r\nx: y' } } }],
    ['anything', { hash: 'x', specs: [null, 5, [], { name: 'bad' }], at: Number.NaN, about: 7 }],
  ])('and contains %s breaks neither the request nor the list', async (_, list) => {
    const server = await startServer();
    server.give(listOf('a'));
    const { live, names } = await start(server, keeping(list as StoredList));
    await live.close();
    expect([names, live.status()]).toEqual([['a'], { state: 'ready' }]);
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(server.requests[0]?.headers).not.toHaveProperty('if-none-match');
  });

  it('and contains bad entries has them reported, and the good ones shown', async () => {
    const server = await startServer();
    NOT_FOUND(server);
    const specs = [entry('good'), { name: 'bad' }] as never;
    const context = told();
    const { live, names } = await start(server, keeping({ hash: 'x', specs, at: 1 }), context);
    await live.close();
    expect([names, live.status().state]).toEqual([['good'], 'down']);
    expect(context.warnings).toContainEqual(
      expect.stringContaining('team: The last list, tools[1]: Tool "bad" has no run'),
    );
  });
});
