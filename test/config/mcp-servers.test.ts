// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfigObject } from '../../src/crib/config/load-config.ts';
import { loadYaml, messageOf, mistakesIn } from './write.ts';

const readServer = async (server: object, env: Readonly<Record<string, string>> = {}) => {
  const { config, problems, notes, readings } = await readConfigObject(
    { mcpServers: { s: server } },
    { folder: '/project', env },
  );
  return { source: config.sources.s, problems, notes, readings };
};
const readFile = (content: string, name = 'mcp.yaml') =>
  loadYaml(`sources: { legacy: { mcpFile: ./${name} } }`, {}, { [name]: content });

/** The configuration of seed 004, as it is. */
const SEED_004 = `playwright:
  command: "npx"
  args: ["@playwright/mcp@latest"]
  bundle: "browser_automation"  # Optional, defaults to client name

sequential-thinking:
  command: "npx"
  args: ["@modelcontextprotocol/server-sequential-thinking"]
  bundle: "reasoning"
`;

describe('each server of a file becomes a source of its own name', () => {
  it('in the map of seed 004, with its bundle', async () => {
    const { config, folder, problems, notes } = await readFile(SEED_004);
    expect({ problems, notes }).toEqual({ problems: [], notes: [] });
    expect(config.sources).toEqual({
      playwright: {
        mcp: { command: 'npx', args: ['@playwright/mcp@latest'], cwd: folder },
        bundle: 'browser_automation',
      },
      'sequential-thinking': {
        mcp: { command: 'npx', args: ['@modelcontextprotocol/server-sequential-thinking'], cwd: folder },
        bundle: 'reasoning',
      },
    });
  });

  it.each(['mcpServers', 'servers', 'context_servers'])('under %s, where its program keeps it', async (key) => {
    const { config } = await readFile(JSON.stringify({ inputs: [], [key]: { a: { url: 'https://x.y' } } }), 'mcp.json');
    expect(config.sources).toEqual({ a: { mcp: { url: 'https://x.y' } } });
  });

  it('even if a server has such a name', async () => {
    const { config } = await readFile('servers: { command: x }\nother: { command: y }');
    expect(Object.keys(config.sources)).toEqual(['servers', 'other']);
  });

  it('with the settings of the source that names the file', async () => {
    const text = 'sources: { legacy: { mcpFile: ./mcp.yaml, trust: true, share: caller, bundle: all } }';
    const { config } = await loadYaml(text, {}, { 'mcp.yaml': SEED_004 });
    expect(config.sources.playwright).toMatchObject({ trust: true, share: 'caller', bundle: 'browser_automation' });
    expect(config.sources.playwright).not.toHaveProperty('mcpFile');
  });

  it('in JSON with comments and trailing commas, as editors write it', async () => {
    const content = `{
\t// a comment with "quotes" and { braces
\t"servers": { /* another */
\t\t"a": { "type": "http", "url": "https://x.y//z", "headers": { "A": "/* no comment */" }, },
\t},
}`;
    const { config } = await readFile(content, 'mcp.json');
    expect(config.sources).toEqual({
      a: { mcp: { type: 'http', url: 'https://x.y//z', headers: { A: '/* no comment */' } } },
    });
  });

  it('with paths from the folder of that file, or from the project of .vscode and .cursor', async () => {
    const server = { a: { command: './a', cwd: 'b' } };
    const read = async (name: string) => {
      const { config, folder } = await readFile(JSON.stringify(server), name);
      return JSON.parse(JSON.stringify(config.sources.a).replaceAll(`${folder}/`, ''));
    };
    expect(await read('deep/mcp.json')).toEqual({ mcp: { command: 'deep/a', cwd: 'deep/b' } });
    expect(await read('.vscode/mcp.json')).toEqual({ mcp: { command: 'a', cwd: 'b' } });
  });

  it('and the file is watched like the configuration', async () => {
    const { files, folder } = await readFile(SEED_004);
    expect(files).toEqual([join(folder, 'toolcrib.yaml'), join(folder, 'mcp.yaml')]);
  });
});

