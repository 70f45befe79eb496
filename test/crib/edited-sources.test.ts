import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Crib } from '../../src/index.ts';
import { saidOf, serverOf, stateOf, watchPresence } from '../kinds/mcp/upstream.ts';
import { startServer } from '../sources/http-server.ts';
import { cribOf, folderWith, namesOf, write } from './workshop.ts';

/** A busy machine is not a failing test. */
const PATIENCE = { timeout: 30_000 };

type Fields = Readonly<Record<string, unknown>>;

const yaml = (value: Fields) => JSON.stringify(value);
const server = (env: Fields, more: Fields = {}) => ({ mcp: { ...serverOf('editable.ts'), env }, ...more });
const JSON_TYPE = { 'content-type': 'application/json' };
const BROKEN = { mcp: { command: 'no-such-program-here', args: [] } };
// biome-ignore lint/suspicious/noTemplateCurlyInString: so are secrets written
const SECRET = '${secret:key}';

/** A crib over one entry, and a way to edit it. */
async function editable(entry: Fields, rest: Fields = {}, files: Readonly<Record<string, string>> = {}) {
  const text = (next: Fields | undefined, more: Fields) =>
    yaml({ sources: next === undefined ? {} : { s: next }, ...more });
  const folder = folderWith({ ...files, 'toolcrib.yaml': text(entry, rest) });
  const crib = await cribOf(folder, { watch: false });
  const chest = await crib.open(undefined, { id: 'alice' });
  return {
    crib,
    chest,
    folder,
    say: async (tool: string) => saidOf(await chest.call(tool)),
    async edit(next: Fields | undefined, more: Fields = rest) {
      write(folder, { 'toolcrib.yaml': text(next, more) });
      await crib.reload();
      return stateOf(crib, 's');
    },
  };
}

describe('an edited entry that does not work', () => {
  const MISTAKES: readonly (readonly [string, Fields, RegExp])[] = [
    ['a program that is not there', BROKEN, /no-such-program-here/],
    ['a server that ends', { mcp: { command: process.execPath, args: ['-e', ''] } }, /does not work/],
    ['a variable that is not set', server({ MARK: '$'.concat('{NOT_SET_ANYWHERE}') }), /NOT_SET_ANYWHERE/],
    ['a key that is not one', { ...server({}), prefx: 'x' }, /prefix/],
    ['a secret that is not declared', server({ MARK: '$'.concat('{secret:kye}') }), /kye/],
  ];

  it.each(MISTAKES)('%s: the old connection answers, and the source is stale', async (_, entry, reason) => {
    const { say, edit } = await editable(server({ MARK: 'first' }));
    const pid = await say('s_pid');
    const state = await edit(entry);
    expect(state).toMatchObject({ state: 'stale', reason: expect.stringMatching(reason), toolCount: 3 });
    expect(state?.since).toBeLessThanOrEqual(Date.now() + 1000);
    expect([await say('s_mark'), await say('s_pid')]).toEqual(['first', pid]);
    expect(await edit(entry)).toEqual(state); // since when does not move
    expect(await edit(server({ MARK: 'first' }))).toEqual({ name: 's', state: 'ready', toolCount: 3 });
    expect(await say('s_pid')).toBe(pid);
  });

  it('is used as soon as it works', async () => {
    const { say, edit, crib } = await editable(server({ MARK: 'first' }));
    const upstream = await startServer((_request, response) => void response.writeHead(503).end());
    await edit({ mcp: { url: `http://${upstream.host}/mcp` } });
    expect(stateOf(crib, 's')).toMatchObject({ state: 'stale' });
    await edit(server({ MARK: 'second' }));
    expect(await say('s_mark')).toBe('second');
    expect(stateOf(crib, 's')).toEqual({ name: 's', state: 'ready', toolCount: 3 });
  });

  it('leaves no process behind, neither its own nor the old one', async () => {
    const presence = await watchPresence();
    const PRESENCE = presence.path;
    const { edit, say } = await editable(server({ MARK: 'first', PRESENCE }));
    await say('s_mark');
    await edit(server({ MARK: 'second', PRESENCE }));
    await say('s_mark');
    await edit(BROKEN);
    await edit(undefined);
    await presence.left();
  });
});

