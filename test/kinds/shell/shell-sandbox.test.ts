import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  MODES,
  processesOf,
  removePrograms,
  SANDBOX,
  said,
  script,
  shellTool,
  shopWith,
  TEXT,
  uniqueSeconds,
  withPrograms,
} from './shell-shop.ts';

afterAll(removePrograms);

/** Paths that no command inside may write. */
const SYSTEM =
  '/ /usr /usr/bin /etc /etc/passwd /opt /var /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger';
const why = SANDBOX.ok ? '' : ` (left out: ${SANDBOX.reason})`;

describe.skipIf(!SANDBOX.ok)(`in a sandbox${why}`, () => {
  it('a tool without settings sees the system read-only, its roots read-write, and nothing else', async () => {
    const files = { 'a.txt': 'A', '.toolcrib/key': 'the key' };
    const own = `x-${process.pid}`;
    const { chest, folder } = await shopWith({
      files,
      roots: ['.'],
      tools: [
        script('roots', 'cat a.txt; echo new > b.txt; cat b.txt'),
        // Only asked, never tried: a sandbox with a hole in it must not cost the machine anything.
        script(
          'system',
          `cat /etc/passwd > /dev/null && echo read; for place in ${SYSTEM}; do test -w $place && echo $place; done; true`,
        ),
        script('rest', `ls -A ${homedir()} /home /root /srv /mnt /media /var/log /sys /boot; ls -A /var /run`),
        script('own', `ls -A /tmp; touch /tmp/${own} /var/tmp/x /dev/shm/x && echo own; echo $HOME $TMPDIR; touch ~/x`),
        script('alone', 'ls /proc | grep -c "^[0-9]*$"; ls /dev'),
        script('powers', 'grep CapEff /proc/self/status; umount .toolcrib'),
      ],
    });
    expect(said(await chest.call('roots', {}))).toBe('Anew\n');
    expect(readFileSync(join(folder, 'b.txt'), 'utf8')).toBe('new\n');
    expect(said(await chest.call('system', {}))).toBe('read\n');
    const rest = await chest.call('rest', {});
    expect(rest).toMatchObject({ ok: false, data: { stdout: expect.stringMatching(/^(\/\w+:\n|tmp\n|\n)*$/) } });
    expect(said(await chest.call('own', {}))).toMatch(/^(toolcrib-\S+\n)?own\n\/tmp \/tmp\n$/);
    expect(existsSync(join('/tmp', own))).toBe(false);
    expect(said(await chest.call('alone', {}))).toMatch(/^[3-6]\n/);
    expect(await chest.call('powers', {})).toMatchObject({
      ok: false,
      data: { stdout: 'CapEff:\t0000000000000000\n' },
    });
  });

  it('the state of the crib can be neither seen nor written, nor its configuration changed', async () => {
    const { chest, folder } = await shopWith({
      roots: ['.'],
      files: { '.toolcrib/key': 'the key', 'token.txt': 'the token' },
      rest: { secrets: { token: { file: './token.txt' } } },
      tools: [
        script('look', 'ls -A .toolcrib; cat .toolcrib/key token.txt; find . -name key'),
        script('plant', 'echo x > .toolcrib/x; rmdir .toolcrib; mv .toolcrib y; rm -rf .toolcrib; echo x > token.txt'),
        script('configure', 'echo "{{}}" > toolcrib.json; rm -f toolcrib.json; mv toolcrib.json x'),
      ],
    });
    const before = readFileSync(join(folder, 'toolcrib.json'), 'utf8');
    expect(JSON.stringify(await chest.call('look', {}))).not.toMatch(/the key|the token/);
    await chest.call('plant', {});
    await chest.call('configure', {});
    expect(readFileSync(join(folder, '.toolcrib/key'), 'utf8')).toBe('the key');
    expect(readFileSync(join(folder, 'token.txt'), 'utf8')).toBe('the token');
    expect(readFileSync(join(folder, 'toolcrib.json'), 'utf8')).toBe(before);
    // Nor can it be made before the crib makes it.
    rmSync(join(folder, '.toolcrib'), { recursive: true });
    await chest.call('plant', {});
    expect(existsSync(join(folder, '.toolcrib/x'))).toBe(false);
  });

  it('a tool sees the folders that it names, and writes only where it may', async () => {
    const sandbox = { read: ['./in'], write: './out' };
    const { chest, folder } = await shopWith({
      files: { 'in/a.txt': 'A', 'out/b.txt': 'B', 'hidden.txt': 'no' },
      tools: [
        script('copy', 'cp ../in/a.txt . && cat a.txt b.txt', { sandbox }),
        script('spoil', 'echo x > ../in/a.txt', { sandbox }),
        script('peek', 'cat ../hidden.txt; ls ..', { sandbox }),
        script('nested', 'echo x > in/a.txt; echo y > c.txt; cat c.txt', { sandbox: { read: ['./in'], write: ['.'] } }),
        script('nothing', 'pwd; ls -A', { sandbox: { read: [] } }),
      ],
    });
    expect(said(await chest.call('copy', {}))).toBe('AB');
    expect(said(await chest.call('spoil', {}))).toMatch(/^tool_error: .*Read-only file system/);
    expect(said(await chest.call('peek', {}))).toBe('in\nout\n');
    expect(said(await chest.call('nested', {}))).toBe('y\n');
    expect(readFileSync(join(folder, 'in/a.txt'), 'utf8')).toBe('A');
    expect(said(await chest.call('nothing', {}))).toBe('/tmp\n');
  });

  it('the network is available unless the spec turns it off', async () => {
    const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as { readonly port: number }; // it listens on TCP
    const code = `require('net').connect(${port}, '127.0.0.1').on('data', (d) => process.stdout.write(d)).on('error', (e) => { process.stdout.write(e.code); })`;
    const command = [process.execPath, '-e', code.replace(/[{}]/g, '$&$&')];
    const tools = [shellTool('on', {}, { command }), shellTool('off', {}, { command, sandbox: { network: false } })];
    const { chest } = await shopWith({ tools });
    expect(said(await chest.call('on', {}))).toBe('hello');
    expect(said(await chest.call('off', {}))).toMatch(/^E/);
  });

  it('all processes end with the crib, also by kill -9', async () => {
    const { folder, seconds } = await holdingShop('required');
    await killHolder(folder, seconds);
  });
});

