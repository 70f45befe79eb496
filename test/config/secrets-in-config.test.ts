// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { describe, expect, it } from 'vitest';
import { readConfigObject } from '../../src/crib/config/load-config.ts';
import { loadYaml, mistakesIn } from './write.ts';

const DECLARED = 'secrets: { github: { env: GITHUB_TOKEN, hosts: [example.com] } }\n';
const template = (...parts: readonly unknown[]) => ({ secretTemplate: parts });
const secret = { secret: 'github' };

describe('a secret is named where it is used, and the configuration does not read its value', () => {
  it.each([
    ['in the environment of a server', 'sources: { a: { mcp: { command: x, env: { T: "${secret:github}" } } } }'],
    ['in a header of a server', 'sources: { a: { mcp: { url: "https://x.y", headers: { T: "${secret:github}" } } } }'],
    ['in a header of a list of specs', 'sources: { a: { http: "https://x.y", headers: { T: "${secret:github}" } } }'],
    ['in a header of an API', 'sources: { a: { openapi: ./a.yaml, headers: { T: "${secret:github}" } } }'],
    ['in a pasted block', 'mcpServers: { a: { command: x, env: { T: "${secret:github}" } } }'],
    ['as a key', 'retrieval: { embeddings: { url: "https://x.y", model: m, key: "${secret:github}" } }'],
    ['as the secret of a webhook', 'extensions: { approval: { webhook: { url: "https://x.y", secret: github } } }'],
    [
      'likewise, spelt out',
      'extensions: { approval: { webhook: { url: "https://x.y", secret: "${secret:github}" } } }',
    ],
  ])('%s', async (_, text) => {
    const { config, problems } = await loadYaml(DECLARED + text);
    expect(problems).toEqual([]);
    expect(JSON.stringify(config)).toContain(JSON.stringify(template(secret)));
    expect(JSON.stringify(config)).not.toContain('${');
  });

  it('beside text and variables', async () => {
    const text = 'sources: { a: { mcp: { command: x, env: { T: "a ${A} ${secret:github} $${z}" } } } }';
    const { config } = await loadYaml(DECLARED + text, { A: 'b' });
    expect(config.sources.a).toMatchObject({ mcp: { env: { T: template('a b ', secret, ' ${z}') } } });
  });

  it('in an address, after its host', async () => {
    const url = (value: string) => loadYaml(`${DECLARED}sources: { a: { mcp: { url: "${value}" } } }`);
    const { config } = await url('https://x.y/mcp?key=${secret:github}');
    expect(config.sources.a).toEqual({ mcp: { url: template('https://x.y/mcp?key=', secret) } });
    for (const wrong of [
      'https://${secret:github}',
      'https://${secret:github}.x.y/',
      'https://u:${secret:github}@x.y/',
    ]) {
      expect((await url(wrong)).problems).toMatchObject([
        { source: 'a', message: expect.stringMatching(/only after the host/) },
      ]);
    }
  });

  it('in the address of a PostgreSQL, but not of a file', async () => {
    const { config } = await loadYaml(`${DECLARED}store: { url: "postgres://u:\${secret:github}@db/x" }`);
    expect(config.store?.url).toEqual(template('postgres://u:', secret, '@db/x'));
    expect(await mistakesIn(`${DECLARED}store: { url: "sqlite:\${secret:github}" }`)).toMatch(/only in a Post/);
  });

  it('in an inline tool, whose texts are left to the spec reader', async () => {
    const run = { kind: 'http', url: 'https://x.y/${A}', headers: { T: 'Bearer ${secret:nobody} $${b} ${' } };
    const tool = { name: 'a', description: 'Costs ${A}', input: { type: 'object', default: '${A' }, run };
    const { config } = await loadYaml(`${DECLARED}tools: [${JSON.stringify(tool)}]`, { A: 'b' });
    expect(config.tools).toEqual([tool]);
  });
});

describe('a secret is not allowed', () => {
  it.each([
    ['in a process argument', 'args: ["${secret:github}"]'],
    ['in a command', 'args: [], cwd: "${secret:github}"'],
  ])('%s', async (_, part) => {
    const { problems } = await loadYaml(`${DECLARED}sources: { a: { mcp: { command: x, ${part} } } }`);
    expect(problems).toMatchObject([
      { source: 'a', message: expect.stringMatching(/may not contain a secret: use secrets only in env, headers/) },
    ]);
  });

  it('in a listed text', async () => {
    const text = 'bundles: { a: { description: "${secret:github}" } }';
    expect(await mistakesIn(DECLARED + text)).toMatch(/bundles\.a\.description may not contain a secret/);
  });
});

describe('a secret that is not declared', () => {
  it('is an error with the nearest name', async () => {
    const { problems } = await loadYaml(
      `${DECLARED}sources: { a: { http: "https://x.y", headers: { T: "\${secret:githb}" } } }`,
    );
    expect(problems).toMatchObject([
      {
        message: expect.stringMatching(
          /headers\.T names the secret "githb", which is not declared under secrets\. Did you mean "github"\?/,
        ),
      },
    ]);
  });

  it('may be declared by code', async () => {
    const value = { retrieval: { embeddings: { url: 'https://x.y', model: 'm', key: '${secret:mine}' } } };
    const { config } = await readConfigObject(value, { folder: '/', env: {}, secretNames: ['mine'] });
    expect(config.retrieval).toMatchObject({ embeddings: { key: template({ secret: 'mine' }) } });
  });

  it('is only noted if a plain name refers to it', async () => {
    const { notes } = await loadYaml('extensions: { approval: { webhook: { url: "https://x.y", secret: chat } } }');
    expect(notes).toEqual([expect.stringMatching(/webhook\.secret names the secret "chat", which is not declared/)]);
  });

  it('is an error if a reference names it', async () => {
    const text = 'extensions: { approval: { webhook: { url: "https://x.y", secret: "${secret:chat}" } } }';
    expect(await mistakesIn(text)).toMatch(
      /webhook\.secret names the secret "chat", which is not declared under secrets/,
    );
  });

  it('cannot be named by a variable, which would reveal its value', async () => {
    const text = 'extensions: { approval: { webhook: { url: "https://x.y", secret: "${HOOK}" } } }';
    expect(await mistakesIn(text, { HOOK: 'value' })).toMatch(/must be the name of a secret declared under/);
  });
});
