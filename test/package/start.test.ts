import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js');
const run = promisify(execFile);
const DAY_MS = 24 * 60 * 60 * 1000;
const isRoot = process.getuid?.() === 0;

const SPEC = `
tools:
  - name: read_file
    description: Read a file — one of the workspace
    input: { type: object, properties: { path: { type: string, pattern: '^[a-z]+$' } }, required: [path] }
    run: { kind: shell, command: ["cat", "--", "{path}"] }
`;
const LISTED = 'read_file  shell  local';

let home: string;
let project: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-start-')));
  project = join(home, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'toolcrib.yaml'), 'sources:\n  local: { files: ./tools.yaml }\n');
  writeFileSync(join(project, 'tools.yaml'), SPEC);
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

async function toolcrib(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const surroundings = { PATH: process.env.PATH, HOME: home, ...env };
  const { stdout } = await run(process.execPath, [MAIN, ...args], { cwd: project, env: surroundings });
  return stdout;
}

/** What lies in the project besides what was written there. */
const leftBehind = () => readdirSync(project).filter((name) => !['toolcrib.yaml', 'tools.yaml'].includes(name));
const cacheFolder = () => join(home, '.cache/toolcrib');
const kept = () => globSync('*/toolcrib-*', { cwd: cacheFolder() }).toSorted();

/** What a process had loaded when it ended; a script was given compiled code that was accepted, rejected, or none. */
interface Loaded {
  readonly files: readonly string[];
  readonly scripts: readonly (readonly [file: string, isRejected: boolean | undefined])[];
  readonly parts: readonly string[];
}

/** Writes a module that reports what a process has loaded when it ends. */
function writeSpy() {
  const report = join(home, 'loaded.json');
  const spy = join(home, 'spy.cjs');
  writeFileSync(
    spy,
    `const vm = require('node:vm');
     const files = [], scripts = [];
     require('node:module').registerHooks({ load(url, context, next) { files.push(url); return next(url, context); } });
     vm.Script = class extends vm.Script { constructor(text, options) { super(text, options); scripts.push([options.filename, this.cachedDataRejected]); } };
     process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(report)}, JSON.stringify({ files, scripts, parts: process.moduleLoadList })));`,
  );
  return { report, spy };
}

/** The one file that was kept. */
function keptFile(): string {
  const [name = '', ...others] = kept();
  expect(others).toEqual([]);
  return join(cacheFolder(), name);
}