describe('a file of servers that cannot be used', () => {
  it.each([
    ['is not there', undefined, 'mcp.yaml does not exist.'],
    ['does not parse', 'a: b: c', /^mcp\.yaml:1:4: Nested mappings are not allowed/],
    ['holds something else', 'tools:\n  - name: x\n', undefined],
  ])('%s: its sources are left out and nothing else', async (_, content, message) => {
    const text = 'sources: { legacy: { mcpFile: ./mcp.yaml }, good: { files: ./a } }';
    const { config, problems } = await loadYaml(text, {}, content === undefined ? {} : { 'mcp.yaml': content });
    expect(Object.keys(config.sources)).toEqual(['good']);
    expect(problems).toHaveLength(1);
    if (message !== undefined) expect(problems[0]?.message).toMatch(message);
  });

  it('names its own line if one of its servers is wrong', async () => {
    const { config, problems } = await readFile('a: { command: x }\nb: { args: 1 }\nc: { command: "${MISSING}" }\n');
    expect(Object.keys(config.sources)).toEqual(['a']);
    expect(problems).toEqual([
      { source: 'b', message: 'b needs one of command, url.', file: 'mcp.yaml', line: 2, column: 1 },
      { source: 'c', message: expect.stringContaining('MISSING'), file: 'mcp.yaml', line: 3, column: 15 },
    ]);
  });

  it('that is empty is noted', async () => {
    const { problems, notes } = await readFile('# nothing\n');
    expect({ problems, notes }).toEqual({ problems: [], notes: ['mcp.yaml contains no MCP servers.'] });
  });
});

describe('a name that is also in sources is an error', () => {
  it('in mcpServers', async () => {
    const text = 'sources: { a: { files: ./a } }\nmcpServers:\n  a: { command: x }\n';
    expect(await mistakesIn(text)).toMatch(
      /^toolcrib\.yaml:3:3: "a" is already the name of another source; rename one/,
    );
  });

  it('in a file of servers', async () => {
    const loading = loadYaml(
      'sources: { a: { files: ./a }, legacy: { mcpFile: ./mcp.yaml } }',
      {},
      { 'mcp.yaml': 'b: { command: x }\na: { command: x }\n' },
    );
    expect(await messageOf(loading)).toMatch(/^mcp\.yaml:2:1: "a" is already the name of another source/);
  });

  it('in both', async () => {
    const text = 'sources: { legacy: { mcpFile: ./mcp.yaml } }\nmcpServers: { a: { command: x } }';
    const loading = loadYaml(text, {}, { 'mcp.yaml': 'a: { command: x }' });
    expect(await messageOf(loading)).toMatch(/^toolcrib\.yaml:2:15: "a" is already the name of another source/);
  });

  it('even if the source has problems of its own', async () => {
    expect(await mistakesIn('sources: { a: {} }\nmcpServers: { a: { command: x } }')).toMatch(
      /is already the name of another source/,
    );
  });
});

