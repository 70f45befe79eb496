import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serverOf } from '../../kinds/mcp/upstream.ts';
import { createWorkshop, type Workshop } from './workshop.ts';

const SECRET = 'a-very-secret-value';

const NOISY = JSON.stringify(serverOf('noisy.ts').args);

const CONFIG = `
secrets: { key: { env: NOISY_KEY } }
sources:
  noisy: { mcp: { command: node, args: ${NOISY}, env: { KEY: "\${secret:key}" } } }
  witness: { mcp: { command: node, args: ["-e", "require('fs').writeFileSync('started', '')"] } }
  broken: { mcp: { command: node, args: ["-e", "console.error('no config'); process.exit(3)"] } }
  remote: { mcp: { url: "http://127.0.0.1:9/mcp" }, initTimeoutMs: 500 }
  files: { files: specs.yaml }
tools: [{ name: hello, description: Says hello, run: { kind: shell, command: [echo, hello] } }]
bundles: { all: { include: ["*"] } }
profiles: { default: { active: [witness] } }
`;

function workshop(config = CONFIG): Workshop {
  const shop = createWorkshop({ 'toolcrib.yaml': config, 'specs.yaml': 'tools: []\n' });
  onTestFinished(shop.remove);
  return shop;
}

const env = { NOISY_KEY: SECRET };

/** A command that goes on, and what it has said so far. */
function begin(shop: Workshop, args: readonly string[]) {
  const child: ChildProcessWithoutNullStreams = shop.start(args, { env });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      said[name] += piece;
    });
  /** Resolves with the match, when it is there. */
  const until = async (name: keyof typeof said, pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(said[name]);
      if (found !== null) return found;
      await Promise.race([once(child[name], 'data'), ended.then(() => Promise.reject(new Error(said.stderr)))]);
    }
  };
  return { child, said, ended, until };
}

async function serving(shop: Workshop) {
  const server = begin(shop, ['serve', '--port', '0']);
  const [, url = ''] = await server.until('stderr', /listens on (\S+)[\s\S]*Or try:\n.*\n/);
  const isReady = async () => expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await vi.waitFor(isReady, { timeout: 30_000 });
  const say = async (text: string) => {
    const body = JSON.stringify({ arguments: { text } });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/tools/execute/noisy_say`, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({ ok: true });
  };
  return { ...server, say };
}

describe('toolcrib logs, with a running server of the configuration', () => {
  const SERVED = CONFIG.replace('active: [witness]', '');

  it('prints the output of a source there, without secrets and control characters', async () => {
    const shop = workshop(SERVED);
    const { say } = await serving(shop);
    await say('a first line\nand what has no end');
    const { code, stdout } = await shop.run(['logs', 'noisy'], { env });
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'begun with [secret key]',
      'red red turned',
      'a first line',
      'and what has no end',
      '',
    ]);
    const json = (await shop.run(['logs', 'noisy', '--json'], { env })).stdout.trim().split('\n');
    expect(json.map((line) => JSON.parse(line))).toContainEqual({ source: 'noisy', line: 'a first line' });
    expect(json.join('\n')).toMatch(/^[\n\x20-\x7e]+$/);
  });

  it('with --follow prints each new line, until Ctrl-C', async () => {
    const shop = workshop(SERVED);
    const { say } = await serving(shop);
    const { child, until, ended, said } = begin(shop, ['logs', 'noisy', '--follow']);
    await until('stdout', /begun with/);
    await say('one\n');
    await until('stdout', /^one\n/m);
    await say(`it is ${SECRET}\n`);
    await until('stdout', /^it is \[secret key\]\n/m);
    await say('Your name? ');
    await until('stdout', /^Your name\?\n/m);
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(said.stdout).not.toContain(SECRET);
  });

  it('with --follow ends with the server', async () => {
    const shop = workshop(SERVED);
    const server = await serving(shop);
    const { until, ended, said } = begin(shop, ['logs', 'noisy', '--follow', '--json']);
    await until('stdout', /begun with/);
    server.child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(said.stderr).toContain('The server has stopped.');
  });

  it('reports the problem: unknown source, no program, a failed source, another operator token', async () => {
    const shop = workshop(SERVED);
    await serving(shop);
    expect(await shop.run(['logs', 'nosy'], { env })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('The source "nosy" was not found. Did you mean "noisy"?'),
    });
    expect(await shop.run(['logs', 'files'], { env })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('"files" has no output'),
    });
    expect(await shop.run(['logs', 'broken'], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('no config'),
      stderr: expect.stringMatching(/"broken" has failed: .*exit code 3/),
    });
    const other = { ...env, TOOLCRIB_OPERATOR_TOKEN: 'another-token-that-is-long-enough' };
    expect(await shop.run(['logs', 'noisy'], { env: other })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('does not accept the operator token'),
    });
  });
});

describe('toolcrib logs, without a running server', () => {
  it('starts only this source and prints its output until it has started', async () => {
    const shop = workshop();
    for (const _ of ['its list is not known', 'its list is kept']) {
      const { code, stdout, stderr } = await shop.run(['logs', 'noisy'], { env });
      expect(code).toBe(0);
      expect(stdout).toMatch(/^begun with \[secret key\]\nred red turned\n/);
      expect(stderr).toContain('Starting "noisy" to read its output.');
    }
    expect(existsSync(join(shop.folder, 'started'))).toBe(false);
    await shop.run(['logs', 'witness'], { env });
    expect(existsSync(join(shop.folder, 'started'))).toBe(true);
  });

  it('says why a source does not work, and which sources print nothing', async () => {
    const shop = workshop();
    const broken = await shop.run(['logs', 'broken'], { env });
    expect(broken).toMatchObject({ code: 0, stdout: expect.stringContaining('no config\n') });
    expect(broken.stderr).toMatch(/"broken" has failed: .*exit code 3/);
    expect((await shop.run(['logs', 'remote'], { env })).stderr).toContain('"remote" has failed: ');
    expect((await shop.run(['logs', 'files', '--follow'], { env })).stderr).toContain('"files" has no output');
    expect(await shop.run(['logs', 'brokn'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Did you mean "broken"?'),
    });
    expect((await shop.run(['logs'], { env })).code).toBe(2);
    const nowhere = createWorkshop();
    onTestFinished(nowhere.remove);
    expect(await nowhere.run(['logs', 'noisy'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/No toolcrib\.yaml found in this folder[\s\S]*The source "noisy" was not found/),
    });
  });

  it('with --follow runs until Ctrl-C, and stops what it started', async () => {
    const { child, until, ended, said } = begin(workshop(), ['logs', 'noisy', '--follow']);
    await until('stdout', /turned/);
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(said.stdout).toMatch(/ended\n$/);
  });
});
