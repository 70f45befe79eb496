import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createFolder } from './fixtures/modules-folder.ts';

const SCRIPT = join(import.meta.dirname, 'fixtures/modules-native.ts');
const NAMES = ['common', 'esm', 'transpiled', 'typed'];
const all = (answer: string) => Object.fromEntries(NAMES.map((name) => [name, answer]));

it.each([
  ['a script', [SCRIPT]],
  ['text with options that no worker takes', ['--expose-gc', '--input-type=module', '--eval', importOf(SCRIPT)]],
])(
  'Under Node itself, run as %s, modules of every sort are found, re-exported once, and loaded again when they change.',
  async (_, args) => {
    const { stdout } = await promisify(execFile)(process.execPath, [...args, createFolder().path]);
    expect(JSON.parse(stdout)).toEqual({
      before: all('old'),
      changes: { added: [], removed: [], changed: NAMES },
      after: all('new'),
      warnings: [],
    });
  },
  30_000,
);

function importOf(script: string): string {
  return `await import(${JSON.stringify(pathToFileURL(script).href)})`;
}