describe('while the old connection answers', () => {
  it.each<[string, Fields, (crib: Crib) => unknown, unknown]>([
    [
      'overrides',
      { overrides: { s_mark: { description: 'Corrected' } } },
      (crib) => crib.get('s_mark')?.description,
      'Corrected',
    ],
    ['prefix', { prefix: 'x' }, namesOf, ['x_mark', 'x_pid', 'x_wipe']],
    ['bundle', { bundle: 'mine' }, (crib) => crib.bundles.get('mine')?.members.length, 3],
    ['trust', { trust: true }, (crib) => crib.get('s_mark')?.effects.destructive, false],
    ['kinds', { kinds: ['http'] }, namesOf, []],
    ['include', { include: ['mark'] }, namesOf, ['s_mark']],
    ['exclude', { exclude: ['wipe'] }, namesOf, ['s_mark', 's_pid']],
    [
      'policy',
      { overrides: { '*': { policy: { approval: 'always' } } } },
      (crib) => crib.get('s_mark')?.policy.approval,
      'always',
    ],
  ])('%s of the edited entry applies', async (_, settings, look, expected) => {
    const { crib, edit } = await editable(server({ MARK: 'first' }));
    await edit({ ...BROKEN, ...settings });
    expect(look(crib)).toEqual(expected);
    expect(stateOf(crib, 's')).toMatchObject({ state: 'stale' });
  });

  it('share of the edited entry applies: each caller has its own server', async () => {
    const { crib, edit } = await editable(server({}));
    const pidOf = async (id: string) => saidOf(await (await crib.open(undefined, { id })).call('s_pid'));
    expect(await pidOf('ann')).toBe(await pidOf('bob'));
    await edit({ ...BROKEN, share: 'caller' });
    expect(await pidOf('ann')).not.toBe(await pidOf('bob'));
    expect(stateOf(crib, 's')).toMatchObject({ state: 'stale' });
  });

  it('arguments that the edited entry fixes are fixed', async () => {
    const { chest, edit } = await editable(server({ MARK: 'first' }));
    await edit({ ...BROKEN, overrides: { s_mark: { hiddenArguments: ['secret'] } } });
    expect(await chest.call('s_mark', { secret: 'x' })).toMatchObject({ error: { code: 'invalid_input' } });
    expect(saidOf(await chest.call('s_mark', { note: 'x' }))).toBe('first');
  });
});

describe('an edit of settings for tools', () => {
  it('keeps the server', async () => {
    const { say, edit, crib } = await editable(server({}));
    const pid = await say('s_pid');
    expect(await edit(server({}, { overrides: { s_mark: { title: 'New' } }, trust: true }))).toEqual({
      name: 's',
      state: 'ready',
      toolCount: 3,
    });
    expect(crib.get('s_mark')?.title).toBe('New');
    expect(await say('s_pid')).toBe(pid);
  });
});

