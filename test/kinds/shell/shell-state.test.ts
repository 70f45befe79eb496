import { linkSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SANDBOX, said, shellTool, shopWith, TEXT } from './shell-shop.ts';

const REFUSED = /^invalid_input: .*names, lies in or contains private files of the crib/;
const FILES = { '.toolcrib/key': 'the key', 'work/a.txt': 'A', 'token.txt': 'the token' };
const REST = { secrets: { token: { file: './token.txt' } } };

/** Tools that pass on their arguments, under names that do not look like paths. */
const TOOLS = [
  shellTool('show', { name: TEXT }, { command: ['echo', '{name}'], allowDashes: ['name'] }),
  shellTool('option', { target: TEXT }, { command: ['echo', '--from={target}'] }),
  shellTool('glued', { a: TEXT, b: TEXT }, { command: ['echo', '-f{a}{b}'] }),
  shellTool('listed', { names: { type: 'array', items: TEXT } }, { command: ['echo', ['{names}']] }),
  shellTool('whole', { query: { type: 'object' } }, { command: ['echo', '{query}'] }),
  shellTool('told', { src: TEXT }, { command: ['sh', '-c', 'echo "$AT"'], env: { AT: '{src}' } }),
  shellTool('read', { text: TEXT }, { command: ['cat'], stdin: '{text}' }),
  shellTool('path', { path: TEXT }, { command: ['echo', '{path}'] }, { effects: { readOnly: true } }),
];

const shop = () => shopWith({ sandbox: 'none', tools: TOOLS, files: FILES, rest: REST });

