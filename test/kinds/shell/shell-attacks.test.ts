// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCrib } from '../../../src/index.ts';
import { shellExecutor } from '../../../src/kinds/shell/shell-executor.ts';
import { createSecrets } from '../../../src/system/secrets/secrets.ts';
import { testCall } from '../../../src/testing/index.ts';
import { write } from '../../crib/workshop.ts';
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

/** A folder that is not a root of anything. */
function folderOutside(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-outside-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  write(folder, { 'private.txt': 'private' });
  return folder;
}

describe.skipIf(!SANDBOX.ok)('from inside a sandbox', () => {
  it('a covered path is not uncovered by moving its folder', async () => {
    const { chest, folder } = await shopWith({
      roots: ['.'],
      files: { 'keys/deep/token.txt': 'the token', 'keys/free.txt': 'free', 'keys/in/a.txt': 'A' },
      rest: { secrets: { token: { file: './keys/deep/token.txt' } } },
      tools: [
        script('move', 'mv keys moved; mv keys/deep keys/moved; rm -rf keys/deep'),
        script('look', 'cat moved/deep/token.txt keys/moved/token.txt keys/deep/token.txt'),
        script('use', 'echo new > keys/free.txt && cat keys/free.txt'),
        script('nested', 'cat keys/in/a.txt; echo x > keys/in/a.txt', {
          sandbox: { write: '.', read: './keys/in' },
        }),
      ],
    });
    await chest.call('move', {});
    expect(JSON.stringify(await chest.call('look', {}))).not.toContain('the token');
    expect(readFileSync(join(folder, 'keys/deep/token.txt'), 'utf8')).toBe('the token');
    expect(said(await chest.call('use', {}))).toBe('new\n');
    // A folder that may only be read stays so, also below one that is held in its place.
    expect(await chest.call('nested', {})).toMatchObject({ ok: false, data: { stdout: 'A' } });
  });

  it('the state of a crib in a folder inside a root does not move with that folder', async () => {
    const outer = folderOutside();
    const { chest, folder } = await shopWith({
      files: { '.toolcrib/key': 'the key' },
      tools: [
        script('move', `cd ${outer} && mv shop moved`, { sandbox: { write: outer } }),
        script('look', `cat ${outer}/moved/.toolcrib/key`, { sandbox: { write: outer } }),
      ],
      under: join(outer, 'shop'),
    });
    await chest.call('move', {});
    expect(said(await chest.call('look', {}))).toMatch(/^tool_error/);
    expect(readFileSync(join(folder, '.toolcrib/key'), 'utf8')).toBe('the key');
  });

  it('a variable for the loader has its effect inside only', async () => {
    const outside = folderOutside();
    const env = { LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: join(outside, 'trace') };
    const { chest } = await shopWith({
      tools: [
        script('trace', 'true', { env }),
        script('told', 'echo "$LD_LIBRARY_PATH"', { env: { LD_LIBRARY_PATH: '/x' } }),
      ],
    });
    await chest.call('trace', {});
    expect(readdirSync(outside)).toEqual(['private.txt']);
    expect(said(await chest.call('told', {}))).toBe('/x\n');
  });

  it('the programs that create the sandbox cannot be replaced from inside', async () => {
    const { PATH } = process.env;
    onTestFinished(() => void Object.assign(process.env, { PATH }));
    const { chest, folder } = await shopWith({
      roots: ['.'],
      files: { 'bin/bwrap': '#!/bin/sh\nexec /usr/bin/bwrap "$@"\n', 'work/a.txt': 'A' },
      tools: [script('wide', 'echo ran'), script('narrow', 'cat a.txt', { sandbox: { write: './work' } })],
    });
    chmodSync(join(folder, 'bin/bwrap'), 0o755);
    process.env.PATH = `${folder}/bin:${PATH}`;
    expect(said(await chest.call('wide', {}))).toBe(
      'unavailable: "wide" cannot run: bubblewrap, which makes its sandbox, is in a folder that it may write.',
    );
    expect(said(await chest.call('narrow', {}))).toBe('A');
  });

  it('kernel settings are read-only, also if the root is /', async () => {
    // Hidden files are created where writing is allowed, and here that is everywhere: not in the home of the developer.
    const { XDG_STATE_HOME = '' } = process.env;
    onTestFinished(() => void Object.assign(process.env, { XDG_STATE_HOME })); // an empty one counts as none
    process.env.XDG_STATE_HOME = folderOutside();
    const { chest } = await shopWith({
      // Only looked at: nothing is written there.
      tools: [script('mounts', 'grep -E " /(sys|proc|usr) " /proc/self/mountinfo', { sandbox: { write: '/' } })],
    });
    const mounts = said(await chest.call('mounts', {})).matchAll(/ (\/\w+) (r[ow]),/g);
    // What was mounted last over a place is what is seen there.
    const seen = new Map(Array.from(mounts, ([, place, how]) => [place, how]));
    expect(seen).toEqual(new Map([...seen.keys()].map((place) => [place, 'ro'])));
    expect([...seen.keys()]).toContain('/proc');
  });

  it('a database that is created while a program runs is covered before', async () => {
    const folder = folderOutside();
    const text =
      'touch up; until [ -e go ]; do sleep 0.01; done; cat data/crib.db data/crib.db-wal; echo x > data/crib.db';
    const config = {
      store: { url: 'sqlite:./data/crib.db' },
      executors: { shell: { roots: ['.'] } },
      tools: [script('early', text), script('go', 'touch go')],
    };
    write(folder, { 'toolcrib.json': JSON.stringify(config) });
    const crib = await createCrib({ configFile: folder, watch: false });
    onTestFinished(() => crib.close());
    const chest = await crib.open();
    const early = chest.call('early', {});
    await vi.waitUntil(() => existsSync(join(folder, 'up')), { timeout: 30_000, interval: 5 });
    await chest.call('nothing', {}); // which is recorded
    await vi.waitUntil(() => statSync(join(folder, 'data/crib.db'), { throwIfNoEntry: false })?.size ?? 0, {
      timeout: 30_000,
      interval: 5,
    });
    expect(said(await chest.call('go', {}))).toBe('');
    const answer = await early;
    expect(JSON.stringify(answer)).not.toMatch(/SQLite format|audit/);
    expect(answer).toMatchObject({ ok: false, data: { stderr: expect.stringMatching(/denied|Read-only/) } });
    expect(readFileSync(join(folder, 'data/crib.db'), 'latin1')).toMatch(/^SQLite format/);
  });

  it('a sandbox that cannot be created is not described to callers', async () => {
    const { chest, folder } = await shopWith({
      roots: ['.'],
      files: { blocked: 'a file', 'work/a.txt': 'A' },
      rest: { secrets: { token: { file: './blocked/token.txt' } } },
      tools: [script('plain', 'cat work/a.txt')],
    });
    const answer = said(await chest.call('plain', {}));
    expect(answer).toBe('A');
    expect(answer).not.toContain(folder);
  });

  it('privileges of another namespace uncover nothing', async () => {
    const { chest } = await shopWith({
      roots: ['.'],
      files: { '.toolcrib/key': 'the key' },
      tools: [script('unshare', 'unshare -Urm sh -c "umount .toolcrib; umount -l .toolcrib; cat .toolcrib/key"')],
    });
    expect(JSON.stringify(await chest.call('unshare', {}))).not.toContain('the key');
  });
});