describe('the built command', () => {
  it('loads one file of compiled code, and no more of Node than it uses', async () => {
    const { spy, report } = writeSpy();
    await toolcrib(['list']);
    expect(await toolcrib(['list'], { NODE_OPTIONS: `--require ${spy}` })).toContain(LISTED);
    const { files, scripts, parts } = JSON.parse(readFileSync(report, 'utf8')) as Loaded; // written just now
    expect(files.filter((url) => !url.startsWith('node:'))).toEqual([pathToFileURL(MAIN).href]);
    expect(scripts).toEqual([[join(dirname(MAIN), 'run-cli.cjs'), false]]);
    const heavy = ['crypto', 'child_process', 'worker_threads', 'sqlite', 'http', 'https', 'dns'];
    expect(heavy.filter((name) => parts.includes(`NativeModule ${name}`))).toEqual([]);
  });

  it('calls a tool of a server on stdio without loading the MCP SDK', async () => {
    const { spy, report } = writeSpy();
    const answers = `{
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
      'tools/list': { tools: [{ name: 'greet', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'Hello.' }] },
    }`;
    writeFileSync(
      join(project, 'server.cjs'),
      `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
         const { id, method } = JSON.parse(line), result = (${answers})[method];
         const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
         if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
       });`,
    );
    writeFileSync(join(project, 'toolcrib.yaml'), 'sources:\n  s: { mcp: { command: node, args: [./server.cjs] } }\n');
    const env = { NODE_OPTIONS: `--require ${spy}` };
    expect(await toolcrib(['call', 's_greet'], env)).toContain('Hello.');
    const { files } = JSON.parse(readFileSync(report, 'utf8')) as Loaded; // written just now
    expect(files).toContain(pathToFileURL(MAIN).href);
    expect(files.filter((url) => url.includes('/packages/'))).toEqual([]);
  });

  it('prints the same from cached code, and leaves nothing in the project', async () => {
    const first = await toolcrib(['list']);
    const { mtimeMs } = statSync(keptFile());
    expect(await toolcrib(['list'])).toBe(first);
    expect(first).toContain(LISTED);
    expect(statSync(keptFile()).mtimeMs).toBe(mtimeMs);
    expect(leftBehind()).toEqual([]);
    expect(readdirSync(home).toSorted()).toEqual(['.cache', 'project']);
  });

  it('caches compiled code for each command where no other user can write', async () => {
    await toolcrib(['list']);
    await toolcrib(['help']);
    expect(kept()).toEqual([expect.stringMatching(/-help\.cache$/), expect.stringMatching(/-list\.cache$/)]);
    expect(statSync(cacheFolder()).mode & 0o777).toBe(0o700);
    for (const name of kept()) expect(statSync(join(cacheFolder(), name)).mode & 0o777).toBe(0o600);
  });

  it('caches nothing for an unknown command', async () => {
    await expect(toolcrib(['lsit'])).rejects.toMatchObject({ code: 2 });
    expect(kept()).toEqual([]);
  });

  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, 100_000)],
    ['empty', () => Buffer.alloc(0)],
    ['damaged in the middle', (bytes: Buffer) => Buffer.from(bytes).fill(0, 100_000, 104_096)],
    ['something else', () => Buffer.from('compiled code')],
  ])('does not use a cache that is %s, and writes it again', async (_, damage) => {
    await toolcrib(['list']);
    const file = keptFile();
    const damaged = damage(readFileSync(file));
    writeFileSync(file, damaged);
    expect(await toolcrib(['list'])).toContain(LISTED);
    expect(readFileSync(file).equals(damaged)).toBe(false);
  });

  it('uses no folder that other users can write to', async () => {
    mkdirSync(cacheFolder(), { recursive: true });
    chmodSync(cacheFolder(), 0o777);
    expect(await toolcrib(['list'])).toContain(LISTED);
    expect(readdirSync(cacheFolder())).toEqual([]);
  });

  it.runIf(isRoot)('uses no folder of another user', async () => {
    mkdirSync(cacheFolder(), { recursive: true, mode: 0o700 });
    chownSync(cacheFolder(), 12_345, 12_345);
    expect(await toolcrib(['list'])).toContain(LISTED);
    expect(readdirSync(cacheFolder())).toEqual([]);
  });

  it.each([
    ['where there is no home', { HOME: '/dev/null' }],
    ['if the home is not an absolute path', { HOME: 'home' }],
  ])('works and caches nothing %s', async (_, env) => {
    expect(await toolcrib(['list'], env)).toContain(LISTED);
    expect(leftBehind()).toEqual([]);
    expect(existsSync(cacheFolder())).toBe(false);
  });

  it("works and caches no code if Node's cache is off, only names for completion", async () => {
    expect(await toolcrib(['list'], { NODE_DISABLE_COMPILE_CACHE: '1' })).toContain(LISTED);
    expect(leftBehind()).toEqual([]);
    expect(readdirSync(cacheFolder())).toEqual(['names']);
  });

  it('caches in XDG_CACHE_HOME or NODE_COMPILE_CACHE', async () => {
    const folders = { XDG_CACHE_HOME: join(home, 'xdg'), NODE_COMPILE_CACHE: join(home, 'node') };
    for (const [name, folder] of Object.entries(folders)) {
      await toolcrib(['list'], { [name]: folder });
      expect(globSync('**/toolcrib-*-list.cache', { cwd: folder })).toHaveLength(1);
    }
    expect(readdirSync(cacheFolder())).toEqual(['names']); // where Node keeps code says nothing about names
  });

  it('removes caches of earlier versions that are older than a month', async () => {
    await toolcrib(['list']);
    const folder = dirname(keptFile());
    const aged = (name: string, days: number) => {
      const at = new Date(Date.now() - days * DAY_MS);
      writeFileSync(join(folder, name), '');
      utimesSync(join(folder, name), at, at);
    };
    aged('toolcrib-old-list.cache', 40);
    aged('toolcrib-young-list.cache', 20);
    aged('of-node', 40);
    await toolcrib(['help']);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['toolcrib-young-list.cache', 'of-node']));
    expect(readdirSync(folder)).not.toContain('toolcrib-old-list.cache');
  });

  it('is ASCII, so that its text takes one byte a letter in memory', () => {
    const text = readFileSync(join(dirname(MAIN), 'run-cli.cjs'), 'latin1');
    expect(text.match(/.{0,40}[^\0-\x7f].{0,40}/)).toBeNull();
    expect(text).toContain('\\u3002'); // in a regular expression of the search
  });

  it('runs in strict mode, as its sources do', () => {
    for (const name of globSync('*.cjs', { cwd: dirname(MAIN) })) {
      expect(readFileSync(join(dirname(MAIN), name), 'utf8')).toMatch(/^'use strict';/);
    }
  });
});
