// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig, readConfigObject } from '../../src/crib/config/load-config.ts';
import { cribOf, folderWith, namesOf, write } from '../crib/workshop.ts';
import { loadYaml, messageOf, mistakesIn, writeFolder } from './write.ts';

describe('a source with an invalid entry', () => {
  const FINE = JSON.stringify({
    tools: [{ name: 'fine', description: '', run: { kind: 'http', url: 'https://x.y' } }],
  });
  const withBad = (entry: string) => `sources:\n  fine: { files: ./tools.json }\n  bad: ${entry}\n`;

  it.each(['{ files: [] }', '{ modules: [] }', '{ modules: [./a, ./b] }', '{ python: [] }', '{ python: [./a, ./b] }'])(
    'fails, and the others continue, at the start and after an edit: %s',
    async (entry) => {
      const folder = folderWith({ 'toolcrib.yaml': withBad(entry), 'tools.json': FINE });
      const failed = { name: 'bad', state: 'failed', reason: expect.any(String) };
      const crib = await cribOf(folder, { watch: false });
      expect(namesOf(crib)).toEqual(['fine']);
      expect(crib.sources()).toContainEqual(expect.objectContaining(failed));
      write(folder, { 'toolcrib.yaml': withBad('{ files: ./tools.json, prefix: b }') });
      await crib.reload();
      expect(namesOf(crib)).toEqual(['fine', 'b_fine']);
      write(folder, { 'toolcrib.yaml': `${withBad(entry)}  more: { files: ./tools.json, prefix: m }\n` });
      await crib.reload();
      expect(namesOf(crib)).toContain('m_fine');
    },
  );
});

describe('one bad source never stops the others', () => {
  it.each([
    ['a missing variable', '{ mcp: { command: "${MISSING}" } }', 'needs the environment variable MISSING', '"$'],
    ['a wrong value', '{ files: 12 }', 'must be text or a list, got 12; put it in quotes', '12'],
    ['an unknown key', '{ files: ./a, trsut: true }', 'Did you mean "trust"?', 'trsut'],
    ['a setting of another kind', '{ files: ./a, share: all }', 'has no "share"', 'share'],
    ['no kind', '{ bundle: b }', 'needs one of mcp, openapi, python, files', 'bad'],
    ['a kind that is nearly one', '{ fiels: ./a }', 'Did you mean "files"?', 'bad'],
    ['two kinds', '{ files: ./a, http: "https://x.y" }', 'has "files" and "http"; keep one of them', 'bad'],
    ['a server of no kind', '{ mcp: { args: [] } }', 'needs one of command, url', 'mcp'],
    [
      'a server of two kinds',
      '{ mcp: { command: a, url: "https://x.y" } }',
      'has "command" and "url"; keep one',
      'mcp',
    ],
    ['an address that is none', '{ http: ./specs.json }', 'must be a URL that starts with', './specs'],
    ['nothing', '', 'is empty; it must be a map', 'bad'],
    [
      'a secret that is not declared',
      '{ http: "https://x.y", headers: { A: "${secret:b}" } }',
      'is not declared',
      '"$',
    ],
  ])('%s', async (_, source, message, at) => {
    const line = `  bad: ${source}`;
    const { config, problems } = await loadYaml(`sources:\n${line}\n  good: { files: ./tools }\n`);
    expect(Object.keys(config.sources)).toEqual(['good']);
    expect(problems).toEqual([
      {
        source: 'bad',
        message: expect.stringContaining(message),
        file: 'toolcrib.yaml',
        line: 2,
        column: line.indexOf(at) + 1,
      },
    ]);
  });

  it('and all of its own errors are reported', async () => {
    const { problems } = await loadYaml('sources:\n  bad: { files: 1, trust: maybe, prefix: "9" }\n');
    expect(problems.map(({ column }) => column)).toEqual([17, 27, 42]);
  });

  it('but not more than twenty', async () => {
    const keys = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`key${index}`, 1]));
    const { problems } = await readConfigObject(
      { sources: { bad: { files: './a', ...keys } } },
      { folder: '/', env: {} },
    );
    expect(problems).toHaveLength(20);
  });

  it('even if its name is invalid', async () => {
    const { config, problems } = await loadYaml('sources: { "1": { files: ./a }, b: { files: ./b } }');
    expect(Object.keys(config.sources)).toEqual(['b']);
    expect(problems).toMatchObject([{ source: '1', message: expect.stringContaining('is not a name: use letters') }]);
  });

  it('while an error elsewhere stops everything', async () => {
    expect(await mistakesIn('sources: { bad: {} }\nprofils: {}\n')).toMatch(
      /^toolcrib\.yaml:2:1: profils is not known/,
    );
  });

  it('in an object, without places', async () => {
    const value = { sources: { bad: { files: 1 }, good: { files: './a' } } };
    const { problems, config } = await readConfigObject(value, { folder: '/x', env: {} });
    expect(config.sources).toEqual({ good: { files: '/x/a' } });
    expect(problems).toEqual([{ source: 'bad', message: expect.stringContaining('sources.bad.files must be text') }]);
  });
});