describe.each(MODES)('an unreadable folder of PATH %s', (_, sandbox) => {
  it('is skipped', async () => {
    const { PATH } = process.env;
    onTestFinished(() => void Object.assign(process.env, { PATH }));
    const circle = join(folderOutside(), 'circle');
    symlinkSync('circle', circle);
    process.env.PATH = `${circle}:${PATH}`;
    const limits = { processes: 50_000 };
    const { chest } = await shopWith({ sandbox, tools: [script('plain', 'echo ran', { sandbox: { limits } })] });
    expect(said(await chest.call('plain', {}))).toBe('ran\n');
  });
});

describe('a sandbox that could not be created once', () => {
  it.skipIf(!SANDBOX.ok)('does not count as permanently impossible', async () => {
    const busy = `#!/bin/sh
[ -e "$0.free" ] && exec /usr/bin/bwrap "$@"
echo "bwrap: Creating new namespace failed: Resource temporarily unavailable" >&2; exit 1
`;
    withPrograms(['bwrap'], { bwrap: busy });
    const [instead = ''] = process.env.PATH?.split(':') ?? [];
    chmodSync(join(instead, 'bwrap'), 0o755);
    const { chest } = await shopWith({ tools: [script('plain', 'ls -A /home; echo ran')] });
    expect(said(await chest.call('plain', {}))).toMatch(/^unavailable: .* its sandbox cannot be created at the moment/);
    write(instead, { 'bwrap.free': '' });
    expect(said(await chest.call('plain', {}))).toMatch(/ran\n$/);
  });
});