describe('connections that end at once', () => {
  it('those of a removed entry', async () => {
    const { say, edit } = await editable(server({ MARK: 'first' }));
    expect(await edit(undefined)).toBeUndefined();
    expect(await say('s_mark')).toBe('unknown_tool');
  });

  it('those of a disabled server', async () => {
    const block = (more: Fields) => yaml({ mcpServers: { s: { ...serverOf('editable.ts'), ...more } } });
    const folder = folderWith({ 'toolcrib.yaml': block({}) });
    const crib = await cribOf(folder, { watch: false });
    expect(namesOf(crib)).toContain('s_mark');
    write(folder, { 'toolcrib.yaml': block({ disabled: true }) });
    await crib.reload();
    expect(namesOf(crib)).toEqual([]);
  });

  it('with onChange: stop, every connection from before the edit', async () => {
    const { say, edit } = await editable(server({ MARK: 'first' }, { onChange: 'stop' }));
    expect(await edit({ ...BROKEN, onChange: 'stop' })).toMatchObject({ state: 'failed' });
    expect(await say('s_mark')).toBe('unknown_tool');
  });

  it('with onChange: stop, also if only the old entry or only the edited one says so', async () => {
    const before = await editable(server({}, { onChange: 'stop' }));
    expect(await before.edit(BROKEN)).toMatchObject({ state: 'failed', toolCount: 0 });
    const after = await editable(server({}));
    expect(await after.edit({ ...BROKEN, onChange: 'stop' })).toMatchObject({ state: 'failed', toolCount: 0 });
    const unreadable = await editable(server({}, { onChange: 'stop' }));
    expect(await unreadable.edit({ ...server({}), prefx: 'x' })).toMatchObject({ state: 'failed', toolCount: 0 });
  });

  const TAKEN: readonly (readonly [string, Fields])[] = [
    ['a secret that is not declared any more', {}],
    ['a secret that is looked for where there is none', { secrets: { key: { file: './nowhere' } } }],
  ];
  it.each(TAKEN)('%s: the server that had it', async (_, rest) => {
    const declared = { secrets: { key: { file: './key' } } };
    const { say, edit } = await editable(server({ MARK: SECRET }), declared, { key: 'one' });
    expect(await say('s_mark')).toBe('one');
    await edit(server({ MARK: SECRET, MORE: 'x' }), rest);
    expect(await say('s_mark')).toBe('unknown_tool');
  });

  it('a secret file that was removed: the server that had the secret', async () => {
    const declared = { secrets: { key: { file: './key' } } };
    const { say, crib, folder } = await editable(server({ MARK: SECRET }), declared, { key: 'one' });
    expect(await say('s_mark')).toBe('one');
    rmSync(join(folder, 'key'));
    await crib.reload();
    expect(await say('s_mark')).toBe('unavailable'); // the list of its server is known, and counts
  });

  it('a host that may no longer get a secret: the list that was fetched with it', async () => {
    const tool = { name: 'remote', description: '', run: { kind: 'http', method: 'GET', url: 'https://x.test/' } };
    const upstream = await startServer((_request, response) =>
      response.writeHead(200, JSON_TYPE).end(yaml({ tools: [tool] })),
    );
    const entry = { http: `http://${upstream.host}/list`, headers: { 'x-key': SECRET } };
    const secrets = (...hosts: readonly string[]) => ({ secrets: { key: { file: './key', hosts } } });
    const { crib, edit, say } = await editable(entry, secrets('127.0.0.1', 'other.test'), { key: 'one' });
    expect(namesOf(crib)).toEqual(['remote']);
    expect(await edit(entry, secrets('127.0.0.1'))).toMatchObject({ state: 'ready' }); // the host of another
    expect(await edit(entry, secrets('other.test'))).toMatchObject({ state: 'down' }); // the list is known, and counts
    expect(await say('remote')).toBe('unavailable');
  });
});

it('a secret that is no longer granted to a list ends with the edit, even while the list cannot be fetched', async () => {
  const tool = {
    name: 'remote',
    description: '',
    run: { kind: 'http', method: 'GET', url: 'https://x.test/', headers: { 'x-key': SECRET } },
  };
  const upstream = await startServer(({ url }, response) =>
    response.writeHead(url === '/list' ? 200 : 503, JSON_TYPE).end(yaml({ tools: [tool] })),
  );
  const entry = { http: `http://${upstream.host}/list` };
  const moved = { http: `http://${upstream.host}/moved` };
  const rest = { secrets: { key: { file: './key', hosts: ['x.test'] } } };
  const { crib, edit, say } = await editable({ ...entry, secrets: ['key'] }, rest, { key: 'one' });
  expect(namesOf(crib)).toEqual(['remote']);
  expect(await edit({ ...moved, secrets: ['key'] })).toMatchObject({ state: 'stale' });
  expect(namesOf(crib)).toEqual(['remote']);
  expect(await edit({ ...moved, secrets: [] })).toMatchObject({ state: 'failed', toolCount: 0 });
  expect(await say('remote')).toBe('unknown_tool');
});

describe('an edited secret', () => {
  it.each<[string, Fields, (folder: string) => Fields]>([
    [
      'in a file',
      { key: { file: './key' } },
      (folder) => {
        write(folder, { key: 'two' });
        return { key: { file: './key' } };
      },
    ],
    ['that is declared elsewhere', { key: { file: './key' } }, () => ({ key: { file: './other' } })],
    [
      'in the environment of the process',
      { key: { env: 'EDITED_SECRET' } },
      () => {
        vi.stubEnv('EDITED_SECRET', 'two');
        return { key: { env: 'EDITED_SECRET' } };
      },
    ],
    ['of a command', { key: { command: ['echo', 'one'] } }, () => ({ key: { command: ['echo', 'two'] } })],
  ])('%s is an edit of the server that uses it, and of no other', async (_, secrets, change) => {
    vi.stubEnv('EDITED_SECRET', 'one');
    const sources = { s: server({ MARK: SECRET }), t: server({ MARK: 'other' }) };
    const files = { key: 'one', other: 'two', 'toolcrib.yaml': yaml({ sources, secrets }) };
    const folder = folderWith(files);
    const crib = await cribOf(folder, { watch: false });
    const chest = await crib.open();
    const pid = saidOf(await chest.call('t_pid'));
    expect(saidOf(await chest.call('s_mark'))).toBe('one');
    write(folder, { 'toolcrib.yaml': yaml({ sources, secrets: change(folder) }) });
    await crib.reload();
    expect(saidOf(await chest.call('s_mark'))).toBe('two');
    expect(saidOf(await chest.call('t_pid'))).toBe(pid);
  });

  it('in a file is noticed automatically, and so is a file of variables', async () => {
    const sources = {
      s: server({ MARK: SECRET }),
      t: { mcp: { ...serverOf('editable.ts'), envFile: './elsewhere/env' } },
    };
    const secrets = { key: { file: './secrets/key' } };
    const folder = folderWith({
      'toolcrib.yaml': yaml({ sources, secrets }),
      'secrets/key': 'one',
      'elsewhere/env': 'MARK=one\n',
    });
    const crib = await cribOf(folder);
    const chest = await crib.open();
    expect(saidOf(await chest.call('s_mark'))).toBe('one');
    write(folder, { 'secrets/key': 'two' });
    await expect.poll(async () => saidOf(await chest.call('s_mark')), PATIENCE).toBe('two');
    write(folder, { 'elsewhere/env': 'MARK=two\n' });
    await expect.poll(async () => saidOf(await chest.call('t_mark')), PATIENCE).toBe('two');
  });
});

