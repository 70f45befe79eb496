import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWorkshop, type Workshop } from '../doors/cli/workshop.ts';
import { serverOf } from '../kinds/mcp/upstream.ts';

/** A busy machine is not a failing test. */
const PATIENCE = { timeout: 30_000 };

const TOKEN = 'the-operator-token-of-this-test';
const CLIENTS = 8;

type Fields = Readonly<Record<string, unknown>>;

/** A configuration with one server, as text. */
const config = (entry: Fields | undefined, rest: Fields = {}) =>
  JSON.stringify({ sources: entry === undefined ? {} : { st: entry }, ...rest });
const server = (env: Fields, more: Fields = {}) => ({ mcp: { ...serverOf('editable.ts'), env }, ...more });

interface Answered {
  readonly code: string;
  readonly text: string;
}

interface RestAnswer {
  readonly status: string;
  readonly error?: { readonly code: string };
  readonly content?: readonly { readonly text?: string }[];
}

interface Running {
  readonly shop: Workshop;
  readonly url: string;
  call(tool?: string): Promise<Answered>;
  source(): Promise<Fields | undefined>;
}

/** The real command over this configuration, once its server has a list. */
async function serve(text: string): Promise<Running> {
  const shop = createWorkshop({ 'toolcrib.yaml': text });
  onTestFinished(shop.remove);
  const child = shop.start(['serve', '--port', '0'], { env: { TOOLCRIB_OPERATOR_TOKEN: TOKEN } });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error(`it ended: ${said}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      const [, found] = /listens on (\S+)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const call = async (tool = 'st_mark'): Promise<Answered> => {
    const response = await fetch(`${url}/api/tools/execute/${tool}`, { method: 'POST', headers, body: '{}' });
    const answer = (await response.json()) as RestAnswer; // as it is documented
    return { code: answer.error?.code ?? answer.status, text: answer.content?.[0]?.text ?? '' };
  };
  const source = async () => {
    const response = await fetch(`${url}/api/sources`, { headers });
    const { sources } = (await response.json()) as { readonly sources: readonly Fields[] }; // as it is documented
    return sources.find(({ name }) => name === 'st');
  };
  await expect.poll(async () => (await source())?.state, PATIENCE).toBe('ready');
  return { shop, url, call, source };
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((all, one) => all + one, 0);

/** Clients that call without a pause until they are told to stop. */
function load({ call }: Running) {
  let isOver = false;
  const codes = new Map<string, number>();
  const client = async (): Promise<void> => {
    while (!isOver) {
      const { code } = await call();
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  return async () => {
    await expect.poll(() => sum(codes.values()), PATIENCE).toBeGreaterThan(CLIENTS); // an edit may be quicker than they are
    isOver = true;
    await Promise.all(clients);
    return Object.fromEntries(codes);
  };
}

interface Edit {
  readonly to: string;
  /** Holds once the edit has its effect. */
  isDone(running: Running): Promise<boolean>;
}

const FIRST = server({ MARK: 'first' });
const marked = (mark: string) => async (running: Running) => (await running.call()).text === mark;
const stated = (state: string) => async (running: Running) => (await running.source())?.state === state;

describe('eight clients under load while an entry is edited', () => {
  const EDITS: readonly (readonly [string, Edit])[] = [
    ['another value in env', { to: config(server({ MARK: 'second' })), isDone: marked('second') }],
    [
      'a server that takes three seconds to start',
      { to: config(server({ MARK: 'slow', DELAY_MS: '3000' })), isDone: marked('slow') },
    ],
    [
      'a command with a typing mistake',
      { to: config({ mcp: { command: 'no-such-program-here', args: [] } }), isDone: stated('stale') },
    ],
    [
      'a key with a typing mistake',
      { to: config({ ...FIRST, mcp: { ...FIRST.mcp, comand: 'x' } }), isDone: stated('stale') },
    ],
    [
      'a server that ends at once',
      {
        to: config({ mcp: { command: process.execPath, args: ['-e', 'process.exit(1)'] } }),
        isDone: async (running) => /does not work/.test(String((await running.source())?.reason)),
      },
    ],
    [
      'overrides',
      {
        to: config({ ...FIRST, overrides: { st_pid: { policy: { approval: 'always' } } } }),
        isDone: async (running) => (await running.call('st_pid')).code === 'waiting',
      },
    ],
  ];

  it.each(EDITS)('%s: every call is done, and no call gets unknown_tool', async (_, { to, isDone }) => {
    const running = await serve(config(FIRST));
    const stop = load(running);
    running.shop.write('toolcrib.yaml', to);
    await expect.poll(() => isDone(running), PATIENCE).toBe(true);
    const codes = await stop();
    expect(codes).toEqual({ done: expect.any(Number) });
    expect(codes.done).toBeGreaterThan(CLIENTS);
  });

  it('a removed entry ends, and its tools are gone', async () => {
    const running = await serve(config(FIRST));
    const stop = load(running);
    running.shop.write('toolcrib.yaml', config(undefined));
    await expect.poll(async () => (await running.call()).code, PATIENCE).toBe('unknown_tool');
    const codes = await stop();
    expect(Object.keys(codes).filter((code) => !['done', 'unknown_tool'].includes(code))).toEqual([]);
    expect(await running.source()).toBeUndefined();
  });
});

describe('an entry that a running server does not use', () => {
  it('is stale in sources, readyz and check, with the reason and the time', async () => {
    const { shop, url, source } = await serve(config(FIRST));
    const begun = Date.now();
    shop.write('toolcrib.yaml', config({ mcp: { command: 'no-such-program-here', args: [] } }));
    await expect.poll(async () => (await source())?.reason, PATIENCE).toMatch(/does not work: .*no-such-program-here/);
    const shown = await source();
    expect(shown).toMatchObject({ state: 'stale', toolCount: 3 });
    const since = Date.parse(String(shown?.since));
    expect(Math.abs(since - begun)).toBeLessThan(60_000);

    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { ok: true, stale: [{ since: shown?.since }] }]);
    const asOperator = await fetch(`${url}/readyz`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await asOperator.json()).toEqual({
      ok: true,
      stale: [{ name: 'st', since: shown?.since, reason: shown?.reason }],
    });

    const env = { TOOLCRIB_OPERATOR_TOKEN: TOKEN };
    const listed = await shop.run(['sources'], { env });
    expect(listed.stdout).toMatch(/st\s+stale/);
    expect(listed.stdout).toContain(String(shown?.since));
    const checked = await shop.run(['check', '--json'], { env });
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      ok: false,
      sources: [{ name: 'st', state: 'stale', since: shown?.since }],
    });
    shop.write('toolcrib.yaml', config(FIRST));
    await expect.poll(async () => (await source())?.state, PATIENCE).toBe('ready');
  });
});
