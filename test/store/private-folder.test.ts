import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PrivateFolder } from '../../src/core/ports/crib-context.ts';
import { findPrivateFolder } from '../../src/store/private-folder.ts';
import { stateFolders } from '../../src/store/state-folder.ts';
import { startProcess } from './start-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

const FIND = new URL('./processes/find-private-folder.ts', import.meta.url);
const NOBODY = 65_534;

interface Place {
  /** The folder of the configuration. */
  readonly project: string;
  /** The state directory of the user. */
  readonly home: string;
}

function place(): Place {
  const folder = temporaryFolder();
  const project = join(folder, 'project');
  mkdirSync(project);
  return { project, home: join(folder, 'state') };
}

const find = ({ project, home }: Place): PrivateFolder => findPrivateFolder(project, { XDG_STATE_HOME: home });
const pathOf = (at: Place): string => find(at).path ?? '';
const idOf = ({ project }: Place): string => readFileSync(join(project, '.toolcrib/id'), 'utf8').trim();

/** Only root can give files away. */
const belongsToAnother: [string, (path: string) => void] = [
  'belongs to another user',
  (path) => chownSync(path, NOBODY, NOBODY),
];

/** Writes what an earlier version kept beside the configuration. */
function writeOld({ project }: Place, mode = 0o600): Readonly<Record<string, string>> {
  const files = {
    'operator-token': 'the token\n',
    'audit/key.pem': 'the key\n',
    'audit/0123456789abcdef.idle.json': '{"count":5}\n',
    'audit/fedcba9876543210.0a1b2c3d-77-abc.json': '{"count":7}\n',
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(project, '.toolcrib', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, mode);
  }
  return files;
}