describe('a file of servers', () => {
  it('that cannot be read leaves its servers as they were', async () => {
    const good = yaml({ mcpServers: { s: serverOf('editable.ts') } });
    const folder = folderWith({
      'toolcrib.yaml': yaml({ sources: { all: { mcpFile: './mcp.json' } } }),
      'mcp.json': good,
    });
    const crib = await cribOf(folder, { watch: false });
    write(folder, { 'mcp.json': '{ "mcpServers": { ' });
    await crib.reload();
    expect(stateOf(crib, 's')).toMatchObject({ state: 'stale', toolCount: 3 });
    write(folder, { 'mcp.json': good });
    await crib.reload();
    expect(stateOf(crib, 's')).toMatchObject({ state: 'ready' });
    write(folder, { 'mcp.json': yaml({ mcpServers: {} }) });
    await crib.reload();
    expect(stateOf(crib, 's')).toBeUndefined();
  });
});

describe('a configuration file that is being saved', () => {
  it.each<[string, (folder: string) => void]>([
    ['is empty', (folder) => write(folder, { 'toolcrib.yaml': '' })],
    ['is gone', (folder) => rmSync(join(folder, 'toolcrib.yaml'))],
  ])('and %s for a moment changes nothing', async (words, save) => {
    const { crib, folder, say } = await editable(server({ MARK: 'first' }));
    save(folder);
    await expect(crib.reload()).rejects.toThrow(words);
    expect(await say('s_mark')).toBe('first');
    write(folder, { 'toolcrib.yaml': '{}' });
    await crib.reload();
    expect(await say('s_mark')).toBe('unknown_tool');
  });
});

describe('an approval', () => {
  const idOf = (result: unknown) => (result as { readonly waiting?: { readonly id: string } }).waiting?.id ?? ''; // of a ToolResult
  const ask = async (shop: Awaited<ReturnType<typeof editable>>) => {
    const approvalId = idOf(await shop.chest.call('s_wipe', {}, { park: true, door: 'cli' })); // nothing but the call itself takes it up
    await shop.crib.approvals.answer(approvalId, { decision: 'approve' }, { id: 'boss', operator: true });
    return approvalId;
  };

  it.each<[string, Fields, Fields]>([
    ['another description', { ABOUT: 'Another tool' }, {}],
    ['another title', {}, { overrides: { s_wipe: { title: 'Wipe all' } } }],
    ['other effects', {}, { overrides: { s_wipe: { effects: { idempotent: true } } } }],
    ['another argument that is fixed', {}, { overrides: { s_wipe: { fixedArguments: { note: 'x' } } } }],
  ])('for a definition from before the edit does not count for %s', async (_, env, more) => {
    const shop = await editable(server({}));
    const approvalId = await ask(shop);
    await shop.edit(server(env, more));
    expect(await shop.chest.call('s_wipe', {}, { approvalId })).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('as it was before it changed') },
    });
  });

  it('for a tool of one server does not count for the same tool of another', async () => {
    const shop = await editable(server({}));
    const approvalId = await ask(shop);
    const { mcp } = server({});
    await shop.edit({ mcp: { ...mcp, args: [...mcp.args, 'production'] } });
    expect(await shop.chest.call('s_wipe', {}, { approvalId })).toMatchObject({ error: { code: 'denied' } });
  });

  it('stays valid over an edit that does not change the definition', async () => {
    const shop = await editable(server({ MARK: 'first' }));
    const approvalId = await ask(shop);
    await shop.edit(server({ MARK: 'second' }));
    expect(saidOf(await shop.chest.call('s_wipe', {}, { approvalId }))).toBe('wipe by second');
  });
});

