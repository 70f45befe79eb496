import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfigText } from '../../src/config/config-text.ts';
import { hasCredentialParameter } from '../../src/core/visible-text.ts';
import { toLine, toLines } from '../../src/doors/cli/output.ts';
import { toAnthropicResults } from '../../src/formats/anthropic.ts';
import { createCrib } from '../../src/index.ts';
import { describeEnd, lastLines, questionIn } from '../../src/kinds/mcp/last-words.ts';
import { serverEnvironment } from '../../src/kinds/mcp/server-environment.ts';
import { surelyTakesNoCall } from '../../src/kinds/python/python-signature.ts';
import { splitDescription } from '../../src/search/split-description.ts';
import { readTemplate } from '../../src/specs/template.ts';
import { folderWith } from '../crib/workshop.ts';

/** So long that a pattern which looks at it again from every character takes minutes: the test runs out of its time. */
const MANY = 200_000;
const run = (text: string) => text.repeat(MANY / text.length);

/** What a server that does not start may have printed. */
const PRINTED: Readonly<Record<string, string>> = {
  'a word': `${run('a')} MODULE_NOT_FOUND`,
  'a path': `${run('/_npx/aaaaaaa')} MODULE_NOT_FOUND`,
  'carriage returns': `${run('\r')}x`,
  'commands to the terminal that never end': run('\u001b]'),
  'commands with a text': run('\u001b]a;'),
  'numbers for the terminal': `\u001b[${run('0;')}`,
  spaces: `${run(' ')}x`,
};

describe('a long run of one character takes time proportional to its length', () => {
  it.each(Object.keys(PRINTED))('in the output of a server: %s', (name) => {
    const said = PRINTED[name] ?? '';
    const server = { command: 'npx', args: [], env: {} };
    expect(describeEnd({ kind: 'ended', code: 1, signal: null }, server, said)).toContain('exit code 1');
    expect(lastLines(said).length).toBeLessThan(1000);
    expect(questionIn(said)).toBeUndefined();
  });

  it.each(Object.keys(PRINTED))('in the output of the command line: %s', (name) => {
    const said = PRINTED[name] ?? '';
    expect(`${toLine(said)}${toLines(said)}`).not.toMatch(/\p{Cc}/u);
  });

  it('in the server address of an API, and in names of arguments', async () => {
    const paths = {
      '/a': {
        get: { parameters: [{ name: `a${run('!')}x`, in: 'query', schema: { type: 'string' } }], responses: {} },
      },
    };
    const description = {
      openapi: '3.0.0',
      info: { title: 'T', version: '1' },
      servers: [{ url: `https://example.com/${run('/')}x` }],
      paths,
    };
    const folder = folderWith({ 'api.json': JSON.stringify(description) });
    const crib = await createCrib({ config: { sources: { api: { openapi: `${folder}/api.json` } } } });
    onTestFinished(() => crib.close());
    expect(crib.catalog.specs.filter(({ source }) => source === 'api').length).toBeLessThanOrEqual(1);
  });

  it.each(['\n', '\n ', ' \n', '\t', '. ', ':\n', '。', '](', '<a', 'ab://'])(
    'in the description of a tool that is searched: %j',
    (text) => {
      const { lead, rest } = splitDescription(`a${run(text)}b`, 'title');
      expect(lead.length + rest.length).toBeLessThanOrEqual(MANY + 2);
    },
  );

  it('in templates, and in the notice about binary results', () => {
    expect(readTemplate(run('${')).parts).toEqual([run('${')]);
    const content = [{ type: 'audio', data: `${run('=')}x`, mimeType: 'audio/x' }] as const;
    const answer = { id: '1', name: 't', result: { ok: true, status: 'done', content } } as const;
    expect(JSON.stringify(toAnthropicResults([answer]))).toContain('150000 bytes');
  });

  it('in a configuration, in variables and headers of a server, and in a Python module', async () => {
    const folder = folderWith({ 'm.py': `x = "${run('\\"')}\ndef f(a):\n  pass\n` });
    expect(surelyTakesNoCall({ folder, module: 'm.py', function: 'f' })).toBe(true);
    expect(await readConfigText(`{}${run('/* ')}`, 'toolcrib.json')).toMatchObject({ value: {} });
    await expect(readConfigText(`{"a": "${run('\\"')}`, 'toolcrib.json')).rejects.toThrow('toolcrib.json:1:');
    expect(hasCredentialParameter(run('?'))).toBe(false);
    expect(hasCredentialParameter(`${run('?')}&a=1&my_token=2`)).toBe(true);
    const env = { HTTPS_PROXY: run('//'), npm_config_x: `${run('?')}//` };
    expect(serverEnvironment(env, { command: 'npx', configured: {} }).credentials).toEqual([]);
  });
});
