import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, run, unpack } from './install-packed.ts';
import { installPacked } from './packed-once.ts';

const EXAMPLE = join(ROOT, 'examples/graphql-executor');
const home = mkdtempSync(join(tmpdir(), 'toolcrib-custom-kind-'));
const installed = join(home, 'node_modules/toolcrib-graphql');
const project = join(home, 'project');
let server: ChildProcess;
let endpoint = '';

/** Both packages as their users have them, far from the repository, and the server that the README speaks of. */
beforeAll(async () => {
  installPacked(home);
  await unpack(EXAMPLE, installed);
  cpSync(join(EXAMPLE, 'test'), join(installed, 'test'), { recursive: true });
  mkdirSync(project);
  for (const [name, text] of blocksOf('yaml')) writeFileSync(join(project, name), text);
  server = spawn(process.execPath, [join(installed, 'test/book-server.js'), '0']);
  endpoint = await new Promise((resolve) => server.stdout?.once('data', (text) => resolve(String(text).trim())));
});
afterAll(() => {
  server.kill();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

/** The code blocks of the README that begin with the name of their file. */
function blocksOf(language: string): readonly (readonly [file: string, text: string])[] {
  const page = readFileSync(join(EXAMPLE, 'README.md'), 'utf8');
  const blocks = page.matchAll(new RegExp(`\`\`\`${language}\n# ([\\w.]+)\n([\\s\\S]*?)\`\`\``, 'g'));
  return Array.from(blocks, ([, name = '', text = '']) => [name, text]);
}

const surroundings = () => ({
  ...process.env,
  XDG_CACHE_HOME: join(home, 'cache'),
  BOOKS_URL: endpoint,
  BOOKS_TOKEN: 'hunter2-hunter2',
});

/** The installed command; npx would only find it, slowly. */
function toolcrib(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const command = join(home, 'node_modules/.bin/toolcrib');
  return run(process.execPath, [command, ...words], { cwd: project, env: { ...surroundings(), ...env } });
}

describe('an executor from outside the repository', () => {
  it('its package imports Toolcrib only by its published names', () => {
    const code = readdirSync(EXAMPLE, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFileSync(join(EXAMPLE, file), 'utf8'))
      .join('\n');
    const foreign = [...code.matchAll(/(?:from|import\()\s*'([^']+)'/g)]
      .flatMap(([, name]) => name ?? [])
      .filter((name) => !/^(node:|\.\.?\/[\w-]+\.js$)/.test(name));
    expect([...new Set(foreign)].toSorted()).toEqual(['toolcrib', 'toolcrib/testing']);
  });

  it('passes the contract suite and its own tests where it is installed', async () => {
    const files = ['contract', 'graphql'].map((name) => join(installed, `test/${name}.test.js`));
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap', ...files], { cwd: installed });
    expect(stdout).toMatch(/^# pass (?!0$)\d+$/m);
    expect(stdout).toMatch(/^# fail 0$/m);
    expect(stdout).toContain('leaves no work behind');
  });

  it('compiles strictly against the published types', async () => {
    symlinkSync(join(ROOT, 'node_modules/@types'), join(home, 'node_modules/@types'));
    const strict = ['--noEmit', '--allowJs', '--checkJs', '--strict', '--exactOptionalPropertyTypes'];
    const target = [
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--lib',
      'es2024,dom',
      '--types',
      'node',
      '--skipLibCheck',
    ];
    // Copied out of node_modules, whose JavaScript is not looked at.
    cpSync(installed, join(home, 'checked'), { recursive: true });
    const files = ['index.js', 'test/contract.test.js', 'test/graphql.test.js'];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const outcome = run(process.execPath, [tsc, ...strict, ...target, ...files], { cwd: join(home, 'checked') });
    expect(await outcome.catch(({ stdout }) => stdout)).toMatchObject({ stdout: '' });
  });

  it('runs a tool that the command line calls', async () => {
    const words = ['--no-install', 'toolcrib', 'call', 'find_book', 'id=1', '--json'];
    const { stdout } = await run('npx', words, { cwd: project, env: surroundings() });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { book: { id: '1', title: 'Middlemarch' } } });
  });

  it('fails with the message of the server, and refuses arguments before they are sent', async () => {
    await expect(toolcrib(['call', 'find_book', 'id=3'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no such book.'),
    });
    await expect(toolcrib(['call', 'find_book'])).rejects.toMatchObject({ code: 1 });
  });

  it('a secret is sent only to its own hosts, and never shown', async () => {
    const outcome = await toolcrib(['call', 'find_book', 'id=1'], {
      BOOKS_URL: endpoint.replace('127.0.0.1', 'localhost'),
    }).catch((error: { stdout: string; stderr: string }) => error);
    expect(outcome.stderr).toContain('cannot be called');
    expect(outcome.stdout + outcome.stderr).not.toContain('hunter2');
  });

  it('check reports a bad run and bad options', async () => {
    const tools = join(project, 'tools.yaml');
    const good = readFileSync(tools, 'utf8');
    writeFileSync(tools, good.replace('$id: ID!', '$isbn: ID!'));
    const told = await toolcrib(['check']).then(
      ({ stdout, stderr }) => stdout + stderr,
      ({ stdout, stderr }) => stdout + stderr,
    );
    writeFileSync(tools, good);
    expect(told).toContain('no argument "isbn" of the tool can fill $isbn');
    await expect(toolcrib(['list'], { BOOKS_URL: 'ftp://books.example.com/' })).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The executor "graphql": The graphql executor: endpoint must be an address'),
    });
  });
});
