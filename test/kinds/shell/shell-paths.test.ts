import { lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { write } from '../../crib/workshop.ts';
import { MODES, type Shop, said, shellTool, shopWith, TEXT } from './shell-shop.ts';

const CAT = shellTool('read', { path: TEXT }, { command: ['cat', '{path}'] });

/** A folder that is not a root of anything. */
function folderOutside(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-outside-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  write(folder, { 'private.txt': 'private' });
  return folder;
}

async function read({ chest }: Shop, path: string): Promise<string> {
  return said(await chest.call('read', { path }));
}

const REFUSED =
  /^invalid_input: .*: must be in a folder that this tool may use: (\/[^;]+|none); add folders with (executors\.shell\.roots|sandbox\.read or sandbox\.write of the tool)$/;

describe.each(MODES)('paths in arguments %s', (_, sandbox) => {
  it('stay inside the folder of the configuration', async () => {
    const shop = await shopWith({ sandbox, tools: [CAT], files: { 'a.txt': 'A', 'deep/b.txt': 'B', '~/c.txt': 'C' } });
    const outside = folderOutside();
    expect(await read(shop, 'a.txt')).toBe('A');
    expect(await read(shop, './deep/../deep//b.txt')).toBe('B');
    expect(await read(shop, join(shop.folder, 'deep/b.txt'))).toBe('B');
    expect(await read(shop, '~/c.txt')).toBe('C');
    const wrong = [
      '../../etc/passwd',
      '/etc/passwd',
      '..',
      '/',
      `${outside}/private.txt`,
      `${shop.folder}-not`,
      '/proc/self/root/etc/passwd',
      `/proc/self/root${outside}/private.txt`,
      'deep/../../x',
      'nowhere/../../x',
    ];
    for (const path of wrong) expect(await read(shop, path), path).toMatch(REFUSED);
    expect(await read(shop, '')).toMatch(/must not be empty$/);
    expect(await read(shop, 'a\0.txt')).toMatch(/must not contain a NUL character$/);
    expect(await read(shop, 'a'.repeat(5000))).toMatch(REFUSED);
    expect(await read(shop, 'not-there.txt')).toMatch(/: does not exist, and this tool may not create it: /);
  });

  it('that are refused name the allowed folders, and the key that allows more', async () => {
    const own = shellTool('own', { path: TEXT }, { command: ['cat', '{path}'], sandbox: { read: ['./a', './b'] } });
    const files = { 'a/x': 'A', 'b/x': 'B' };
    const shop = await shopWith({ sandbox, tools: [CAT, own], files });
    const { chest, folder } = shop;
    expect(await read(shop, '/etc/passwd')).toContain(`may use: ${folder}; add folders with executors.shell.roots`);
    expect(said(await chest.call('own', { path: '/etc/passwd' }))).toContain(
      `may use: ${folder}/a, ${folder}/b; add folders with sandbox.read or sandbox.write of the tool`,
    );
  });

  it('are not redirected by links, at any place of the path, existing or not', async () => {
    const shop = await shopWith({ sandbox, tools: [CAT], files: { 'a.txt': 'A' } });
    const outside = folderOutside();
    const link = (target: string, name: string) => symlinkSync(target, join(shop.folder, name));
    link(join(outside, 'private.txt'), 'file');
    link(outside, 'folder');
    link('../..', 'up');
    link(join(outside, 'not-there'), 'dangling');
    link('chained-2', 'chained');
    link(join(outside, 'not-there-either'), 'chained-2');
    link('circle', 'circle');
    link('a.txt', 'fine');
    link('.', 'here');
    for (const path of [
      'file',
      'folder',
      'folder/',
      'folder/private.txt',
      'folder/new.txt',
      'up/x',
      'dangling',
      'dangling/x',
      'chained',
      'circle',
      'here/file',
    ])
      expect(await read(shop, path), path).toMatch(REFUSED);
    expect(await read(shop, 'fine')).toBe('A');
    expect(await read(shop, 'here/here/a.txt')).toBe('A');
  });

  it('are in the folders that the configuration or the tool names', async () => {
    const own = shellTool(
      'own',
      { path: TEXT },
      { command: ['cat', '{path}'], cwd: './own', sandbox: { read: ['./own', './shared'] } },
    );
    const files = { 'a.txt': 'no', 'work/a.txt': 'W', 'own/a.txt': 'O', 'shared/a.txt': 'S' };
    const shop = await shopWith({ sandbox, tools: [CAT, own], roots: ['./work'], files });
    const readOwn = async (path: string) => said(await shop.chest.call('own', { path }));
    expect(await read(shop, 'a.txt')).toBe('W');
    expect(await read(shop, '../a.txt')).toMatch(REFUSED);
    expect(await read(shop, '../own/a.txt')).toMatch(REFUSED);
    expect(await readOwn('a.txt')).toBe('O');
    expect(await readOwn('../shared/a.txt')).toBe('S');
    expect(await readOwn('../work/a.txt')).toMatch(REFUSED);
  });

  it('are recognized by their names and formats, unless the spec names them', async () => {
    const show = (name: string, properties: object, rest: object = {}) => {
      const names = Object.keys(properties);
      const command = ['printf', '%s\\n', ...names.map((key) => `x={${key}}`)];
      return shellTool(name, properties as never, { command, ...rest });
    };
    const named = ['path', 'file', 'dir', 'folder', 'cwd', 'in_path', 'in_file', 'in_dir'];
    const { chest, folder } = await shopWith({
      sandbox,
      roots: ['.'],
      tools: [
        show('named', Object.fromEntries(named.map((name) => [name, TEXT]))),
        show('formatted', { place: { type: 'string', format: 'path' }, profile: TEXT, folder_name: TEXT }),
        show('explicit', { place: TEXT, path: TEXT }, { paths: ['place'] }),
        shellTool(
          'many',
          { paths: { type: 'array', items: { type: 'string', format: 'path' } } },
          { command: ['printf', '%s\\n', ['{paths}']] },
        ),
      ],
    });
    const lines = (count: number) => `x=${folder}/a\n`.repeat(count);
    expect(said(await chest.call('named', Object.fromEntries(named.map((name) => [name, 'a']))))).toBe(lines(8));
    for (const name of named)
      expect(
        said(await chest.call('named', Object.fromEntries(named.map((each) => [each, each === name ? '/etc' : 'a'])))),
      ).toMatch(REFUSED);
    const formatted = await chest.call('formatted', { place: 'a', profile: 'a', folder_name: 'a' });
    expect(said(formatted)).toBe(`${lines(1)}x=a\nx=a\n`);
    expect(said(await chest.call('explicit', { place: 'a', path: '/etc' }))).toBe(`${lines(1)}x=/etc\n`);
    expect(said(await chest.call('explicit', { place: '/etc', path: 'a' }))).toMatch(REFUSED);
    expect(said(await chest.call('many', { paths: ['a', './b'] }))).toBe(`${folder}/a\n${folder}/b\n`);
    expect(said(await chest.call('many', { paths: ['a', '/etc'] }))).toMatch(REFUSED);
  });

  it('never lead to the state of the crib', async () => {
    const rest = { secrets: { token: { file: './token.txt' } } };
    const files = { '.toolcrib/key': 'the key', 'token.txt': 'the token' };
    const shop = await shopWith({ sandbox, tools: [CAT], files, rest });
    symlinkSync('.toolcrib', join(shop.folder, 'state'));
    for (const path of [
      '.toolcrib',
      '.toolcrib/key',
      '.toolcrib/new',
      'state',
      'state/key',
      './x/../.toolcrib/key',
      'token.txt',
    ])
      expect(await read(shop, path), path).toMatch(REFUSED);
  });
});

describe.each(MODES)('`rm {path}` of the older format %s', (_, sandbox) => {
  const DELETE = {
    name: 'dangerous_delete',
    description: 'Delete files',
    tool_type: 'shell',
    input_schema: { type: 'object', properties: { path: { type: 'string' } } },
    implementation_config: { command: 'rm {path}' },
    metadata: { is_dangerous: true, requires_approval: true },
  };

  it('requires approval, and deletes the named file and nothing else', async () => {
    const asked: unknown[] = [];
    const files = { 'a.txt': '', 'b.txt': '', 'a b.txt': '', '*': '', 'dir/c.txt': '', '-rf': '', 'target.txt': '' };
    const { crib, folder } = await shopWith({ sandbox, roots: ['.'], tools: [DELETE], files });
    const outside = folderOutside();
    symlinkSync('target.txt', join(folder, 'link'));
    symlinkSync(outside, join(folder, 'out'));
    let answer = false;
    const approve = async (request: { readonly arguments: unknown }) => {
      asked.push(request.arguments);
      return answer;
    };
    const chest = await crib.open(undefined, { id: 'ann', approve });
    const remove = async (path: unknown) => said(await chest.call('dangerous_delete', { path }));
    const isThere = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;

    expect(await remove('a.txt')).toMatch(/^denied/);
    expect(asked).toEqual([{ path: 'a.txt' }]);
    expect(isThere('a.txt')).toBe(true);
    expect(said(await chest.call('dangerous_delete', {}))).toMatch(/^invalid_input/);

    answer = true;
    const refused = [
      // Only what may be lost is named here: a check that fails must not cost anything else.
      `../${basename(outside)}/private.txt`,
      `/proc/self/root${outside}/private.txt`,
      outside,
      `${outside}/private.txt`,
      'out/private.txt',
      'out',
      '/',
      '-rf',
      '--help',
      '.toolcrib',
      '/proc/self/root',
      '',
    ];
    for (const path of refused) expect(await remove(path), path).toMatch(/^invalid_input/);
    for (const path of [
      'a.txt b.txt',
      'a.txt; rm b.txt',
      '$(echo b.txt)',
      '`echo b.txt`',
      'b.*',
      'a.txt\nb.txt',
      'dir',
    ])
      expect(await remove(path), path).toMatch(/^tool_error/);
    // Without a sandbox a folder that holds the configuration and the state of the crib is not for tools.
    for (const path of ['.', './'])
      expect(await remove(path), path).toMatch(sandbox === 'none' ? /^invalid_input/ : /^tool_error/);
    for (const name of Object.keys(files)) expect(isThere(name), name).toBe(true);

    for (const path of ['*', 'a b.txt', 'link', './dir/c.txt', './-rf']) expect(await remove(path), path).toBe('');
    expect(['*', 'a b.txt', 'link', 'dir/c.txt', '-rf'].filter(isThere)).toEqual([]);
    expect(['a.txt', 'b.txt', 'target.txt', 'out', 'dir'].filter(isThere)).toHaveLength(5);
    expect(readFileSync(join(outside, 'private.txt'), 'utf8')).toBe('private');
  });
});

describe('a root that is a link', () => {
  it.each(MODES)('%s is its target', async (_, sandbox) => {
    const real = folderOutside();
    mkdirSync(join(real, 'sub'));
    const shop = await shopWith({ sandbox, tools: [CAT], roots: ['./work'], files: {} });
    symlinkSync(real, join(shop.folder, 'work'));
    expect(await read(shop, 'private.txt')).toBe('private');
    expect(await read(shop, 'sub/../private.txt')).toBe('private');
    expect(await read(shop, '../x')).toMatch(REFUSED);
  });
});
