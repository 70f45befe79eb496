// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ToolcribError } from '../../../src/core/tool-error.ts';
import { reveal, type Secret } from '../../../src/system/secrets/secret.ts';
import { toSecretText } from '../../../src/system/secrets/secret-template.ts';
import { createSecrets, type SecretDeclaration } from '../../../src/system/secrets/secrets.ts';

const VALUE = 'hunter2-hunter2';
const NODE = process.execPath;

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

interface Given {
  readonly env?: Record<string, string>;
  readonly folder?: string;
  readonly commandMs?: number;
}
const one = (declaration: SecretDeclaration, { env = {}, folder = tmpdir(), commandMs = 60_000 }: Given = {}) =>
  createSecrets({ token: declaration }, { env, folder, commandMs });
const lookUp = async (declaration: SecretDeclaration, given: Given = {}) =>
  reveal(await one(declaration, given).get('token'), { child: true });
const script = (code: string): SecretDeclaration => ({ command: [NODE, '-e', code] });

async function failureOf(work: Promise<unknown>): Promise<ToolcribError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ToolcribError) return error;
  throw new Error(`expected a ToolcribError, got ${String(error)}`, { cause: error });
}

describe('a secret is read from its declared place', () => {
  it('in an environment variable', async () => {
    expect(await lookUp({ env: 'TOKEN' }, { env: { TOKEN: VALUE } })).toBe(VALUE);
  });

  it('in a file beside the configuration, without the newline at its end', async () => {
    const folder = makeFolder();
    for (const [end, kept] of [
      ['', ''],
      ['\n', ''],
      ['\r\n', ''],
      ['\n\n', '\n'],
      [' ', ' '],
    ]) {
      writeFileSync(join(folder, 'token'), VALUE + end);
      expect(await lookUp({ file: './token' }, { folder })).toBe(VALUE + kept);
    }
  });

  it('in a file behind a link, as clusters mount them', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'real'), VALUE);
    symlinkSync('real', join(folder, 'link'));
    expect(await lookUp({ file: 'link' }, { folder })).toBe(VALUE);
  });

  it('in the output of a command, run in the folder of the configuration', async () => {
    const folder = makeFolder();
    const code = 'console.log(require("node:path").basename(process.cwd()) + process.env.PART)';
    expect(await lookUp(script(code), { folder, env: { PART: '!' } })).toMatch(/^toolcrib-secrets-.*!$/);
  });

  it('in the output of a command, which runs without a shell', async () => {
    const words = ['$(echo no)', '; echo no', '`no`', '*', 'a b'];
    const command = [NODE, '-e', 'console.log(JSON.stringify(process.argv.slice(1)))', ...words];
    expect(JSON.parse(await lookUp({ command }))).toEqual(words);
  });
});

