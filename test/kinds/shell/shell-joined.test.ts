import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MODES, said, shellTool, shopWith, TEXT } from './shell-shop.ts';

const STATE = /^invalid_input: .*names, lies in or contains private files of the crib/;
const CODE = /^invalid_input: .*controls what the crib runs/;
const MORE = /^invalid_input: .*more paths than can be checked/;
const FILES = {
  '.toolcrib/key': 'the key',
  'data/a.txt': 'A',
  'data/b/c.txt': 'C',
  'other/o.txt': 'O',
  'mods/m.js': '',
};
const REST = { sources: { modules: { modules: './mods' } } };
const LIST = { type: 'array', items: TEXT };
const BOTH = { place: TEXT, name: TEXT };
const READS = { effects: { readOnly: true } };

/** A text may have so many characters for an argument. */
const MOST = 131_000;
const numbered = (toWord: (at: number) => string) =>
  ['a', ...Array.from({ length: 20_000 }, (_, at) => toWord(at))].join(',');

/** Tools whose program may join one argument to another. */
const TOOLS = [
  shellTool('reading', BOTH, { command: ['echo', '-C', '{place}', '{name}'] }, READS),
  shellTool('unknown', BOTH, { command: ['echo', '-C', '{place}', '{name}'] }),
  shellTool('option', BOTH, { command: ['echo', '--from={place}', '--file={name}'] }),
  shellTool('glued', BOTH, { command: ['echo', '-C{place}', '-f{name}'] }),
  shellTool('variable', BOTH, { command: ['echo', '{name}'], env: { AT: '{place}' } }),
  shellTool('path', { dir: TEXT, name: TEXT }, { command: ['echo', '{dir}', '{name}'] }, READS),
  shellTool('listed', { names: LIST }, { command: ['echo', ['{names}']] }),
];

async function shop() {
  const made = await shopWith({ sandbox: 'none', tools: TOOLS, files: FILES, rest: REST });
  symlinkSync('../../.toolcrib', join(made.folder, 'data/b/soft'));
  linkSync(join(made.folder, '.toolcrib/key'), join(made.folder, 'data/b/hard'));
  symlinkSync('../../mods', join(made.folder, 'data/b/code'));
  return { ...made, call: async (tool: string, input: object) => said(await made.chest.call(tool, { ...input })) };
}

describe('without a sandbox an argument is also resolved from a folder that another argument names', () => {
  const state = [
    ['data', '../.toolcrib/key'],
    ['data', '../.toolcrib'],
    ['data', '..'],
    ['data/', 'b/../../.toolcrib/key'],
    ['data/b', '../../.toolcrib/key'],
    ['data/b', 'soft/key'],
    ['data/b', 'hard'],
    ['data', '@../.toolcrib/key'],
    ['data', '../.tool*/key'],
    ['x=data', '../.toolcrib/key'],
    ['data', 'print ../.toolcrib/key now'],
  ];
  it.each(state)('%s and %s lead to the state of the crib', async (place, name) => {
    const { call, folder } = await shop();
    for (const tool of ['reading', 'unknown', 'option', 'glued', 'variable']) {
      expect(await call(tool, { place, name }), tool).toMatch(STATE);
      if (!place.includes('=')) expect(await call(tool, { place: join(folder, place), name }), tool).toMatch(STATE);
    }
    if (!place.includes('=')) expect(await call('path', { dir: place, name })).toMatch(STATE);
    expect(await call('listed', { names: [name, place] })).toMatch(STATE);
  });

  it.each([
    ['data', '../mods/new.js'],
    ['data', '../mods'],
    ['data', '../toolcrib.yaml'],
    ['data/b', 'code/new.js'],
    ['data/b', 'x=../../mods/new.js'],
  ])('%s and %s lead to a protected path', async (place, name) => {
    const { call } = await shop();
    for (const tool of ['unknown', 'option', 'glued', 'variable'])
      expect(await call(tool, { place, name }), tool).toMatch(CODE);
    expect(await call('listed', { names: [place, name] })).toMatch(CODE);
    expect(await call('reading', { place, name })).toBe(`-C ${place} ${name}\n`);
  });

  it('if it follows much other text', async () => {
    const { call } = await shop();
    const name = `${'word, '.repeat(3000)}../.toolcrib/key`;
    for (const tool of ['reading', 'unknown', 'variable'])
      expect(await call(tool, { place: 'data', name })).toMatch(STATE);
  });

  it('also along several of them', async () => {
    const { call } = await shop();
    expect(await call('listed', { names: ['data', '../other', '../data/b', '../../.toolcrib/key'] })).toMatch(STATE);
    expect(await call('listed', { names: ['data', 'b', 'soft/key'] })).toMatch(STATE);
  });

  it('other targets are passed on, and so are many folders and long texts', async () => {
    const { call, folder } = await shop();
    for (const [place, name] of [
      ['data', 'a.txt'],
      ['data', '../other/o.txt'],
      ['data/b', '../new.txt'],
      ['data', 'one..two'],
      ['nowhere', '../x'],
      ['data', `a text, with words: ${'and more, '.repeat(8000)}`],
    ])
      expect(await call('unknown', { place, name }), place).toBe(`-C ${place} ${name}\n`);
    const names = Array.from({ length: 150 }, (_, index) => `many/${index}`);
    for (const name of names) mkdirSync(join(folder, name), { recursive: true });
    expect(await call('listed', { names })).toBe(`${names.join(' ')}\n`);
  });

  it('and more than can be checked is refused', async () => {
    const { call, folder } = await shop();
    const places = Array.from({ length: 300 }, (_, index) => `many/${index}`);
    for (const name of places) mkdirSync(join(folder, name), { recursive: true });
    const names = [...places, ...Array.from({ length: 300 }, (_, index) => `../x/${index}`)];
    expect(await call('listed', { names })).toMatch(MORE);
  });
});