describe('without a sandbox', () => {
  it('a text that is too long for an argument is checked, since a program may read it from stdin', async () => {
    const { chest, folder } = await shop();
    symlinkSync('.toolcrib', join(folder, 'soft'));
    const long = 'work/a.txt\n'.repeat(14_000);
    expect(said(await chest.call('read', { text: `${long}soft/key` }))).toMatch(REFUSED);
    expect(said(await chest.call('read', { text: long }))).toBe(long);
    const numbers = Array.from({ length: 50_000 }, (_, index) => `row ${index}, and / or ..`).join('\n');
    expect(said(await chest.call('read', { text: numbers }))).toBe(numbers);
    const many = Array.from({ length: 6000 }, (_, index) => `/data/${index}`).join('\n');
    expect(said(await chest.call('read', { text: many }))).toMatch(/^invalid_input: .*more than 5000 paths/);
  });

  it.each<[string, object, Readonly<Record<string, boolean>>]>([
    [
      'a folder',
      { command: ['echo', '-C', '{{ROOT}}', '{name}'] },
      { '.toolcrib/key': false, 'a.txt': true, '.t*/key': false },
    ],
    [
      'a folder in an option',
      { command: ['echo', '--from={{ROOT}}', '{name}'] },
      { '.toolcrib': false, 'a.txt': true },
    ],
    [
      'a folder behind a letter',
      { command: ['echo', '-C{{ROOT}}', '{name}'] },
      { 'x/../.toolcrib/key': false, 'a.txt': true },
    ],
    [
      'a folder in a variable',
      { command: ['echo', '{name}'], env: { AT: '{{ROOT}}' } },
      { '.toolcrib/key': false, 'a.txt': true },
    ],
    [
      'a folder by a relative path',
      { command: ['echo', '-C', '..', '{name}'], cwd: 'work' },
      { '.toolcrib/key': false, 'a.txt': true },
    ],
    [
      'the folder of the state',
      { command: ['echo', '-C', '{{ROOT}}/.toolcrib', '{name}'] },
      { key: false, 'a.txt': false, '/dev/null': true },
    ],
  ])('an argument is also resolved from %s that the command itself names', async (_, run, cases) => {
    const under = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-fixed-')));
    const written = JSON.parse(JSON.stringify(run).replaceAll('{{ROOT}}', under)) as object; // as it was
    const tools = [shellTool('join', { name: TEXT }, { cwd: 'work', ...written })];
    const { chest } = await shopWith({ under, sandbox: 'none', tools, files: FILES, rest: REST });
    for (const [name, isFine] of Object.entries(cases))
      expect(said(await chest.call('join', { name })), name).toMatch(isFine ? new RegExp(name) : REFUSED);
  });

  it('no argument, under any name, leads to, into or above the state of the crib', async () => {
    const { chest, folder } = await shop();
    symlinkSync('.toolcrib', join(folder, 'soft'));
    symlinkSync('/', join(folder, 'work/up'));
    symlinkSync(join(folder, '.toolcrib/key'), join(folder, 'work/soft'));
    linkSync(join(folder, '.toolcrib/key'), join(folder, 'work/hard'));
    const state = join(process.env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'toolcrib');
    const from = (home: string) => relative(home, join(folder, '.toolcrib/key')).replaceAll('/', '/./');
    const texts = [
      '.toolcrib',
      '.toolcrib/key',
      '.toolcrib/not-there',
      './.toolcrib/key',
      'work/../.toolcrib/key',
      'nowhere/../.toolcrib',
      `work/up${folder}/.toolcrib/key`,
      'work/../soft/key',
      'soft',
      'work/soft',
      'work/hard',
      'token.txt',
      '.TOOLCRIB/key',
      join(folder, '.toolcrib'),
      `//${folder}/.toolcrib/key`,
      '.',
      './',
      'work/..',
      folder,
      dirname(folder),
      '/',
      '..',
      `../${basename(folder)}`,
      '--file=.toolcrib/key',
      'key=@.toolcrib/key',
      '@.toolcrib/key',
      'host:.toolcrib/key',
      `${folder}/.toolcrib:/mnt:ro`,
      'type=bind,source=.toolcrib,target=/x',
      'file:.toolcrib/key',
      `file://${folder}/.toolcrib/key`,
      `FILE://localhost${folder}/.toolcrib/key`,
      `file://${folder}/%2Etoolcrib/key`,
      `select readfile('${folder}/.toolcrib/key')`,
      `${'a='.repeat(200)}.toolcrib/key`,
      'one\n.toolcrib/key\ntwo',
      'work/a.txt .toolcrib/key',
      '"soft/key"',
      "so'ft'/key",
      'so""ft/key',
      's\\oft/key',
      'work/a.txt w"or"k/so\\ft',
      'cat work/a.txt;cat work/soft',
      `a\tb ../${basename(folder)}/.toolcrib`,
      './.t*/key',
      './s?ft/k*',
      `${dirname(folder)}/*/.toolcrib/key`,
      `${folder}/{.toolcrib,work}/key`,
      './**/key',
      '/dev/fd/../cwd/soft/key',
      'work/a.txt\r\n/proc/self/environ',
      state,
      `${state}/0123456789abcdef/token`,
      `~/${relative(homedir(), state)}/x`,
      `~/${from(homedir())}`,
      `~${userInfo().username}/${from(homedir())}`,
      `key=~${userInfo().username}/${from(homedir())}`,
      `$HOME/${from(homedir())}`,
      `-f\${HOME}/${from(homedir())}`,
      `cat a $HOME/${from(homedir())}`,
      `"$HOME"/${from(homedir())} b`,
      `/$HOME/${from(homedir())}`,
      `$unset${folder}/./.toolcrib/key`,
      '$PWD/.toolcrib/key',
      '~+/soft/key',
      `file://${folder}/./token.txt#part`,
      `file://${folder}/./token.txt?query`,
      'file:token.txt?mode=ro',
      "ATTACH 'file:token.txt?mode=ro&cache=shared' AS x",
      'file:token.txt%00.db',
      `jar:file:${folder}/./token.txt!/x`,
      `file:///x%zz/..${folder}/%74oken.txt`,
      `file:///%ff/..${folder}/%2Etoolcrib/key`,
      'token.txt|',
      '< token.txt',
      `{${folder}/./token.txt,${folder}/work/a.txt}`,
      dirname(state),
      `/proc/${process.pid}/environ`,
      '/proc/self/environ',
      '/proc/thread-self/environ',
      '/proc/1/environ',
      '/proc/*/environ',
      '/proc/[0-9]*/environ',
      '/proc/?elf/environ',
      '/pro?/self/environ',
      '/p*/*/environ',
      'work/up/proc/*/environ',
      '/proc',
      `/proc/${process.pid}/root${folder}/work/a.txt`,
      '/proc/self/cwd/x',
      '/dev/../proc/self/environ',
      'x=/proc/self/mem',
      '-f/proc/self/environ',
      '-xvf.toolcrib/key',
      '-fsoft/key',
      '-4osoft/key',
      '-#osoft/key',
      `-idirafter${folder}/./.toolcrib/key`,
      `--from${folder}/./.toolcrib/key`,
      '@(so)ft/key',
      './+(so|x)ft/key',
      '?(.tool)crib/key',
      'work/../*(so)ft/key',
      '!(work)/key',
      'token*',
      'tok?n.txt',
      '[t]oken.txt',
      't{ok,x}en.txt',
      't{{ok,x},y}en.txt',
      't@(ok)en.txt',
      't\\oken.tx?',
      '.t*',
      '.[t]oolcrib',
      's?ft',
      '*.txt',
      "read_text('tok*')",
      'one\u0085token.txt',
    ];
    for (const text of texts) {
      expect(said(await chest.call('show', { name: text })), text).toMatch(REFUSED);
      expect(said(await chest.call('option', { target: text })), `--from=${text}`).toMatch(REFUSED);
    }
    const one = '.toolcrib/key';
    expect(said(await chest.call('glued', { a: '.tool', b: 'crib/key' }))).toMatch(REFUSED);
    expect(said(await chest.call('listed', { names: ['a', one] }))).toMatch(REFUSED);
    expect(said(await chest.call('whole', { query: { deep: [{ at: one }] } }))).toMatch(REFUSED);
    expect(said(await chest.call('whole', { query: { deep: [{ [one]: 1 }] } }))).toMatch(REFUSED);
    expect(said(await chest.call('told', { src: one }))).toMatch(REFUSED);
    expect(said(await chest.call('read', { text: one }))).toMatch(REFUSED);
    for (const path of ['.', folder, 'work/..'])
      expect(said(await chest.call('path', { path })), path).toMatch(REFUSED);
  });

  it('a text that only resembles such a path is passed on', async () => {
    const { chest, folder } = await shop();
    const texts = [
      'a.txt',
      'work',
      'work/a.txt',
      '.toolcribs',
      'toolcrib',
      'x.toolcrib',
      `${folder}/work/a.txt`,
      'https://example.com/a/b?c=d',
      'https://example.com/',
      'https://example.com/a#/b?c',
      'Is it $5/? Yes; no!',
      '50% of 100%',
      '-5 and -0.5 (not +5)',
      'really?(yes)',
      'ann@(example)',
      'ann@example.com',
      '12:30',
      '*',
      '.*',
      'select * from orders',
      'see [1] and [work',
      'token[5',
      'a{b',
      'work{',
      '{"a": {"b": [1, "c*"]}}',
      '2 * 3 * x',
      'foo.*bar',
      '**bold**',
      'What? When? token?',
      'a = b / c',
      'and/or',
      '~',
      '~5 minutes',
      '~ann/toolcrib',
      '$5/month',
      '$HOME',
      'note: the key lies in a safe place. Really.',
      '/dev/stdout',
      '/dev/fd/1',
      '/proc/cpuinfo',
      '/processes/1',
      '',
      ':::===@@@',
      'x'.repeat(100_000),
      'a:'.repeat(5000),
      Array.from({ length: 20_000 }, (_, index) => index).join(','),
    ];
    for (const text of texts)
      expect(said(await chest.call('show', { name: text })).slice(0, 200), text.slice(0, 80)).toBe(
        `${text}\n`.slice(0, 200),
      );
  });

  it('is refused before approval', async () => {
    const tool = shellTool('show', { name: TEXT }, { command: ['echo', '{name}'] }, { policy: { approval: 'always' } });
    const { crib } = await shopWith({ sandbox: 'none', tools: [tool], files: FILES });
    let asked = 0;
    const chest = await crib.open(undefined, { id: 'ann', approve: async () => ++asked > 0 });
    expect(said(await chest.call('show', { name: '.toolcrib/key' }))).toMatch(REFUSED);
    expect(asked).toBe(0);
    expect(said(await chest.call('show', { name: 'fine' }))).toBe('fine\n');
    expect(asked).toBe(1);
  });
});

