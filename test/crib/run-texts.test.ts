// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RUN } from '../../src/core/tool-spec.ts';
import { type Crib, createCrib } from '../../src/index.ts';
import { toSecretText } from '../../src/system/secrets/secret-template.ts';
import { startServer } from '../sources/http-server.ts';
import { cribOf, folderWith, namesOf, nextChange, write } from './workshop.ts';

const DECLARED = 'secrets: { github: { env: CRIB_TEST_TOKEN, hosts: [api.example.com] } }\n';
const HTTP = { kind: 'http', url: 'https://api.example.com' };
const tool = (name: string, run: object) => ({
  name,
  description: `Does ${name}`,
  run: { ...('kind' in run ? {} : HTTP), ...run },
});
const filesOf = (...tools: readonly object[]) => ({
  'toolcrib.yaml': `${DECLARED}sources: { local: { files: ./tools } }\n`,
  'tools/tools.json': JSON.stringify({ tools }, null, 1),
});
const inlineOf = (...tools: readonly object[]) => ({
  'toolcrib.yaml': `${DECLARED}tools:\n${tools.map((one) => `  - ${JSON.stringify(one)}\n`).join('')}`,
});
const runOf = (crib: Crib, name: string) => ({ ...crib.get(name)?.[RUN] });

const VARIABLES = { CRIB_TEST_A: 'a value', CRIB_TEST_EMPTY: '', CRIB_TEST_TRICK: '${secret:github}' };
beforeEach(() => void Object.assign(process.env, VARIABLES));
afterEach(() => {
  for (const name of Object.keys(VARIABLES)) delete process.env[name];
});

describe.each([
  ['a spec file', filesOf],
  ['the configuration itself', inlineOf],
])('variables in %s', (_, write) => {
  it('are filled in within the run of the spec, at any depth, and nowhere else', async () => {
    const run = {
      url: 'https://api.example.com/${CRIB_TEST_A}',
      body: { '${CRIB_TEST_A}': ['${CRIB_TEST_MISSING:-default}', { deep: 'x${CRIB_TEST_EMPTY:-y}' }], n: 1 },
    };
    const words = {
      description: 'Costs ${CRIB_TEST_A}',
      input: { type: 'object', description: '${CRIB_TEST_MISSING}' },
    };
    const crib = await cribOf(folderWith(write({ ...tool('a', run), ...words })));
    expect(runOf(crib, 'a')).toEqual({
      kind: 'http',
      url: 'https://api.example.com/a value',
      body: { '${CRIB_TEST_A}': ['default', { deep: 'xy' }], n: 1 },
    });
    expect(crib.get('a')).toMatchObject(words);
  });

  it('that are missing or malformed are a problem of their entry, with its place, and the others load', async () => {
    const wrong = ['${CRIB_TEST_MISSING}', '${a b}', '${never closed', '${CRIB_TEST_A:-${CRIB_TEST_A}}'];
    const entries = wrong.map((url, index) => tool(`wrong_${index}`, { url }));
    const crib = await cribOf(folderWith(write(tool('first', {}), ...entries, tool('last', {}))));
    expect(namesOf(crib)).toEqual(['first', 'last']);
    const told = crib.warnings().join('\n');
    expect(told).toMatch(
      /line \d+, tools\[1\]: Tool "wrong_0": run\.url needs the environment variable CRIB_TEST_MISSING, which is not set/,
    );
    expect(told).toMatch(/tools\[2\]: Tool "wrong_1": run\.url has "\$\{a b\}", which is not a variable/);
    expect(told).toMatch(/tools\[3\]: .* has an unclosed "\$\{"/);
    expect(told).toMatch(/tools\[4\]: .* has a variable inside the default/);
    expect(crib.sources()[1]).toMatchObject({ state: 'ready', reason: expect.stringContaining('tools[1]') });
  });

  it('cannot add a secret, a variable or an argument through their values', async () => {
    const command = ['echo', '${CRIB_TEST_TRICK}', '${CRIB_TEST_A}', 'a $${plain} ${CRIB_TEST_A}'];
    const crib = await cribOf(folderWith(write(tool('a', { kind: 'shell', command }))));
    const { command: read } = runOf(crib, 'a') as { command: readonly string[] };
    expect(read.map(toSecretText)).toEqual(['echo', '${secret:github}', 'a value', 'a ${plain} a value']);
  });

  it('may be in a path, but not in a command that is split afterwards', async () => {
    const older = (name: string, config: object) => ({ name, tool_type: 'shell', implementation_config: config });
    process.env.CRIB_TEST_A = '/srv/a b';
    const crib = await cribOf(
      folderWith(
        write(
          tool('a', { kind: 'shell', command: ['ls'], cwd: '${CRIB_TEST_A}/c' }),
          older('b', { command: ['ls', '${CRIB_TEST_A}'] }),
          older('c', { command: 'ls ${CRIB_TEST_A}' }),
        ),
      ),
    );
    expect(runOf(crib, 'a')).toMatchObject({ cwd: '/srv/a b/c' });
    expect(runOf(crib, 'b')).toMatchObject({ command: ['ls', '/srv/a b'] });
    expect(namesOf(crib)).toEqual(['a', 'b']);
  });
});

