import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { writeWhole } from '../../../src/doors/cli/commands/write-config.ts';
import { createWorkshop, MAIN, SURROUNDINGS, type Workshop } from './workshop.ts';

let shop: Workshop;
const open = (files: Readonly<Record<string, string>> = {}) => {
  shop = createWorkshop(files);
  return shop;
};
const read = () => readFileSync(join(shop.folder, 'toolcrib.yaml'), 'utf8');
afterEach(() => shop.remove());

describe('toolcrib init', () => {
  it('writes a commented configuration that check accepts', async () => {
    open();
    expect(await shop.run(['init'])).toMatchObject({ code: 0, stdout: 'toolcrib.yaml\n' });
    expect(readdirSync(shop.folder)).toEqual(['toolcrib.yaml']);
    expect(read().match(/^\s*#/gm)?.length).toBeGreaterThan(10);
    expect(await shop.run(['check'])).toMatchObject({ code: 0 });
  });

  it.each(['toolcrib.yaml', 'toolcrib.json'])('never replaces %s without --force', async (name) => {
    open({ [name]: '{}' });
    const { code, stderr } = await shop.run(['init']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error: ${name} already exists. Use --force to replace it.\n`,
    });
    expect(readdirSync(shop.folder)).toEqual([name]);
    expect(readFileSync(join(shop.folder, name), 'utf8')).toBe('{}');
  });

  it('--force replaces the whole file and leaves no other file behind', async () => {
    open({ 'toolcrib.yaml': 'old' });
    expect(await shop.run(['init', '--force'])).toMatchObject({ code: 0 });
    expect(readdirSync(shop.folder)).toEqual(['toolcrib.yaml']);
    expect(read()).toContain('defaultProfile: default');
  });

  it('--from imports the servers of an mcp.json, with comments', async () => {
    const servers = {
      files: { command: 'npx', args: ['-y', 'server: "files" #1'], env: { HOME: `\${HOME}` } },
      'on: #1': { url: 'https://example.com/mcp', headers: {} },
    };
    open({ 'mcp.json': `// mine\n${JSON.stringify({ mcpServers: servers })}` });
    expect(await shop.run(['init', '--from', 'mcp.json'])).toMatchObject({ code: 0 });
    const { parse } = await import('yaml');
    expect(parse(read()).mcpServers).toEqual(servers);
  });

  it('keeps a file with credentials private and names them without their values', async () => {
    open({ 'mcp.json': '{"mcpServers":{"gh":{"command":"gh-mcp","env":{"TOKEN":"hunter2hunter2"}}}}' });
    const { stdout, stderr } = await shop.run(['init', '--from', 'mcp.json']);
    expect(stderr).toContain('gh.env.TOKEN');
    expect(`${stdout}${stderr}`).not.toContain('hunter2');
    expect(statSync(join(shop.folder, 'toolcrib.yaml')).mode & 0o077).toBe(0);
  });

  it.each([
    ['s.url', { url: 'https://ann:hunter2@x.y/mcp' }],
    ['s.url', { httpUrl: 'https://x.y/mcp?api_key=hunter2' }],
    ['s.args', { command: 'x', args: ['--api-key', 'hunter2'] }],
    ['s.args', { command: 'x', args: ['postgresql://ann:hunter2@db/x'] }],
  ])('also if they are in %s', async (place, server) => {
    open({ 'mcp.json': JSON.stringify({ mcpServers: { s: server } }) });
    const { stdout, stderr } = await shop.run(['init', '--from', 'mcp.json']);
    expect(stderr).toContain(`only you can read the file: ${place}.`);
    expect(`${stdout}${stderr}`).not.toContain('hunter2');
    expect(statSync(join(shop.folder, 'toolcrib.yaml')).mode & 0o077).toBe(0);
  });

  it('a file that another process creates meanwhile stays', () => {
    open({ 'toolcrib.yaml': 'theirs' });
    expect(writeWhole(join(shop.folder, 'toolcrib.yaml'), 'ours', { replace: false, isPrivate: false })).toBe(false);
    expect(readdirSync(shop.folder)).toEqual(['toolcrib.yaml']);
    expect(read()).toBe('theirs');
  });

  it.each([
    ['absent.json', 'absent.json does not exist.'],
    ['empty.json', 'empty.json contains no MCP servers.'],
    ['broken.json', 'broken.json:1'],
  ])('%s is answered with a sentence, and nothing is written', async (from, sentence) => {
    open({ 'empty.json': '{}', 'broken.json': '{ "mcpServers": ' });
    const { code, stderr } = await shop.run(['init', '--from', from]);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
    expect(readdirSync(shop.folder).toSorted()).toEqual(['broken.json', 'empty.json']);
  });
});

describe('toolcrib init and the files of other programs', () => {
  const CURSOR = JSON.stringify({ mcpServers: { files: { command: 'npx', env: { TOKEN: 'hunter2hunter2' } } } });
  const ZED = '// mine\n{ "theme": "dark", "context_servers": { "zed-one": { "command": "x", "args": [], }, }, }';
  const CODEX = `model = "o3"
[mcp_servers.docs] # one
command = "npx"
args = ["-y", "docs # server"]
startup_timeout_sec = 20
[mcp_servers.docs.env]
API_KEY = 'literal \\n'
[mcp_servers."my server"]
url = "https://example.com/mcp"
bearer_token_env_var = "DOCS_TOKEN"
http_headers = { "X-Team" = "acme", Other = "b=c" }
[projects."/x"]
trust_level = "trusted"
many = [
  1,
]
`;
  const HOME = {
    'project/.mcp.json': '{"mcpServers":{"here":{"url":"https://x.y"}}}',
    '.cursor/mcp.json': CURSOR,
    '.claude.json': '{"projects":{},"mcpServers":{}}',
    '.gemini/settings.json': '{"command":"not a server"}',
    '.codeium/windsurf/mcp_config.json': '{ broken',
    '.config/Claude/claude_desktop_config.json': '{"mcpServers":{"desk":{"command":"x"}}}',
    '.config/zed/settings.json': ZED,
    '.codex/config.toml': CODEX,
  };

  it.runIf(process.platform === 'linux')('without a terminal lists the files and how to name one', async () => {
    open(HOME);
    const config = join(shop.folder, 'toolcrib.yaml');
    const { code, stdout, stderr } = await shop.run(['init', '--config', config], { cwd: 'project' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '../toolcrib.yaml\n' });
    const offered = stderr.split('\n').filter((line) => line.includes('--from'));
    expect(offered).toEqual([
      '  toolcrib init --force --from .mcp.json   # Claude Code, .mcp.json: here',
      expect.stringContaining('--from ~/.config/Claude/claude_desktop_config.json   # Claude Desktop'),
      expect.stringContaining('--from ~/.cursor/mcp.json   # Cursor, ~/.cursor/mcp.json: files'),
      expect.stringContaining('--from ~/.codex/config.toml   # Codex, ~/.codex/config.toml: docs, my server'),
      expect.stringContaining('--from ~/.config/zed/settings.json   # Zed'),
    ]);
    expect(stderr).not.toContain('hunter2');
    expect(read()).not.toContain('hunter2');
    expect(read()).not.toContain('\nmcpServers:');
  });

  it('does not mention them if one is named, and prints the same JSON', async () => {
    open({ '.cursor/mcp.json': CURSOR });
    expect(await shop.json(['init'])).toEqual({ file: 'toolcrib.yaml', servers: [] });
    const { stderr } = await shop.run(['init', '--force', '--from', '.cursor/mcp.json']);
    expect(stderr).not.toContain('--from');
    expect(read()).toContain('\nmcpServers:');
  });

  it('imports the servers of a simple Codex configuration', async () => {
    open({ 'config.toml': CODEX });
    expect(await shop.run(['init', '--from', 'config.toml'])).toMatchObject({ code: 0 });
    const { parse } = await import('yaml');
    expect(parse(read()).mcpServers).toEqual({
      docs: {
        command: 'npx',
        args: ['-y', 'docs # server'],
        startup_timeout_sec: 20,
        env: { API_KEY: 'literal \\n' },
      },
      'my server': {
        url: 'https://example.com/mcp',
        headers: { 'X-Team': 'acme', Other: 'b=c', Authorization: `Bearer \${DOCS_TOKEN}` },
      },
    });
  });

  it('and refuses a complex one', async () => {
    open({ 'config.toml': '[mcp_servers.a]\ncommand = "x"\nargs = [\n  "a",\n]\n' });
    const { code, stderr } = await shop.run(['init', '--from', 'config.toml']);
    expect(code).toBe(2);
    expect(stderr).toContain('config.toml:3: this value cannot be imported. Write it as a plain value on one line.');
  });

  it.runIf(process.platform === 'linux').each([
    ['\r', []],
    ['\u001b[B\r', ['files']],
  ])('offers them on a terminal, and imports none unless it is chosen: %j', async (keys, expected) => {
    open({ '.cursor/mcp.json': CURSOR });
    const { parse } = await import('yaml');
    await onTerminal(['init'], keys);
    expect(Object.keys(parse(read()).mcpServers ?? {})).toEqual(expected);
  });
});

/** Runs the command line on a terminal and answers its question. */
async function onTerminal(args: readonly string[], keys: string): Promise<string> {
  const env = { ...SURROUNDINGS, HOME: shop.folder, TERM: 'xterm', NO_COLOR: '1' };
  const command = [process.execPath, MAIN, ...args].join(' ');
  const child = spawn('script', ['-qec', `stty cols 100 rows 30; ${command}`, '/dev/null'], { cwd: shop.folder, env });
  let isAnswered = false;
  child.stdout.on('data', (data) => {
    if (isAnswered || !String(data).includes('none of them')) return;
    isAnswered = true;
    child.stdin.write(keys);
  });
  const said = await text(child.stdout);
  child.stdin.end();
  return said;
}
