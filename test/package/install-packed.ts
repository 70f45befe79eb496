import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The folder of the repository. */
export const ROOT = join(import.meta.dirname, '../..');

/** Runs a program to its end. */
export const run = promisify(execFile);

/** What `npm install` of the packed package would lay down in `home`, without the network: its files, and its runtime dependencies beside it. */
export async function installPacked(home: string): Promise<string> {
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }');
  const installed = await unpack(ROOT, join(home, 'node_modules/toolcrib'));
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }; // our own
  for (const name of Object.keys(dependencies)) {
    link(join(ROOT, 'node_modules', name), join(home, 'node_modules', name));
  }
  link('../toolcrib/dist/cli/main.js', join(home, 'node_modules/.bin/toolcrib'));
  return installed;
}

/** Packs a package as it would be published, and unpacks it where it is to be installed. */
export async function unpack(folder: string, installed: string): Promise<string> {
  mkdirSync(installed, { recursive: true });
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', dirname(installed)];
  const { stdout } = await run('npm', words, { cwd: folder });
  const [packed] = Object.values(JSON.parse(stdout)) as { filename: string }[]; // one package was packed
  await run('tar', ['-xzf', join(dirname(installed), packed?.filename ?? ''), '-C', installed, '--strip-components=1']);
  return installed;
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