describe('sources keep the order of the configuration', () => {
  it('with the servers of a file in its place and pasted ones last', async () => {
    const text =
      'mcpServers: { z: { command: z } }\nsources: { b: { files: ./b }, m: { mcpFile: ./m.json }, a: { files: ./a } }';
    const servers = { mcpServers: { y: { command: 'y' }, x: { command: 'x' } } };
    const { config } = await loadYaml(text, {}, { 'm.json': JSON.stringify(servers) });
    expect(Object.keys(config.sources)).toEqual(['b', 'y', 'x', 'a', 'z']);
  });
});

describe('relative paths start at the folder of the file', () => {
  it('wherever the working directory is', async () => {
    const cwd = writeFolder({
      'deep/crib.yaml': `
sources:
  a: { files: [./tools, /abs, ../up, "~/home"] }
  b: { modules: plugins }
  c: { openapi: ./api.yaml }
  d: { openapi: "https://x.y/api.yaml" }
  e: { module: ./source.ts, options: { path: ./free } }
  f: { module: some-package/source }
  g: { mcp: { command: ./bin/server, args: [./untouched], cwd: ./run, envFile: .env } }
  h: { mcp: { command: npx } }
services: { s: ../s.ts, p: "@scope/package" }
executors: { shell: { roots: [.] }, python: { interpreter: venv/bin/python }, mine: { module: ./e.ts } }
extensions: { mine: { module: ./x.ts } }
retrieval: { module: ./r.ts }
secrets: { s: { file: ./s.txt } }
store: { url: "sqlite:state/crib.db" }
`,
    });
    const { config, folder } = await loadConfig({ file: 'deep/crib.yaml', cwd, env: { HOME: '/home/me' } });
    const at = (path: string) => join(cwd, 'deep', path);
    expect(folder).toBe(at('.'));
    expect(config).toEqual({
      sources: {
        a: { files: [at('tools'), '/abs', join(cwd, 'up'), '/home/me/home'] },
        b: { modules: at('plugins') },
        c: { openapi: at('api.yaml') },
        d: { openapi: 'https://x.y/api.yaml' },
        e: { module: at('source.ts'), options: { path: './free' } },
        f: { module: 'some-package/source' },
        g: { mcp: { command: at('bin/server'), args: ['./untouched'], cwd: at('run'), envFile: at('.env') } },
        h: { mcp: { command: 'npx', cwd: at('.') } },
      },
      services: { s: join(cwd, 's.ts'), p: '@scope/package' },
      executors: {
        shell: { roots: [at('.')] },
        python: { interpreter: at('venv/bin/python') },
        mine: { module: at('e.ts') },
      },
      extensions: { mine: { module: at('x.ts') } },
      retrieval: { module: at('r.ts') },
      secrets: { s: { file: at('s.txt') } },
      store: { url: `sqlite:${at('state/crib.db')}` },
    });
  });

  it('with variables in them', async () => {
    const { config, folder } = await loadYaml('sources: { a: { files: "./${A}" } }', { A: 'tools' });
    expect(config.sources.a).toEqual({ files: join(folder, 'tools') });
  });

  it.each([
    ['sqlite::memory:', 'sqlite::memory:'],
    ['sqlite:///abs/crib.db', 'sqlite:/abs/crib.db'],
    ['postgres://u@h/d', 'postgres://u@h/d'],
  ])('but not in %s', async (url, expected) => {
    expect((await readConfigObject({ store: { url } }, { folder: '/x', env: {} })).config.store).toEqual({
      url: expected,
    });
  });
});

describe('which file is read', () => {
  it('is the one in the working directory', async () => {
    for (const name of ['toolcrib.yaml', 'toolcrib.yml', 'toolcrib.json']) {
      const cwd = writeFolder({ [name]: '{ "defaultProfile": "a" }' });
      expect(await loadConfig({ cwd, env: {} })).toMatchObject({
        file: join(cwd, name),
        config: { defaultProfile: 'a' },
        files: [join(cwd, name)],
      });
    }
  });

  it('is the first of several, and the others are noted', async () => {
    const cwd = writeFolder({ 'toolcrib.json': '{}', 'toolcrib.yaml': 'defaultProfile: a' });
    const { config, notes } = await loadConfig({ cwd, env: {} });
    expect(config.defaultProfile).toBe('a');
    expect(notes).toEqual(['toolcrib.json is ignored, because toolcrib.yaml exists.']);
  });

  it('is none if the folder has none', async () => {
    const cwd = writeFolder();
    const { config, file, folder, files } = await loadConfig({ cwd, env: {} });
    expect({ config, file, folder, files }).toEqual({
      config: { sources: {} },
      file: undefined,
      folder: cwd,
      files: [],
    });
  });

  it('must exist if it is named', async () => {
    const cwd = writeFolder();
    expect(await messageOf(loadConfig({ file: 'missing.yaml', cwd, env: {} }))).toBe('missing.yaml does not exist.');
  });

  it('can tell the place of a value', async () => {
    const { locate } = await loadYaml('profiles:\n  a:\n    active: [x]\n');
    expect(locate(['profiles', 'a'])).toEqual({ line: 2, column: 3 });
    expect(locate(['profiles', 'a', 'active', 0])).toEqual({ line: 3, column: 14 });
    expect(locate(['profiles', 'a', 'nowhere', 'deep'])).toEqual({ line: 2, column: 3 });
  });
});
