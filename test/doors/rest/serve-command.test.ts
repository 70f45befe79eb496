import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../../crib/workshop.ts';
import { OFFICE } from '../cli/office.ts';
import { createWorkshop, type Workshop } from '../cli/workshop.ts';
import { type Ask, askThrough, execute } from './served.ts';

/** A tool that says when it began, and ends when a file of its own appears. */
const SLOW = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
export const slow = { name: 'slow', description: 'Wait for a file', tags: ['read'], input: { type: 'object' }, execute: async () => {
  writeFileSync('begun', '');
  while (!existsSync('enough')) await setTimeout(10);
  return 'finished';
} };
export const stray = { name: 'stray', description: 'Fail where nobody waits', tags: ['read'], input: { type: 'object' }, execute: () => {
  Promise.reject(new Error('astray'));
  setTimeout(1).then(() => queueMicrotask(() => { throw new Error('astray, too'); }));
  return 'left';
} };
`;

interface Running {
  readonly shop: Workshop;
  readonly child: ChildProcessWithoutNullStreams;
  readonly ask: Ask;
  readonly ended: Promise<readonly [number | null, string | null]>;
  said(): { readonly stdout: string; readonly stderr: string };
}

/** The real command, once it listens. */
async function running(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  config = '',
): Promise<Running> {
  const shop = createWorkshop({
    ...OFFICE,
    'toolcrib.yaml': `${OFFICE['toolcrib.yaml']}\n${config}`,
    'tools/slow.mjs': SLOW,
  });
  onTestFinished(shop.remove);
  const child = shop.start(['serve', '--port', '0', ...args], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  const ended = once(child, 'close') as Promise<[number | null, string | null]>; // so it is documented
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error(`it ended: ${stderr}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
      const [, found] = /listens on (\S+)[\s\S]*Or try:\n.*\n/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return { shop, child, ended, said: () => ({ stdout, stderr }), ask: askThrough((request) => fetch(request), url) };
}

/** The file of the operator token that a server named at its start. */
function tokenFileOf(stderr: string): string {
  return /the operator token from (\S+)\)/.exec(stderr)?.[1] ?? '';
}