describe.each(MODES)('a path inside an argument %s', (_, sandbox) => {
  it('stays inside the roots with everything that follows it', async () => {
    const outside = folderOutside();
    const { chest, folder } = await shopWith({
      sandbox,
      files: { 'a.txt': 'A', 'deep/b.txt': 'B' },
      tools: [
        shellTool('joined', { dir: TEXT, name: TEXT }, { command: ['cat', '{dir}/{name}'] }),
        shellTool('meant', { dir: TEXT, name: TEXT }, { command: ['cat', '{dir}/{name}'], paths: ['dir'] }),
        shellTool('ended', { path: TEXT }, { command: ['cat', '{path}.txt'] }),
        shellTool('listed', { dir: { type: 'array', items: TEXT } }, { command: ['cat', ['{dir}/b.txt']] }),
        shellTool(
          'told',
          { dir: TEXT, name: TEXT },
          { command: ['sh', '-c', 'cat "$AT"'], env: { AT: '{dir}/{name}' } },
        ),
      ],
    });
    symlinkSync(join(outside, 'private.txt'), join(folder, 'link.txt'));
    symlinkSync(join(outside, 'private.txt'), join(folder, 'deep/link'));
    symlinkSync('.', join(folder, 'here'));
    const call = async (name: string, input: object) => said(await chest.call(name, input));
    for (const name of ['joined', 'meant', 'told']) {
      expect(await call(name, { dir: 'deep', name: 'b.txt' })).toBe('B');
      // Behind a link to the root itself, what seems to lie in it does not.
      for (const dir of ['.', 'here'])
        expect(await call(name, { dir, name: `../${outside.split('/').at(-1)}/private.txt` }), dir).toMatch(
          /^invalid_input/,
        );
      expect(await call(name, { dir: 'deep', name: 'link' })).toMatch(/must be in a folder that/);
      expect(await call(name, { dir: '.', name: '.toolcrib/key' })).toMatch(/must be in a folder that/);
    }
    expect(await call('ended', { path: 'a' })).toBe('A');
    expect(await call('ended', { path: 'link' })).toMatch(/must be in a folder that/);
    expect(await call('listed', { dir: ['deep', './deep'] })).toBe('BB');
  });

  it('cannot climb even if it is not known as a path, unless the spec names its paths', async () => {
    const command = ['echo', 'notes/{name}.md'];
    const { chest } = await shopWith({
      sandbox,
      tools: [
        shellTool('notes', { name: TEXT }, { command }),
        shellTool('meant', { name: TEXT }, { command, paths: [] }),
        shellTool('plain', { name: TEXT }, { command: ['echo', '{name}'] }),
      ],
    });
    for (const name of ['..', '../x', 'a/../../x', 'a/..'])
      expect(said(await chest.call('notes', { name })), name).toMatch(/^invalid_input: .* must not contain "\.\."/);
    for (const name of ['a..b', '...', 'a/b', 'a..', '..a'])
      expect(said(await chest.call('notes', { name })), name).toBe(`notes/${name}.md\n`);
    expect(said(await chest.call('meant', { name: '../x' }))).toBe('notes/../x.md\n');
    expect(said(await chest.call('plain', { name: '../x' }))).toBe('../x\n');
  });
});

describe('a text of the caller is never run as code', () => {
  const refused: readonly (readonly [what: string, run: object])[] = [
    ['options in capitals', { command: ['bash', '-Eec', 'echo {a}'] }],
    ['options after -c', { command: ['bash', '-c', '-e', 'echo {a}'] }],
    ['options with a value', { command: ['bash', '-ceo', 'pipefail', 'echo {a}'] }],
    ['the end of options', { command: ['sh', '-c', '--', 'echo {a}'] }],
    ['a shell behind env', { command: ['/usr/bin/env', '-i', 'sh', '-c', 'echo {a}'] }],
    ['a shell behind find', { command: ['find', '.', '-exec', 'sh', '-c', 'echo {a}', ';'] }],
    ['a shell in a group', { command: ['timeout', '5', ['bash', '-c', 'echo {a}']] }],
    ['the input of a shell', { command: ['sh', '-e'], stdin: 'echo {a}' }],
    ['the input of a shell with arguments', { command: ['bash', '-s', 'x'], stdin: 'echo {a}' }],
    ['Python', { command: ['python3.12', '-Ic', 'print("{a}")'] }],
    ['Node', { command: ['node', '-e', 'console.log("{a}")'] }],
    ['Perl', { command: ['perl', '-ne', 'print "{a}"'] }],
    ['PATH', { command: ['ls'], env: { PATH: '/bin:{a}' } }],
    ['LD_PRELOAD', { command: ['ls'], env: { LD_PRELOAD: '{a}' } }],
    ['BASH_ENV', { command: ['ls'], env: { BASH_ENV: '{a}' } }],
    ['NODE_OPTIONS', { command: ['ls'], env: { NODE_OPTIONS: '{a}' } }],
    ['GIT_SSH_COMMAND', { command: ['ls'], env: { GIT_SSH_COMMAND: 'ssh {a}' } }],
  ];
  it.each(refused)('in %s', async (_, run) => {
    const { crib } = await shopWith({ tools: [shellTool('bad', { a: TEXT }, run)] });
    expect(crib.catalog.specs).toEqual([]);
    expect(crib.warnings().join('\n')).toMatch(/\{a\} would (be read as part of the script|control which code runs)/);
  });

  it('and a text that only resembles code is accepted', async () => {
    const number = { type: 'integer' };
    const { crib } = await shopWith({
      tools: [
        shellTool('a', { a: TEXT }, { command: ['bash', '-ceo', 'pipefail', 'echo "$1"', 'bash', '{a}'] }),
        shellTool('b', { a: TEXT }, { command: ['sh', 'script.sh', '{a}'], stdin: 'text {a}' }),
        shellTool('c', { a: TEXT }, { command: ['python3', '-c', '{a}'] }),
        shellTool('d', { a: TEXT }, { command: ['sh', '-c', 'cat'], stdin: 'text {a}' }),
        shellTool('e', { a: TEXT }, { command: ['git', 'log'], env: { GIT_AUTHOR_NAME: '{a}', PATHS: '{a}' } }),
        shellTool('f', { a: number }, { command: ['node', '-e', 'f({a})'], env: { PYTHONHASHSEED: '{a}' } }),
        shellTool('g', { a: TEXT }, { command: ['node', 'x.js', '-e', '--name={a}'] }),
      ],
    });
    expect(crib.warnings()).toEqual([]);
    expect(crib.catalog.specs).toHaveLength(7);
  });

  it('nor a secret as a loader setting, where others could see it', async () => {
    const tool = shellTool('bad', {}, { command: ['ls'], env: { LD_LIBRARY_PATH: '${secret:token}' } });
    const { crib } = await shopWith({ tools: [tool], rest: { secrets: { token: { env: 'X' } } } });
    expect(crib.warnings().join('\n')).toMatch(/LD_LIBRARY_PATH.* must not be a secret/);
  });
});