describe('the folder for the operator token and the audit key', () => {
  it('is reported missing if its id was removed together with the audit, for as long as it exists', () => {
    const at = place();
    const before = pathOf(at);
    const id = idOf(at);
    rmSync(join(at.project, '.toolcrib'), { recursive: true });
    expect(find(at).warnings).toEqual([]); // nothing was recorded under it
    rmSync(join(at.project, '.toolcrib'), { recursive: true });
    mkdirSync(join(before, 'audit'));
    writeFileSync(join(before, 'audit/key.pem'), 'the key\n');
    for (let start = 0; start < 2; start++) {
      const { path, warnings } = find(at);
      expect(path).not.toBe(before);
      expect(warnings).toEqual([expect.stringContaining(`write ${id} into that file and run audit verify`)]);
    }
    writeFileSync(join(at.project, '.toolcrib/id'), `${id}\n`);
    expect(find(at)).toEqual({ path: before, warnings: [] });
  });

  it('is in the state directory of the user, under a random id, readable by its owner only', () => {
    const at = place();
    const { path = '', warnings } = find(at);
    expect(idOf(at)).toMatch(/^[0-9a-f]{32}$/);
    expect(path).toBe(join(at.home, 'toolcrib', idOf(at)));
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(warnings).toEqual([]);
    expect(find(at)).toEqual({ path, warnings: [] });
    const other = place();
    expect(pathOf({ ...other, home: at.home })).not.toBe(path);
  });

  it('is one of the folders that tools of the crib never see', () => {
    const at = place();
    const hidden = Object.values(stateFolders(at.project, { XDG_STATE_HOME: at.home }));
    expect(hidden.some((folder) => pathOf(at).startsWith(`${folder}/`))).toBe(true);
  });

  it('stays with a renamed configuration, and with one that is reached by another path', () => {
    const at = place();
    const path = pathOf(at);
    const renamed = { ...at, project: `${at.project}-renamed` };
    renameSync(at.project, renamed.project);
    expect(find(renamed)).toEqual({ path, warnings: [] });
    symlinkSync(renamed.project, at.project);
    expect(find(at)).toEqual({ path, warnings: [] });
  });

  it('is shared by configurations that share the folder beside them', () => {
    const at = place();
    const path = pathOf(at);
    const other = { ...at, project: `${at.project}-other` };
    mkdirSync(other.project);
    symlinkSync(join(at.project, '.toolcrib'), join(other.project, '.toolcrib'));
    expect(find(other)).toEqual({ path, warnings: [] });
    expect(find(at)).toEqual({ path, warnings: [] });
  });

  it('is a separate one for a copy of the configuration, and the original keeps its own', () => {
    const at = place();
    const path = pathOf(at);
    const copy = { ...at, project: `${at.project}-copy` };
    cpSync(at.project, copy.project, { recursive: true });
    const ofCopy = find(copy);
    expect(ofCopy.warnings).toEqual([expect.stringMatching(/is a copy of .*trustedKeys/)]);
    expect(ofCopy.path).not.toBe(path);
    expect(find(copy)).toEqual({ path: ofCopy.path, warnings: [] });
    expect(find(at)).toEqual({ path, warnings: [] });
    // A copy at the same place after that was renamed is a third one.
    const renamed = { ...at, project: `${at.project}-renamed` };
    renameSync(copy.project, renamed.project);
    expect(pathOf(renamed)).toBe(ofCopy.path);
    cpSync(at.project, copy.project, { recursive: true });
    expect(new Set([pathOf(at), pathOf(copy), pathOf(renamed)]).size).toBe(3);
  });

  it('is the same for all processes that find a copy at the same time', async () => {
    const at = place();
    pathOf(at);
    const copy = { ...at, project: `${at.project}-copy` };
    cpSync(at.project, copy.project, { recursive: true });
    const found = await findAtOnce(copy, 4);
    expect(new Set(found.map(({ path }) => path))).toEqual(new Set([pathOf(copy)]));
    expect(pathOf(copy)).not.toBe(pathOf(at));
  });

  it('is the same for all processes that need it first at the same time', async () => {
    const at = place();
    const found = await findAtOnce(at, 4);
    expect(new Set(found.map(({ path }) => path))).toEqual(new Set([pathOf(at)]));
    expect(readdirSync(join(at.home, 'toolcrib'))).toEqual([idOf(at)]);
    expect(readdirSync(join(at.project, '.toolcrib')).toSorted()).toEqual(['.gitignore', 'id']);
  });

  it.each<[string, (id: string) => void]>([
    ['a way up', (id) => writeFileSync(id, '../../../../etc')],
    ['a way up of the right length', (id) => writeFileSync(id, `../${'a'.repeat(29)}`)],
    ['an absolute path', (id) => writeFileSync(id, '/tmp/x')],
    ['nothing', (id) => writeFileSync(id, '')],
    ['capital letters', (id) => writeFileSync(id, 'A'.repeat(32))],
    ['too few digits', (id) => writeFileSync(id, 'a'.repeat(31))],
    ['too many digits', (id) => writeFileSync(id, 'a'.repeat(33))],
    ['the form of a folder named by a hash', (id) => writeFileSync(id, 'a'.repeat(16))],
    ['two lines', (id) => writeFileSync(id, `${'a'.repeat(32)}\n\n`)],
    ['a line before it', (id) => writeFileSync(id, `\n${'a'.repeat(32)}`)],
    ['a NUL', (id) => writeFileSync(id, `${'a'.repeat(31)}\0`)],
    ['a megabyte', (id) => writeFileSync(id, 'a'.repeat(1_000_000))],
    ['bytes that look like digits', (id) => writeFileSync(id, '１'.repeat(32))],
    ['a folder', (id) => mkdirSync(id)],
    ['a link', (id) => symlinkSync('../elsewhere', id)],
    ['a pipe', (id) => execFileSync('mkfifo', [id])],
  ])('is refused with a sentence if the id is %s', (_, spoil) => {
    const at = place();
    writeFileSync(join(at.project, 'elsewhere'), 'a'.repeat(32));
    pathOf(at);
    const before = readdirSync(join(at.home, 'toolcrib'));
    const id = join(at.project, '.toolcrib/id');
    rmSync(id);
    spoil(id);
    expect(() => find(at)).toThrow(
      expect.objectContaining({ code: 'invalid_state_id', message: expect.stringContaining(id) }),
    );
    expect(readdirSync(join(at.home, 'toolcrib'))).toEqual(before);
  });

  it('is beside the configuration, with a notice, if the state directory cannot be written', () => {
    const at = place();
    writeFileSync(at.home, 'a file where the folder would be');
    const beside = join(at.project, '.toolcrib');
    expect(find(at)).toEqual({ path: beside, warnings: [expect.stringMatching(/XDG_STATE_HOME.*_TOKEN_FILE/)] });
    expect(readFileSync(join(beside, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('is named by the hash of the path if no id can be stored', () => {
    const at = place();
    writeFileSync(join(at.project, '.toolcrib'), 'a file where the folder would be');
    const { users } = stateFolders(at.project, { XDG_STATE_HOME: at.home });
    expect(find(at)).toEqual({ path: users, warnings: [] });
  });

  it('does not exist, with a notice, if nothing can be written', () => {
    const at = place();
    writeFileSync(at.home, '');
    writeFileSync(join(at.project, '.toolcrib'), '');
    expect(find(at)).toEqual({
      path: undefined,
      warnings: [expect.stringContaining('the operator token is lost when this process ends')],
    });
  });

  it('is found by its id if the configuration can no longer be written', async () => {
    const at = place();
    const path = pathOf(at);
    for (const folder of [join(at.project, '..'), at.home, join(at.home, 'toolcrib'), path]) chmodSync(folder, 0o777);
    chmodSync(join(at.project, '.toolcrib'), 0o755);
    chmodSync(join(at.project, '.toolcrib/id'), 0o644);
    const user = process.getuid?.() === 0 ? NOBODY : undefined;
    if (user === undefined) chmodSync(join(at.project, '.toolcrib'), 0o555);
    onTestFinished(() => chmodSync(join(at.project, '.toolcrib'), 0o755));
    const [found] = await findAtOnce(at, 1, user);
    expect(found?.path).toBe(path);
  });
});

describe('files of an earlier version beside the configuration', () => {
  it('are moved once, completely and privately, with a notice of one line', () => {
    const at = place();
    const files = writeOld(at);
    const { path = '', warnings } = find(at);
    const beside = join(at.project, '.toolcrib');
    expect(warnings).toEqual([`The operator token and the audit key were moved from ${beside} to ${path}.`]);
    for (const [name, text] of Object.entries(files)) {
      expect(readFileSync(join(path, name), 'utf8')).toBe(text);
      expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(beside).toSorted()).toEqual(['.gitignore', 'id']);
    writeOld(at); // later ones are not ours
    writeFileSync(join(beside, 'operator-token'), 'the token of a tool\n', { mode: 0o600 });
    expect(find(at)).toEqual({ path, warnings: [] });
    expect(readFileSync(join(path, 'operator-token'), 'utf8')).toBe('the token\n');
  });

  it('are not lost if several processes move them at the same time', async () => {
    const at = place();
    const files = writeOld(at);
    const found = await findAtOnce(at, 6);
    const path = pathOf(at);
    expect(new Set(found.map((one) => one.path))).toEqual(new Set([path]));
    expect(found.flatMap(({ warnings }) => warnings).filter((warning) => !/were moved/.test(warning))).toEqual([]);
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(path, name), 'utf8')).toBe(text);
    expect(readdirSync(join(path, 'audit'))).toHaveLength(3);
    expect(existsSync(join(at.project, '.toolcrib/audit'))).toBe(false);
  });

  it.each(['operator-token', 'audit/key.pem', 'audit/0123456789abcdef.idle.json'])(
    'are complete after a crash right after %s got its name in the other folder',
    (last) => {
      const at = place();
      const path = pathOf(at);
      rmSync(join(path, 'configuration')); // written last
      const files = writeOld(at);
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(join(path, name, '..'), { recursive: true });
        writeFileSync(join(path, name), text, { mode: 0o600 });
        if (name === last) break;
        rmSync(join(at.project, '.toolcrib', name));
      }
      expect(pathOf(at)).toBe(path);
      for (const [name, text] of Object.entries(files)) expect(readFileSync(join(path, name), 'utf8')).toBe(text);
      expect(readdirSync(join(at.project, '.toolcrib')).toSorted()).toEqual(['.gitignore', 'id']);
    },
  );

  it('are not used if others could read them: they may have come with the folder', () => {
    const at = place();
    writeOld(at, 0o644);
    const { path = '', warnings } = find(at);
    expect(warnings).toEqual([
      expect.stringMatching(/operator-token was not moved, because other users can read it\. Remove it\.$/),
      expect.stringMatching(/key\.pem was not moved, because other users can read it\. Remove it\.$/),
    ]);
    expect(readdirSync(path)).toEqual(['configuration']);
  });

  it.each<[string, (path: string) => void]>([
    ['is too large', (path) => truncateSync(path, 3_000_000_000)],
    ['is a named pipe', (path) => execFileSync('sh', ['-c', 'rm "$1"; mkfifo -m 600 "$1"', 'sh', path])],
    ['is a link', (path) => execFileSync('sh', ['-c', 'mv "$1" "$1.old"; ln -s "$1.old" "$1"', 'sh', path])],
    ...(process.getuid?.() === 0 ? [belongsToAnother] : []),
  ])('are not used if the file %s', (_, change) => {
    const at = place();
    writeOld(at);
    for (const name of ['operator-token', 'audit/key.pem']) change(join(at.project, '.toolcrib', name));
    const { path = '', warnings } = find(at);
    expect(warnings).toEqual([
      expect.stringMatching(/operator-token was not moved, because it [^.]+\. Remove it\.$/),
      expect.stringMatching(/key\.pem was not moved, because it [^.]+\. Remove it\.$/),
    ]);
    expect(readdirSync(path)).toEqual(['configuration']);
  });

  it('are not taken from another configuration, to which a link in the place of the folder leads', () => {
    const [at, other] = [place(), place()];
    const files = writeOld(other);
    mkdirSync(join(at.project, '.toolcrib'));
    symlinkSync(join(other.project, '.toolcrib/audit'), join(at.project, '.toolcrib/audit'));
    expect(find(at).warnings).toEqual([expect.stringContaining('because its folder is a link')]);
    expect(readFileSync(join(other.project, '.toolcrib/audit/key.pem'), 'utf8')).toBe(files['audit/key.pem']);
  });

  it('do not replace existing files', () => {
    const at = place();
    const path = pathOf(at);
    rmSync(join(path, 'configuration'));
    writeFileSync(join(path, 'operator-token'), 'ours\n', { mode: 0o600 });
    writeOld(at);
    expect(find(at).warnings).toContainEqual(expect.stringContaining('has a different one'));
    expect(readFileSync(join(path, 'operator-token'), 'utf8')).toBe('ours\n');
  });

  it('are moved from the folder that is named by a hash, too', () => {
    const at = place();
    const { users } = stateFolders(at.project, { XDG_STATE_HOME: at.home });
    mkdirSync(users, { recursive: true });
    writeFileSync(join(users, 'operator-token'), 'the token\n', { mode: 0o600 });
    expect(readFileSync(join(pathOf(at), 'operator-token'), 'utf8')).toBe('the token\n');
  });
});

/** What so many processes find that look at the same moment. */
async function findAtOnce({ project, home }: Place, count: number, user?: number): Promise<readonly PrivateFolder[]> {
  const processes = Array.from({ length: count }, () => startProcess(FIND, [project, home], user));
  await Promise.all(processes.map(({ said }) => said(1)));
  for (const { child } of processes) child.stdin?.write('now\n');
  expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual(processes.map(() => 0));
  return processes.map(({ lines }) => JSON.parse(lines[1] ?? '{}') as PrivateFolder); // what the script prints
}