describe('a pasted block is taken as it is', () => {
  it.each([
    ['of Claude', { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: 'b' } }, { type: 'stdio' }],
    ['of Cursor', { url: 'https://x.y/sse', headers: { A: 'b' } }, { url: 'https://x.y/sse', headers: { A: 'b' } }],
    ['of VS Code', { type: 'http', url: 'https://x.y' }, { type: 'http', url: 'https://x.y' }],
    ['with a file of variables', { command: 'x', envFile: '${workspaceFolder}/.env' }, { envFile: '/project/.env' }],
    ['with the long name of HTTP', { type: 'streamable-http', url: 'https://x.y' }, { type: 'http' }],
    ['of Gemini', { httpUrl: 'https://x.y' }, { url: 'https://x.y' }],
    ['of Windsurf', { serverUrl: 'https://x.y' }, { url: 'https://x.y' }],
    ['of an older Zed', { command: { path: 'x', args: ['a'], env: { B: 'c' } } }, { command: 'x', args: ['a'] }],
    [
      'with both ways and a type',
      { type: 'sse', command: '', url: 'https://x.y' },
      { type: 'sse', url: 'https://x.y' },
    ],
    ['with numbers in arguments', { command: 'x', args: ['--port', 80] }, { args: ['--port', '80'] }],
    [
      'with numbers and booleans in the environment',
      { command: 'x', env: { A: 1, B: true } },
      { env: { A: '1', B: 'true' } },
    ],
  ])('%s', async (_, server, expected) => {
    const { source, problems } = await readServer(server);
    expect(problems).toEqual([]);
    expect(source).toMatchObject({ mcp: expected });
  });

  it('and unknown settings are noted, not refused', async () => {
    const { source, problems, notes } = await readServer({
      command: 'x',
      gallery: 'https://x.y',
      trust: true,
    });
    expect(source).toEqual({ mcp: { command: 'x', cwd: '/project' } });
    expect({ problems, notes }).toEqual({
      problems: [],
      notes: ['mcpServers.s: ignored keys: gallery, trust.'],
    });
  });

  it.each([{ disabled: true }, { enabled: false }])('and left out if it is switched off: %o', async (more) => {
    const { source, problems, notes, readings } = await readServer({ command: 'x', ...more });
    expect({ source, problems, notes }).toEqual({ source: undefined, problems: [], notes: [] });
    expect(readings).toEqual(['mcpServers.s is disabled and skipped.']);
  });

  it.each([
    [{ initTimeoutMs: 2500 }, 2500],
    [{ startup_timeout_ms: 2500 }, 2500],
    [{ startup_timeout_sec: 2.5 }, 2500],
    [{ startup_timeout_sec: '30' }, 30_000],
    [{ startup_timeout_sec: 1200 }, 1_200_000],
    [{ initTimeoutMs: 1e12 }, 86_400_000],
  ])('and %o is the start timeout', async (more, initTimeoutMs) => {
    const { source, problems, notes, readings } = await readServer({ command: 'x', ...more });
    expect({ problems, notes }).toEqual({ problems: [], notes: [] });
    expect(source).toEqual({ mcp: { command: 'x', cwd: '/project' }, initTimeoutMs });
    const [[key, value] = []] = Object.entries(more);
    expect(readings).toEqual([`mcpServers.s: ${key}: ${value} is the start timeout, ${initTimeoutMs} ms.`]);
  });

  it.each([
    [{ timeout: 60 }, 60_000],
    [{ timeout: 999 }, 999_000],
    [{ timeout: 1000 }, 1000],
    [{ timeout: 600_000 }, 600_000],
    [{ tool_timeout_sec: 45 }, 45_000],
    [{ tool_timeout_sec: 1200 }, 1_200_000],
  ])('and %o is the call timeout', async (more, timeoutMs) => {
    const { source, problems, notes, readings } = await readServer({ url: 'https://x.y', ...more });
    expect({ problems, notes }).toEqual({ problems: [], notes: [] });
    expect(source).toEqual({ mcp: { url: 'https://x.y' }, overrides: { '*': { policy: { timeoutMs } } } });
    const [[key, value] = []] = Object.entries(more);
    expect(readings).toEqual([`mcpServers.s: ${key}: ${value} is the call timeout, ${timeoutMs} ms.`]);
  });

  it('and of two settings for one time the more exact one counts', async () => {
    const { source, readings } = await readServer({ command: 'x', startup_timeout_sec: 9, startup_timeout_ms: 10 });
    expect(source).toMatchObject({ initTimeoutMs: 10 });
    expect(readings[0]).toContain('startup_timeout_sec is ignored, because startup_timeout_ms is set');
  });

  it.each([0, -1, 'soon', null, true, [1]])('and an invalid time is reported and ignored: %j', async (timeout) => {
    const { source, problems, readings } = await readServer({ command: 'x', timeout });
    expect({ source, problems }).toEqual({ source: { mcp: { command: 'x', cwd: '/project' } }, problems: [] });
    expect(readings).toEqual(['mcpServers.s: timeout is not a time above 0 and is ignored.']);
  });

  it.each([{ autoApprove: ['wipe'] }, { alwaysAllow: ['wipe'] }, { autoApprove: true }])(
    'and a setting that would skip approval is not used: %o',
    async (more) => {
      const { source, notes, readings } = await readServer({ command: 'x', ...more });
      expect({ source, notes }).toEqual({ source: { mcp: { command: 'x', cwd: '/project' } }, notes: [] });
      expect(readings).toEqual([expect.stringContaining(`${Object.keys(more)[0]} is ignored`)]);
    },
  );

  it('and its conversion is reported without values of headers and variables', async () => {
    const child = await readServer({ type: 'stdio', command: 'x', cwd: 'a', envFile: '.env', env: { A: 'hunter2' } });
    expect(child.readings).toEqual([
      'mcpServers.s: type: stdio; it runs in /project/a; variables come from /project/.env.',
    ]);
    const headers = { Authorization: 'Bearer hunter2' };
    const remote = await readServer({ transport: 'streamable-http', httpUrl: 'https://ann:hunter2@x.y', headers });
    expect(remote.readings).toEqual([
      'mcpServers.s: transport is read as type; httpUrl is read as url; type: http; header Authorization is sent with every request.',
    ]);
  });

  it('and settings for tools of the source that names the file take precedence', async () => {
    const text = `sources: { legacy: { mcpFile: ./mcp.yaml, initTimeoutMs: 5, overrides: { "*": { title: T, policy: { timeoutMs: 7 } }, "a*": { title: A } } } }`;
    const content = 'a: { command: x, timeout: 60, initTimeoutMs: 9 }\nb: { command: y }\n';
    const { config } = await loadYaml(text, {}, { 'mcp.yaml': content });
    const overrides = { '*': { title: 'T', policy: { timeoutMs: 7 } }, 'a*': { title: 'A' } };
    expect(config.sources.a).toMatchObject({ initTimeoutMs: 9, overrides });
    expect(config.sources.b).toMatchObject({ initTimeoutMs: 5, overrides });
  });

  it('under any name', async () => {
    const mcpServers = { '@21st-dev/magic': { command: 'x' }, 'my server': { command: 'y' }, 'ä.b': { command: 'z' } };
    const { config, problems } = await readConfigObject({ mcpServers }, { folder: '/', env: {} });
    expect(problems).toEqual([]);
    expect(Object.keys(config.sources)).toEqual(['@21st-dev/magic', 'my server', 'ä.b']);
  });

  it.each(['1', '\x1b[31m', 'x'.repeat(65)])('except an invalid name: %j', async (name) => {
    const { problems } = await readConfigObject({ mcpServers: { [name]: { command: 'x' } } }, { folder: '/', env: {} });
    expect(problems).toMatchObject([{ source: name, message: expect.stringContaining('is not a valid source name') }]);
  });

  it.each([
    ['an empty one', null, 'must be a map that describes a server, got null'],
    ['a text', 'npx x', 'must be a map that describes a server, got "npx x"'],
    ['one without command or address', {}, 'needs one of command, url'],
    ['arguments that are a text', { command: 'x', args: '-y' }, 'mcpServers.s.args must be a list'],
    ['an unknown type', { type: 'carrier-pigeon', url: 'https://x.y' }, 'mcpServers.s.type must be one of http, sse'],
    ['an address that is none', { url: 'x.y' }, 'mcpServers.s.url must be a URL that starts with'],
    ['a bundle that cannot be', { command: 'x', bundle: 'a b' }, 'mcpServers.s.bundle must be letters'],
  ])('an error fails only that source: %s', async (_, server, message) => {
    const { config, problems } = await readConfigObject(
      { mcpServers: { s: server, good: { command: 'x' } } },
      { folder: '/', env: {} },
    );
    expect(Object.keys(config.sources)).toEqual(['good']);
    expect(problems).toEqual([{ source: 's', message: expect.stringContaining(message) }]);
  });
});

describe('variables of a pasted block', () => {
  it.each([
    ['${env:A}', 'value'],
    ['${A}', 'value'],
    ['${A:-b}', 'value'],
    ['${env:MISSING:-b}', 'b'],
    ['${workspaceFolder}/x', '/project/x'],
    ['${workspaceFolderBasename}', 'project'],
    ['${userHome}', '/home/me'],
    ['${/}', '/'],
    ['$${input:a}', '${input:a}'],
  ])('%s', async (text, expected) => {
    const { source } = await readServer({ command: 'x', args: [text] }, { A: 'value', HOME: '/home/me' });
    expect(source).toMatchObject({ mcp: { args: [expected] } });
  });

  it('that require user input fail that source with a sentence', async () => {
    const { problems } = await readServer({ command: 'x', env: { KEY: '${input:key}' } });
    expect(problems).toEqual([
      {
        source: 's',
        message:
          'mcpServers.s.env.KEY has "${input:key}", which prompts the user in an editor; write ${NAME} or ${secret:NAME} instead.',
      },
    ]);
  });
});
