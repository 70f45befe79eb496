import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOperatorToken } from '../../src/identity/operator-token.ts';
import { type Crib, createCrib } from '../../src/index.ts';
import { folderWith } from '../crib/workshop.ts';
import { startProcess } from '../store/start-process.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { cribWith, REFUSED, ROLES, UNAVAILABLE } from './world.ts';

const OPERATOR = {
  ok: true,
  caller: { id: 'operator', operator: true },
  profiles: ['assistant', 'operations', 'opera'],
  operator: true,
};
const PRINT_TOKEN = new URL('./processes/print-token.ts', import.meta.url);

function withVariable(value: string): void {
  vi.stubEnv('TOOLCRIB_OPERATOR_TOKEN', value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** A crib and the file of its token. */
async function cribAndFile(): Promise<{ readonly crib: Crib; readonly folder: string; readonly file: string }> {
  const folder = folderWith({ 'toolcrib.yaml': 'profiles: { assistant: {}, operations: {}, opera: {} }\n' });
  const crib = await createCrib({ configFile: folder, watch: false, store: { url: 'memory:' } });
  onTestFinished(() => crib.close());
  return { crib, folder, file: crib.operatorTokenFile() ?? '' };
}

describe('the operator token in the environment', () => {
  it.each([undefined, { keys: true, roles: ROLES }])('makes an operator, with access %j', async (access) => {
    withVariable(' correct-horse-battery ');
    const crib = await cribWith(access);
    expect(await crib.identify('correct-horse-battery')).toEqual(OPERATOR);
    expect(await crib.identify('Bearer correct-horse-battery')).toEqual(OPERATOR);
    for (const wrong of [
      'correct-horse-batterx',
      'correct-horse-batter',
      'correct-horse-battery2',
      'Correct-horse-battery',
    ])
      expect(await crib.identify(wrong)).toEqual(REFUSED);
    expect(await crib.operatorToken()).toBe('correct-horse-battery');
  });

  it('works in a crib without a configuration, too', async () => {
    withVariable('correct-horse-battery');
    expect(await (await createCrib()).identify('correct-horse-battery')).toMatchObject({ ok: true, operator: true });
  });

  it('may look like a key or a token', async () => {
    for (const token of ['tck_not_really_a_key', 'aaaaaaa.bbbbbbb.ccccccc']) {
      withVariable(token);
      expect(await (await cribWith({ keys: true })).identify(token)).toMatchObject({ operator: true });
    }
  });

  it.each(['short', 'fifteen-letters', 'has a space in the middle', 'ümläut-ümläut-ümläut', 'x'.repeat(513)])(
    'that could be guessed or not be sent is an error at start: %s',
    async (token) => {
      withVariable(token);
      const error = await createCrib().catch((cause: Error) => cause);
      expect(error).toMatchObject({ code: 'invalid_operator_token', message: expect.stringContaining('16 to 512') });
      expect(String(error)).not.toContain(token);
    },
  );

  it('that is empty is ignored', async () => {
    withVariable('');
    expect(await (await createCrib()).identify('')).toMatchObject({ ok: true, operator: false });
  });
});

describe('the token in the file that TOOLCRIB_OPERATOR_TOKEN_FILE names', () => {
  function named(text?: string, mode = 0o600): string {
    const file = join(temporaryFolder(), 'deep/token');
    if (text !== undefined) {
      mkdirSync(join(file, '..'));
      writeFileSync(file, text, { mode });
      chmodSync(file, mode);
    }
    vi.stubEnv('TOOLCRIB_OPERATOR_TOKEN_FILE', file);
    onTestFinished(() => void vi.unstubAllEnvs());
    return file;
  }

  it.each([0o600, 0o400, 0o640, 0o440])(
    'makes an operator with the mode %o, and can be replaced at any time',
    async (mode) => {
      const file = named('correct-horse-battery\n', mode);
      const crib = await cribWith({ keys: true, roles: ROLES });
      expect(crib.operatorTokenFile()).toBe(file);
      expect(await crib.operatorToken()).toBe('correct-horse-battery');
      expect(await crib.identify('Bearer correct-horse-battery')).toEqual(OPERATOR);
      rmSync(file);
      expect(await crib.identify('correct-horse-battery')).toEqual(REFUSED);
      writeFileSync(file, 'another-token-of-ours', { mode: 0o600 });
      expect(await crib.identify('correct-horse-battery')).toEqual(REFUSED);
      expect(await crib.identify('another-token-of-ours')).toEqual(OPERATOR);
    },
  );

  it('is created there if the file is missing, without touching the state directory', async () => {
    const file = named();
    const { XDG_STATE_HOME = '' } = process.env;
    const before = readdirSync(XDG_STATE_HOME);
    const crib = await cribWith(undefined);
    const token = await crib.operatorToken();
    expect(readFileSync(file, 'utf8')).toBe(`${token}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await crib.identify(token)).toEqual(OPERATOR);
    expect(readdirSync(XDG_STATE_HOME)).toEqual(before);
  });

  it.each([
    ['that others can read', 'correct-horse-battery', 0o644],
    ['that its group can write', 'correct-horse-battery', 0o620],
    ['that could be guessed', 'short', 0o600],
    ['with spaces', 'correct horse battery staple', 0o600],
    ['that is too long', 'x'.repeat(513), 0o600],
    ['that is empty', '', 0o600],
    ['that goes on where it is not read', `correct-horse-battery${' '.repeat(600)}x`, 0o600],
  ])('%s opens nothing, and is not repeated', async (_, text, mode) => {
    const file = named(text, mode);
    const crib = await cribWith(undefined);
    if (text.length > 15) expect(await crib.identify(text)).toMatchObject({ ok: false });
    const error = await crib.operatorToken().catch((cause: Error) => cause);
    expect(error).toMatchObject({ code: 'operator_token_unusable', message: expect.stringContaining(file) });
    if (text !== '') expect(String(error)).not.toContain(text);
  });

  it('beside TOOLCRIB_OPERATOR_TOKEN is an error at start', async () => {
    named('correct-horse-battery');
    vi.stubEnv('TOOLCRIB_OPERATOR_TOKEN', 'another-token-of-ours');
    await expect(createCrib()).rejects.toMatchObject({
      code: 'invalid_operator_token',
      message: expect.stringContaining('are both set'),
    });
  });
});

describe('the token in the state folder', () => {
  it('is in the state directory of the user, and not in the folder of the configuration', async () => {
    const { crib, folder, file } = await cribAndFile();
    const { XDG_STATE_HOME = '' } = process.env;
    await crib.operatorToken();
    const id = readFileSync(join(folder, '.toolcrib/id'), 'utf8').trim();
    expect(file).toBe(join(XDG_STATE_HOME, 'toolcrib', id, 'operator-token'));
    expect(readdirSync(join(folder, '.toolcrib')).toSorted()).toEqual(['.gitignore', 'id']);
  });

  it('is created at first need, readable by its owner only, and stays', async () => {
    const { crib, file } = await cribAndFile();
    expect(await crib.identify('tco_xxxx')).toEqual(REFUSED);
    expect(existsSync(file)).toBe(false);
    const token = await crib.operatorToken();
    expect(token).toMatch(/^tco_[0-9a-z]{39}$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, '..')).mode & 0o077).toBe(0);
    expect(readdirSync(join(file, '..')).filter((name) => name.includes('token'))).toEqual(['operator-token']);
    expect(await crib.operatorToken()).toBe(token);
    expect(await crib.identify(token)).toEqual(OPERATOR);
  });

  it('is the same for all processes that need it first at the same time', async () => {
    const folder = temporaryFolder();
    const processes = Array.from({ length: 4 }, () => startProcess(PRINT_TOKEN, [folder]));
    await Promise.all(processes.map(({ said }) => said(1)));
    for (const { child } of processes) child.stdin?.write('now\n');
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    const tokens = new Set(processes.map(({ lines }) => lines[1]));
    expect([...tokens]).toEqual([readFileSync(join(folder, 'operator-token'), 'utf8').trim()]);
    expect(readdirSync(folder)).toEqual(['operator-token']);
  });

  it('is the same for all concurrent first uses in one process', async () => {
    const folder = temporaryFolder();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () => createOperatorToken(undefined, { folder: () => folder, hide: () => {} }).get()),
    );
    expect(new Set(tokens).size).toBe(1);
  });

  it('with one character changed, at every position, is refused', async () => {
    const { crib } = await cribAndFile();
    const token = await crib.operatorToken();
    for (const at of token.split('').keys()) {
      const other = token[at] === 'x' ? 'y' : 'x';
      expect(await crib.identify(`${token.slice(0, at)}${other}${token.slice(at + 1)}`)).toEqual(REFUSED);
    }
  });

  it('is invalid as soon as it is removed, and another one is created', async () => {
    const { crib, file } = await cribAndFile();
    const token = await crib.operatorToken();
    rmSync(file);
    expect(await crib.identify(token)).toEqual(REFUSED);
    const next = await crib.operatorToken();
    expect(next).not.toBe(token);
    expect(await crib.identify(next)).toEqual(OPERATOR);
  });

  it.skipIf(process.platform === 'win32')('that others can read opens nothing, and says what to do', async () => {
    const { crib, file } = await cribAndFile();
    const token = await crib.operatorToken();
    for (const mode of [0o644, 0o640, 0o602]) {
      chmodSync(file, mode);
      expect(await crib.identify(token)).toEqual(UNAVAILABLE);
      await expect(crib.operatorToken()).rejects.toMatchObject({ message: expect.stringContaining('chmod 600') });
    }
    expect(crib.warnings().join('\n')).toContain('is readable for other users');
    expect(crib.warnings().join('\n')).not.toContain(token);
    chmodSync(file, 0o600);
    expect(await crib.identify(token)).toEqual(OPERATOR);
  });

  it.each<[string, (file: string) => void]>([
    ['nothing', (file) => writeFileSync(file, '', { mode: 0o600 })],
    ['half of it', (file) => writeFileSync(file, readFileSync(file).subarray(0, 20), { mode: 0o600 })],
    ['something else', (file) => writeFileSync(file, 'password1password1', { mode: 0o600 })],
    ['much more', (file) => writeFileSync(file, Buffer.alloc(1_000_000, 'a'), { mode: 0o600 })],
  ])('a file that holds %s opens nothing', async (_, spoil) => {
    const { crib, file } = await cribAndFile();
    const token = await crib.operatorToken();
    spoil(file);
    expect(await crib.identify(token)).toEqual(UNAVAILABLE);
    expect(await crib.identify('password1password1')).toEqual(REFUSED);
    await expect(crib.operatorToken()).rejects.toMatchObject({ code: 'operator_token_unusable' });
  });

  it.skipIf(process.platform === 'win32')(
    'a folder or a pipe in its place opens nothing, without waiting',
    async () => {
      const { crib, file } = await cribAndFile();
      const token = await crib.operatorToken();
      for (const make of [() => mkdirSync(file, { mode: 0o700 }), () => execFileSync('mkfifo', ['-m', '600', file])]) {
        rmSync(file, { recursive: true });
        make();
        expect(await crib.identify(token)).toEqual(UNAVAILABLE);
        await expect(crib.operatorToken()).rejects.toMatchObject({ code: 'operator_token_unusable' });
      }
    },
  );

  it.skipIf(process.platform === 'win32')('may be a link to a file that is private', async () => {
    const { crib, file } = await cribAndFile();
    const token = await crib.operatorToken();
    renameSync(file, `${file}-kept`);
    symlinkSync(`${file}-kept`, file);
    expect(await crib.identify(token)).toEqual(OPERATOR);
  });

  it('lasts as long as the process if nothing can be written', async () => {
    const token = createOperatorToken(undefined, { folder: () => undefined, hide: () => {} });
    expect(await token.matches('tco_x')).toBe(false);
    const text = await token.get();
    expect(await token.get()).toBe(text);
    expect(await token.matches(text)).toBe(true);
    expect(await createOperatorToken(undefined, { folder: () => undefined, hide: () => {} }).matches(text)).toBe(false);
  });
});