/** A shop whose tool `hold` never ends, in a process of its own. */
async function holdingShop(sandbox: 'required' | 'none') {
  const seconds = uniqueSeconds();
  const text = `trap "" TERM; (setsid sh -c 'trap "" TERM; touch up.txt; sleep ${seconds}; sleep ${seconds}' &); sleep ${seconds}; sleep ${seconds}`;
  const { folder } = await shopWith({ sandbox, roots: ['.'], tools: [script('hold', text)] });
  return { folder, seconds };
}

async function killHolder(folder: string, seconds: string): Promise<void> {
  const holder = spawn(
    process.execPath,
    ['--no-warnings', join(import.meta.dirname, 'processes/keep-shell.ts'), folder],
    { stdio: 'ignore' },
  );
  onTestFinished(() => void holder.kill('SIGKILL'));
  await vi.waitUntil(() => existsSync(join(folder, 'up.txt')), { timeout: 30_000, interval: 10 });
  holder.kill('SIGKILL');
  await vi.waitFor(() => expect(processesOf(seconds)).toEqual([]), { timeout: 30_000, interval: 20 });
}

describe('without a sandbox', () => {
  it('all processes end with the crib, also by kill -9', async () => {
    const { folder, seconds } = await holdingShop('none');
    await killHolder(folder, seconds);
  });
});