describe('toolcrib serve', () => {
  it('prints the address and what to paste, once and on stderr', async () => {
    const { said, ask, shop, child, ended } = await running();
    const { stdout, stderr } = said();
    expect(stdout).toBe('');
    const file = tokenFileOf(stderr);
    const token = readFileSync(file, 'utf8').trim();
    expect(stderr).not.toContain(token);
    expect(stderr).not.toContain('tco_');
    expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:\d+\/mcp\n.*\/mcp\/reader\b.*\n.*\/mcp\/writer\b.*\n/);
    expect(stderr).toMatch(
      /"mcpServers": \{ "toolcrib": \{ "type": "http", "url": "http:\/\/127\.0\.0\.1:\d+\/mcp" \} \}/,
    );
    expect(file.startsWith(join(shop.folder, '.local/state/toolcrib'))).toBe(true);
    expect(statSync(file).mode & 0o077).toBe(0);
    expect((await ask('/api/sources', { token })).status).toBe(200);
    expect((await execute(ask, 'add', { a: 1, b: 2 })).json).toMatchObject({ data: 3 });
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(said().stdout).toBe('');
  });

  it('names the file of TOOLCRIB_OPERATOR_TOKEN_FILE, and prints nothing of it', async () => {
    const token = 'a-token-of-our-own-choice';
    const file = join(folderWith({ token }), 'token');
    chmodSync(file, 0o600);
    const { said, ask } = await running([], { TOOLCRIB_OPERATOR_TOKEN_FILE: file });
    expect(tokenFileOf(said().stderr)).toBe(file);
    expect(said().stderr).not.toContain(token);
    expect((await ask('/api/sources', { token })).status).toBe(200);
  });

  it.each([
    [
      'without a limit',
      '',
      /audit {2}rows are never deleted, about 0\.67 kB per call; set extensions\.audit\.retentionDays/,
    ],
    [
      'for some days',
      'extensions: { audit: { retentionDays: 30 } }',
      /audit {2}rows are kept for 30 days, about 0\.67 kB/,
    ],
    ['not at all', 'extensions: { audit: false }', undefined],
  ])('prints how long calls are recorded and the space they take: %s', async (_, config, words) => {
    const { said } = await running([], {}, config);
    if (words === undefined) expect(said().stderr).not.toContain('audit  rows');
    else expect(said().stderr).toMatch(words);
  });

  it('prints no given token', async () => {
    const token = 'a-token-of-our-own-choice';
    const { said, ask } = await running([], { TOOLCRIB_OPERATOR_TOKEN: token });
    expect(said().stderr).not.toContain(token);
    expect((await ask('/api/sources', { token })).status).toBe(200);
  });

  it('finishes a call on SIGTERM, and ends with 0', async () => {
    const { ask, shop, child, ended } = await running();
    const call = execute(ask, 'slow', {});
    await begun(shop);
    child.kill('SIGTERM');
    await closing(child);
    await expect(ask('/healthz')).rejects.toThrow();
    shop.write('enough', '');
    expect((await call).json).toMatchObject({ ok: true, content: [{ text: 'finished' }] });
    expect(await ended).toEqual([0, null]);
  });

  it('ends at once on a second signal', async () => {
    const { ask, shop, child, ended } = await running();
    const call = execute(ask, 'slow', {}).catch((cause: unknown) => cause);
    await begun(shop);
    child.kill('SIGTERM');
    await closing(child);
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
    expect(await call).toBeInstanceOf(Error);
  });

  it('continues when a tool fails outside of any call', async () => {
    const { ask, said } = await running();
    expect((await execute(ask, 'stray', {})).json).toMatchObject({ ok: true });
    await expect.poll(() => said().stderr).toContain('astray, too');
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('picks up edits while it runs', async () => {
    const { ask, shop, said } = await running();
    const token = readFileSync(tokenFileOf(said().stderr), 'utf8').trim();
    shop.write('toolcrib.yaml', OFFICE['toolcrib.yaml'].replace('writer: {}', 'writer: {}\n  third: {}'));
    await expect.poll(async () => (await ask('/api/profiles', { token })).text, { timeout: 20_000 }).toContain('third');
  });
});

describe('toolcrib serve prints in a sentence', () => {
  it.each([
    [['--port', 'many'], /^error: --port takes a number/],
    [['--port', '99999'], /^error: --port takes a number/],
    [
      ['--host', '0.0.0.0'],
      /^error: The server cannot listen on 0\.0\.0\.0, because the configuration does not require a credential/,
    ],
    [['--host', 'no.such.host.invalid', '--insecure'], /^error: The server cannot listen on no\.such\.host\.invalid:0/],
    [
      ['--host', '203.0.113.7', '--insecure'],
      /^error: The server cannot listen on 203\.0\.113\.7:0: this machine does not have this address/,
    ],
  ])('the problem of %s', async (args, says) => {
    const shop = createWorkshop(OFFICE);
    onTestFinished(shop.remove);
    const port = args.includes('--port') ? [] : ['--port', '0'];
    const { code, stdout, stderr } = await shop.run(['serve', ...port, ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('that the port is in use', async () => {
    const shop = createWorkshop(OFFICE);
    onTestFinished(shop.remove);
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number }; // it listens on a port
    const { code, stderr } = await shop.run(['serve', '--port', String(port)]);
    expect(code).toBe(2);
    expect(stderr).toContain('another program already listens there');
  });

  it('that every client can call tools', async () => {
    const { said } = await running(['--host', '0.0.0.0', '--insecure']);
    await expect.poll(() => said().stderr).toMatch(/WARNING: --insecure: every client that can reach 0\.0\.0\.0/);
  });
});

async function begun(shop: Workshop): Promise<void> {
  await expect
    .poll(() => statSync(join(shop.folder, 'begun'), { throwIfNoEntry: false }) !== undefined, { timeout: 20_000 })
    .toBe(true);
}

/** Resolves when the process has said that it is closing. */
async function closing(child: ChildProcessWithoutNullStreams): Promise<void> {
  for (let text = ''; !text.includes('Shutting down:'); ) text += (await once(child.stderr, 'data')).join('');
}