describe.each(MODES)('JSON output of a program %s', (_, sandbox) => {
  const print = (name: string, text: string) =>
    shellTool(name, {}, { command: ['node', '-e', `process.stdout.write(${text})`], result: 'json' });

  it('is refused if it cannot be passed on', async () => {
    const { chest } = await shopWith({
      sandbox,
      tools: [print('deep', '"[".repeat(1e5)+"]".repeat(1e5)'), print('huge', '"[1e999]"')],
    });
    for (const name of ['deep', 'huge']) {
      const answer = await chest.call(name, {});
      expect(answer).toMatchObject({ ok: false, error: { code: 'invalid_output' } });
    }
  });

  it('changes no prototype when it is copied', async () => {
    const text = '\'{{"__proto__":{{"polluted":1}},"a":{{"\\\\u005f_proto__":1,"b":2}}}}\'';
    const { chest } = await shopWith({ sandbox, tools: [print('forged', text)] });
    const answer = await chest.call('forged', {});
    expect(JSON.stringify(answer.ok && answer.data)).toBe('{"a":{"b":2}}');
  });
});

it('an executor that was closed before its first call runs nothing', async () => {
  const folder = folderOutside();
  const executor = shellExecutor({
    folder,
    env: process.env,
    secrets: createSecrets({}, { env: {}, folder }),
    settings: () => ({ sandbox: 'none' }),
    hidden: () => ({ folders: [], files: [], readOnly: [] }),
  });
  await executor.close?.();
  const run = { kind: 'shell', command: ['touch', 'ran'] };
  expect(said(await executor.execute(testCall({ run }), run))).toMatch(/^unavailable: .*the crib is closed/);
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});

it('a program that was about to start when the crib was killed ends as well', async () => {
  const seconds = uniqueSeconds();
  // Between fork and exec the process does not have the mark of its call yet: here that lasts a little longer.
  const late = `touch up; while kill -0 $1; do sleep 0.01; done; sleep 0.3; touch late; TOOLCRIB_CHILD=$MARK exec sleep ${seconds}`;
  const text = `(setsid env -i PATH="$PATH" MARK="$TOOLCRIB_CHILD" sh -c '${late}' sh $PPID > /dev/null 2>&1 &); sleep 1000`;
  const { folder } = await shopWith({ sandbox: 'none', tools: [script('hold', text)] });
  const keeper = join(import.meta.dirname, 'processes/keep-shell.ts');
  const holder = spawn(process.execPath, ['--no-warnings', keeper, folder], { stdio: 'ignore' });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await vi.waitUntil(() => existsSync(join(folder, 'up')), { timeout: 30_000, interval: 5 });
  holder.kill('SIGKILL');
  await vi.waitUntil(() => existsSync(join(folder, 'late')), { timeout: 30_000, interval: 5 });
  await vi.waitFor(() => expect(processesOf(seconds)).toEqual([]), { timeout: 10_000, interval: 20 });
});