describe('lists of other kinds', () => {
  const description = (path: string, operationId: string) =>
    yaml({
      openapi: '3.0.3',
      info: { title: 'x', version: '1' },
      servers: [{ url: 'https://pets.test' }],
      paths: {
        [path]: { get: { operationId, responses: {} }, delete: { operationId: `${operationId}_gone`, responses: {} } },
      },
    });
  const specs = (name: string) =>
    yaml({ tools: [{ name, description: '', run: { kind: 'http', method: 'GET', url: 'https://x.test/' } }] });

  it('an API: its tools stay while the edited description cannot be read, and excluded ones are gone at once', async () => {
    const files = { 'one.json': description('/a', 'one'), 'two.json': description('/b', 'two') };
    const { crib, edit } = await editable({ openapi: './one.json' }, {}, files);
    expect(namesOf(crib)).toEqual(['s_one', 's_one_gone']);
    expect(await edit({ openapi: './nowhere.json', exclude: ['DELETE *'] })).toMatchObject({
      state: 'stale',
      reason: expect.stringContaining('nowhere.json'),
    });
    expect(namesOf(crib)).toEqual(['s_one']);
    expect(await edit({ openapi: './two.json' })).toMatchObject({ state: 'ready' });
    expect(namesOf(crib)).toEqual(['s_two', 's_two_gone']);
  });

  it('a list at an address: its tools stay while the edited address does not answer', async () => {
    const answers = new Map([
      ['/one', specs('one')],
      ['/two', specs('two')],
    ]);
    const upstream = await startServer((request, response) => {
      const body = answers.get(request.url ?? '');
      response.writeHead(body === undefined ? 404 : 200, JSON_TYPE).end(body);
    });
    const base = `http://${upstream.host}`;
    const { crib, edit } = await editable({ http: `${base}/one` });
    expect(await edit({ http: `${base}/three` })).toMatchObject({
      state: 'stale',
      reason: expect.stringContaining('404'),
    });
    expect(namesOf(crib)).toEqual(['one']);
    answers.set('/three', specs('three'));
    await crib.reload();
    expect([namesOf(crib), stateOf(crib, 's')?.state]).toEqual([['three'], 'ready']);
    await edit({ http: `${base}/two` });
    expect(namesOf(crib)).toEqual(['two']);
  });

  it('Python: its tools stay while the edited folder does not exist', async () => {
    const files = { 'one/a.py': 'def one() -> str:\n    """One."""\n    return "one"\n' };
    const { crib, edit, say } = await editable({ python: './one' }, {}, files);
    expect(await edit({ python: './nowhere' })).toMatchObject({ state: 'stale' });
    expect(namesOf(crib)).toEqual(['one']);
    expect(await say('one')).toBe('one');
    expect(await edit({ python: './one' })).toMatchObject({ state: 'ready' });
  });

  it('files: their tools stay while the edited path does not exist', async () => {
    const { crib, edit } = await editable({ files: './one.json' }, {}, { 'one.json': specs('one') });
    expect(await edit({ files: './nowhere.json' })).toMatchObject({ state: 'stale' });
    expect(namesOf(crib)).toEqual(['one']);
  });

  it('specs of the configuration: a removed one is gone, while another is still being described', async () => {
    const tool = (name: string) => ({ name, description: name, run: { kind: 'shell', command: ['true'] } });
    const slow = { name: 'slow', description: '', run: { kind: 'python', module: './slow.py', function: 'slow' } };
    const module = 'import os, time\nwhile not os.path.exists("go"):\n    time.sleep(0.01)\ndef slow(): return 1\n';
    const { crib, folder } = await editable(server({}), { tools: [tool('one'), tool('two')] }, { 'slow.py': module });
    write(folder, { 'toolcrib.yaml': yaml({ tools: [tool('one'), slow] }) });
    const edited = crib.reload();
    await expect.poll(() => namesOf(crib), PATIENCE).toEqual(['one']);
    write(folder, { go: '' });
    await edited;
    expect(namesOf(crib)).toEqual(['one', 'slow']);
  });
});