it.skipIf(!SANDBOX.ok)('in a sandbox the same arguments are passed on, and lead nowhere', async () => {
  const { chest } = await shopWith({
    sandbox: 'required',
    files: FILES,
    tools: [shellTool('cat', { name: TEXT }, { command: ['cat', '{name}'] })],
  });
  for (const name of ['.toolcrib/key', `/proc/${process.pid}/environ`, `${homedir()}/.local/state/toolcrib/x`]) {
    const answer = await chest.call('cat', { name });
    expect(said(answer), name).toMatch(/^tool_error/);
    expect(JSON.stringify(answer)).not.toContain('the key');
  }
});

it('check names a tool whose own command names the state of the crib, or joins arguments to it', async () => {
  const tools = [
    shellTool('joins', { name: TEXT }, { command: ['tar', '-C', '.toolcrib', '{name}'] }),
    shellTool('option', { name: TEXT }, { command: ['cat', '--from=token.txt', '{name}'] }),
    shellTool('fixed', {}, { command: ['ls', '.toolcrib'] }),
    shellTool('beside', { name: TEXT }, { command: ['tar', '-C', 'work', '{name}'] }),
  ];
  const { crib, folder } = await shopWith({ sandbox: 'none', tools, files: FILES, rest: REST });
  expect((await crib.review()).problems).toEqual([
    expect.stringMatching(
      `^Tool joins: the command takes arguments and names ${join(folder, '.toolcrib')}, which is private to the crib`,
    ),
    expect.stringMatching(
      `^Tool option: the command takes arguments and names ${join(folder, 'token.txt')}, which is private to the crib`,
    ),
  ]);
});