describe('without a sandbox the path checks of a call do not block the crib', () => {
  const DEEP = 'd/'.repeat(100);
  it.each<[string, readonly string[]]>([
    ['many paths of many folders', Array.from({ length: 2000 }, (_, index) => `${DEEP}${index}`)],
    ['thousands of options in one text', [numbered((at) => `-${at}abcd${at}`).slice(0, MOST)]],
    ['thousands of words that may end anywhere', [numbered((at) => `-${at}?${at}#`).slice(0, MOST)]],
    ['a thousand patterns, each of which reads a large folder', [numbered((at) => `/usr/bin/*${at}`).slice(0, 15_000)]],
    ['a few hundred patterns that match everything there', [numbered((at) => `/usr/bin/*/${at}`).slice(0, 5000)]],
    ['thousands of encoded words', [numbered((at) => `-%41%42${at}`).slice(0, MOST)]],
    [
      'a few words that may begin and end anywhere',
      [`a,${Array.from({ length: 62 }, (_, at) => `-${at}?${'x'.repeat(50)}#`).join(',')}`],
    ],
    ['paths that go up and down', Array.from({ length: 400 }, (_, index) => `${'d/../'.repeat(700)}${index}`)],
    [
      'folders of folders',
      [
        ...Array.from({ length: 100 }, (_, index) => 'd/'.repeat(index + 1)),
        ...Array.from({ length: 900 }, (_, index) => `d/../${index}`),
      ],
    ],
  ])('%s are refused', async (_, names) => {
    const { call, folder } = await shop();
    mkdirSync(join(folder, DEEP), { recursive: true });
    expect(await call('listed', { names: [...names] })).toMatch(MORE);
  });

  it('a thousand files are passed on, as a list and in one text', async () => {
    const { call } = await shop();
    const names = Array.from({ length: 1000 }, (_, index) => `data/b/${index}.txt`);
    expect(await call('listed', { names })).toBe(`${names.join(' ')}\n`);
    expect(await call('listed', { names: [names.slice(0, 300).join(',')] })).toBe(`${names.slice(0, 300).join(',')}\n`);
  });
});

describe.each(MODES)('%s', (_, sandbox) => {
  it('a list of paths does not block the crib: tens of thousands of names are refused, a thousand files are not', async () => {
    const run = { command: ['echo', ['{paths}']], paths: ['paths'], sandbox: { mode: sandbox } };
    const { chest, folder } = await shopWith({ sandbox, tools: [shellTool('show', { paths: LIST }, run, READS)] });
    const deep = 'd/'.repeat(50);
    mkdirSync(join(folder, deep), { recursive: true });
    const paths = Array.from({ length: 1000 }, (_, index) => `d/d/d/${index}`);
    expect(said(await chest.call('show', { paths }))).toBe(`${paths.map((path) => join(folder, path)).join(' ')}\n`);
    const many = Array.from({ length: 1000 }, (_, index) => `${deep}${index}`);
    expect(said(await chest.call('show', { paths: many }))).toMatch(MORE);
  });
});