describe('a missing secret', () => {
  it.each([
    ['an environment variable that is not set', { env: 'TOKEN' }, 'the environment variable TOKEN: it is not set'],
    ['one that every object has', { env: 'constructor' }, 'the environment variable constructor: it is not set'],
    ['a file that is not there', { file: '/nowhere/token' }, 'the file /nowhere/token: it cannot be read (ENOENT)'],
    ['a folder', { file: '/' }, 'the file /: it is not a regular file'],
    [
      'a command that is not there',
      { command: ['/nowhere/x', 'y'] },
      'the command /nowhere/x: it cannot be started (ENOENT)',
    ],
    ['a command that is not a command', { command: ['a\0b'] }, ': it is not a valid command'],
    ['a command that prints nothing', script(''), ': it is empty'],
    ['a command that prints no text', script('process.stdout.write("a\\0b")'), ': it is not text'],
  ])('is an error that names its place: %s', async (_, declaration, place) => {
    const error = await failureOf(one(declaration).get('token'));
    expect(error.code).toBe('missing_secret');
    expect(error.message).toMatch(/^The secret "token" was not found in /);
    expect(error.message).toContain(place);
  });

  it('is an error without the output of a failing command', async () => {
    const code = `console.log("${VALUE}"); console.error("${VALUE}"); process.exit(3)`;
    const { message } = await failureOf(one(script(code)).get('token'));
    expect(message).toMatch(/: it ended with exit code 3; run it by hand to see why\.$/);
    expect(message).not.toContain(VALUE);
  });

  it('is an error if a command prints without end; the command is ended with its children', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens on a port
    const held = `require("node:net").connect(${port}, "127.0.0.1", () => { console.log("here"); setInterval(() => {}, 1000); })`;
    const start = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(held)}], { stdio: ["ignore", "pipe", "ignore"] })`;
    const flood = 'const flood = () => process.stdout.write("x".repeat(10_000), flood);';
    const parent = `${flood} ${start}.stdout.once("data", flood)`;
    // The child of the command holds its connection as long as it lives.
    const gone = new Promise<void>((resolve) => {
      server.once('connection', (socket) =>
        socket
          .on('error', () => {})
          .on('close', () => resolve())
          .resume(),
      );
    });
    const { message } = await failureOf(one(script(parent)).get('token'));
    expect(message).toMatch(/: it is longer than 65536 bytes/);
    await gone;
  });

  it('is an error if a command takes too long', async () => {
    const { message } = await failureOf(one(script('setInterval(() => {}, 1000)'), { commandMs: 100 }).get('token'));
    expect(message).toMatch(/: it timed out after 100 ms/);
  });

  it('is an error if a file is too large', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'token'), 'x'.repeat(70_000));
    expect((await failureOf(one({ file: 'token' }, { folder }).get('token'))).message).toMatch(/longer than 65536/);
  });

  it.skipIf(process.platform === 'win32')('is an error if a file is a pipe, without waiting', async () => {
    const folder = makeFolder();
    execFileSync('mkfifo', [join(folder, 'token')]);
    expect((await failureOf(one({ file: 'token' }, { folder }).get('token'))).message).toMatch(
      /it is not a regular file/,
    );
  });

  it('that is not declared is an error with the nearest name', async () => {
    const error = await failureOf(one({ env: 'TOKEN' }).get('tokn'));
    expect([error.code, error.message]).toEqual([
      'unknown_secret',
      'The secret "tokn" is not declared. Did you mean "token"?',
    ]);
    expect((await failureOf(one({ env: 'TOKEN' }).get('__proto__'))).code).toBe('unknown_secret');
  });
});

describe('a secret is read at the moment of use', () => {
  it('so that a new value is used at once', async () => {
    const env = { TOKEN: 'first-value' };
    const secrets = one({ env: 'TOKEN' }, { env });
    expect(await secrets.fill(toSecretText('${secret:token}'), { child: true })).toBe('first-value');
    env.TOKEN = 'second-value';
    expect(await secrets.fill(toSecretText('${secret:token}'), { child: true })).toBe('second-value');
  });

  it('and not before', async () => {
    const folder = makeFolder();
    const secrets = one(script('require("node:fs").writeFileSync("ran", "")'), { folder });
    expect(secrets.names).toEqual(['token']);
    expect(() => readFileSync(join(folder, 'ran'))).toThrow(/ENOENT/);
  });

  it('once for all concurrent uses', async () => {
    const folder = makeFolder();
    const secrets = one(script('require("node:fs").appendFileSync("ran", "x"); console.log("value")'), { folder });
    await Promise.all([secrets.get('token'), secrets.get('token'), secrets.get('token')]);
    expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('x');
    await secrets.get('token');
    expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('xx');
  });

  it('and a failure is not cached', async () => {
    const env: Record<string, string> = {};
    const secrets = one({ env: 'TOKEN' }, { env });
    await failureOf(secrets.get('token'));
    env.TOKEN = VALUE;
    expect(reveal(await secrets.get('token'), { child: true })).toBe(VALUE);
  });
});

describe('declarations may change', () => {
  it('and the next use follows the new ones', async () => {
    let declared: Readonly<Record<string, SecretDeclaration>> = { old: { env: 'A' } };
    const secrets = createSecrets(() => declared, { env: { A: 'first value', B: 'second value' }, folder: '/' });
    expect(secrets.names).toEqual(['old']);
    declared = { new: { env: 'B' } };
    expect(secrets.names).toEqual(['new']);
    expect(reveal(await secrets.get('new'), { child: true })).toBe('second value');
    expect((await failureOf(secrets.get('old'))).message).toContain('The secret "old" is not declared.');
  });
});

describe('a text is filled in for one use', () => {
  const secrets = () =>
    createSecrets({ a: { env: 'A', hosts: 'example.com' }, b: { env: 'B' } }, { env: { A: '1', B: '2' }, folder: '/' });

  it('with all of its secrets', async () => {
    expect(await secrets().fill(toSecretText('x${secret:a}y${secret:b}z'), { child: true })).toBe('x1y2z');
    expect(await secrets().fill('plain ${secret:a}', { child: true })).toBe('plain ${secret:a}');
  });

  it('unless one of them may not go there', async () => {
    const filling = secrets().fill(toSecretText('${secret:a}${secret:b}'), { host: 'example.com' });
    expect((await failureOf(filling)).message).toMatch(
      /"b" may not be sent to "example\.com": it is not bound to a host/,
    );
  });
});

describe('values that were read are known, so that they can be hidden', () => {
  const values = (known: readonly Secret[]) => known.map((secret) => reveal(secret, { child: true }));

  it('newest first, each once, and only a few', async () => {
    const env = { TOKEN: '' };
    const secrets = one({ env: 'TOKEN' }, { env });
    expect(secrets.known()).toEqual([]);
    for (const value of ['v1', 'v2', 'v3', 'v4', 'v5', 'v5', 'v3']) {
      env.TOKEN = value;
      await secrets.get('token');
    }
    expect(values(secrets.known())).toEqual(['v3', 'v5', 'v4', 'v2']);
  });
});
