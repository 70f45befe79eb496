import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createFolder } from '../../src/system/create-folder.ts';

const base = mkdtempSync(join(tmpdir(), 'toolcrib-folder-'));
afterAll(() => rmSync(base, { recursive: true }));

it('is created with those above it, for its owner only, and stays if it is there', () => {
  const path = join(base, 'a/b/c');
  createFolder(path);
  createFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it('may be a link to a folder', () => {
  symlinkSync(base, join(base, 'link'));
  createFolder(join(base, 'link'));
  createFolder(join(base, 'link/below'));
  expect(statSync(join(base, 'below')).isDirectory()).toBe(true);
});

it('cannot be a file, below a file or behind a broken link', () => {
  writeFileSync(join(base, 'file'), '');
  symlinkSync(join(base, 'absent/away'), join(base, 'broken'));
  expect(() => createFolder(join(base, 'file'))).toThrow('EEXIST');
  expect(() => createFolder(join(base, 'file/below'))).toThrow('ENOTDIR');
  expect(() => createFolder(join(base, 'broken/below'))).toThrow(/EEXIST|ENOENT/);
});

/** In a process of its own, because a failure would never return. */
it.skipIf(process.platform !== 'linux')('fails where a file system creates no folders, and returns', () => {
  const code = `import { createFolder } from ${JSON.stringify(join(import.meta.dirname, '../../src/system/create-folder.ts'))};
    try { createFolder('/proc/1/toolcrib/state'); } catch ({ code }) { console.log(code); }`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    timeout: 30_000,
    encoding: 'utf8',
  });
  expect(said).toBe('ENOENT\n');
});