describe('secrets in specs', () => {
  it.each([
    ['a spec file', filesOf],
    ['the configuration itself', inlineOf],
  ])('of %s stay text, and each must be declared', async (_, write) => {
    process.env.CRIB_TEST_TOKEN = 'very-secret-token';
    const header = (text: string) => ({ headers: { Authorization: text } });
    const crib = await cribOf(
      folderWith(
        write(tool('good', header('Bearer ${CRIB_TEST_A} ${secret:github}')), tool('bad', header('${secret:githb}'))),
      ),
    );
    delete process.env.CRIB_TEST_TOKEN;
    expect(runOf(crib, 'good')).toMatchObject(header('Bearer a value ${secret:github}'));
    expect(namesOf(crib)).toEqual(['good']);
    expect(crib.warnings().join('\n')).toMatch(
      /tools\[1\]: Tool "bad": run\.headers\.Authorization names the secret "githb", which is not declared under secrets\. Did you mean "github"\?/,
    );
    expect(JSON.stringify([crib.catalog.specs, crib.warnings()])).not.toContain('very-secret-token');
  });

  it('are found in every spelling of JSON', async () => {
    const line = JSON.stringify(tool('bad', { body: '${secret:nobody}' })).replace('${', '\\u0024\\u007b');
    expect(line).not.toContain('${');
    const folder = folderWith({ ...filesOf(), 'tools/more.ndjson': `${line}\n${JSON.stringify(tool('good', {}))}\n` });
    const crib = await cribOf(folder);
    expect(namesOf(crib)).toEqual(['good']);
    expect(crib.warnings().join('\n')).toContain('names the secret "nobody"');
  });

  it('may be declared by code, and by an edit of the configuration', async () => {
    const folder = folderWith({
      ...filesOf(tool('a', { body: '${secret:mine}' }), tool('b', { body: '${secret:later}' })),
    });
    const crib = await cribOf(folder, { secrets: { mine: { env: 'X' } } });
    expect(namesOf(crib)).toEqual(['a']);
    const changed = nextChange(crib);
    write(folder, {
      'toolcrib.yaml': 'secrets: { later: { env: X } }\nsources: { local: { files: ./tools } }\n',
    });
    await changed;
    expect(namesOf(crib)).toEqual(['a', 'b']);
  });

  it('of a remote list must be declared, too, and its variables are plain text', async () => {
    const server = await startServer();
    server.give({
      tools: [
        tool('good', { body: '${HOME}/${secret:github}/${' }),
        tool('bad', { body: [{ x: '${secret: nobody }' }] }),
      ],
    });
    const folder = folderWith({
      'toolcrib.yaml': `${DECLARED}sources: { team: { http: "${server.url}", secrets: github } }\n`,
    });
    const crib = await cribOf(folder);
    expect(namesOf(crib)).toEqual(['good']);
    expect(runOf(crib, 'good')).toMatchObject({ body: '${HOME}/${secret:github}/${' });
    expect(crib.warnings().join('\n')).toMatch(/tools\[1\]: Tool "bad": run\.body\[0\]\.x names the secret "nobody"/);
  });

  it('of a stored spec must be declared, too, and its variables are plain text', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `${DECLARED}sources: { stored: { database: true, secrets: [github] } }\n`,
    });
    const crib = await cribOf(folder);
    await crib.store?.specs.put(tool('good', { select: '${HOME}', body: '${secret:github}' }), 'ann');
    await crib.store?.specs.put(tool('bad', { body: '${secret:nobody}' }), 'ann');
    await crib.reload();
    expect(namesOf(crib)).toEqual(['good']);
    expect(runOf(crib, 'good')).toMatchObject({ select: '${HOME}', body: '${secret:github}' });
    expect(crib.warnings().join('\n')).toContain('stored spec "bad": Tool "bad": run.body names the secret "nobody"');
  });

  it('that a value would hide are an error, not a text that is sent instead', async () => {
    process.env.CRIB_TEST_A = 'US$';
    const crib = await createCrib({
      config: { tools: [tool('a', { body: '${CRIB_TEST_A}${secret:s}' })] as never },
      secrets: { s: { env: 'X' } },
    });
    expect(namesOf(crib)).toEqual([]);
    expect(crib.warnings().join('\n')).toContain('tools[0]: Tool "a": run.body has a "$" right before a secret');
    await crib.close();
  });
});