describe('without bubblewrap', () => {
  const tools = [
    script('plain', 'echo ran'),
    script('strict', 'echo ran', { sandbox: { mode: 'required' } }),
    script('loose', 'echo ran', { sandbox: { mode: 'none' } }),
  ];
  const answers = async (sandbox?: 'required' | 'preferred' | 'none') => {
    const { chest } = await shopWith({ tools, ...(sandbox !== undefined && { sandbox }) });
    return Promise.all(['plain', 'strict', 'loose'].map(async (name) => said(await chest.call(name, {}))));
  };
  const refused = (name: string, reason: string) =>
    `unavailable: "${name}" cannot run: it requires a sandbox, but none is available: ${reason}; install or repair bubblewrap.`;

  it('a command runs without a sandbox, unless the tool or the configuration requires one', async () => {
    withPrograms(['bwrap']);
    const missing = 'bubblewrap (bwrap) is not installed';
    expect(await answers()).toEqual(['ran\n', refused('strict', missing), 'ran\n']);
    expect(await answers('preferred')).toEqual(['ran\n', refused('strict', missing), 'ran\n']);
    expect(await answers('none')).toEqual(['ran\n', refused('strict', missing), 'ran\n']);
    expect(await answers('required')).toEqual(['plain', 'strict', 'loose'].map((name) => refused(name, missing)));
  });

  it('a configuration that requires one is reported', async () => {
    withPrograms(['bwrap']);
    const { crib } = await shopWith({ tools, sandbox: 'required' });
    expect(await crib.review()).toEqual({
      problems: [
        '3 commands cannot run, because no sandbox is available (bubblewrap (bwrap) is not installed): plain, strict, loose. To fix it, install or repair bubblewrap.',
      ],
      notes: [],
    });
  });

  it('one that cannot create a sandbox does not count, and its reason is reported', async () => {
    withPrograms(['bwrap'], { bwrap: '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n' });
    chmodSync(join(process.env.PATH?.split(':')[0] ?? '', 'bwrap'), 0o755);
    const reason = 'bubblewrap cannot create a sandbox here: bwrap: No permissions to create new namespace';
    expect(await answers()).toEqual(['ran\n', refused('strict', reason), 'ran\n']);
  });

  it('paths into the state of the crib are refused', async () => {
    withPrograms(['bwrap']);
    const cat = shellTool('read', { path: TEXT }, { command: ['cat', '{path}'] });
    const { chest, folder } = await shopWith({ tools: [cat], files: { 'a.txt': 'A' } });
    mkdirSync(join(folder, '.toolcrib'), { recursive: true });
    expect(said(await chest.call('read', { path: 'a.txt' }))).toBe('A');
    expect(said(await chest.call('read', { path: '.toolcrib/operator.token' }))).toMatch(/^invalid_input/);
  });
});

describe.each(MODES)('limits %s', (_, sandbox) => {
  it('are enforced', async () => {
    const limits = { cpuSeconds: 1, memoryBytes: 2_000_000_000, processes: 77, fileBytes: 1000 };
    const { chest } = await shopWith({
      sandbox,
      tools: [
        shellTool('told', {}, { command: ['cat', '/proc/self/limits'], sandbox: { limits } }),
        script('writes', 'head -c 5000 /dev/zero > big.txt', { sandbox: { limits: { fileBytes: 1000 } } }),
        script('burns', 'while :; do :; done', { sandbox: { limits: { cpuSeconds: 1 } } }),
        shellTool('missing', {}, { command: ['no-such-program'], sandbox: { limits } }),
      ],
    });
    const told = said(await chest.call('told', {}));
    for (const row of [
      /Max cpu time +1 +1 /,
      /Max address space +2000000000 +2000000000 /,
      /Max processes +77 +77 /,
      /Max file size +1000 +1000 /,
    ])
      expect(told).toMatch(row);
    expect(said(await chest.call('writes', {}))).toMatch(/^tool_error/);
    expect(await chest.call('burns', {})).toMatchObject({ data: { signal: expect.stringMatching(/SIGXCPU|SIGKILL/) } });
    expect(said(await chest.call('missing', {}))).toMatch(/^unavailable: .* its program is not found/);
  });

  it('that cannot be set refuse the call', async () => {
    withPrograms(['prlimit']);
    const tools = [
      script('limited', 'echo ran', { sandbox: { limits: { processes: 5 } } }),
      script('plain', 'echo ran'),
    ];
    const { chest } = await shopWith({ sandbox, tools });
    expect(said(await chest.call('limited', {}))).toMatch(
      /^unavailable: .*prlimit, which sets them, is not installed\.$/,
    );
    expect(said(await chest.call('plain', {}))).toBe('ran\n');
  });
});
