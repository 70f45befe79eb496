import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The folder of the repository. */
export const ROOT = join(import.meta.dirname, '../..');

/** Runs a program to its end. */
export const run = promisify(execFile);

/** Unpacks a packed Toolcrib in `home` and links its runtime dependencies from this repository. */
export async function installTarball(tarball: string, home: string): Promise<string> {
  const installed = await unpackTarball(tarball, join(home, 'node_modules/toolcrib'));
  linkRuntime(home);
  return installed;
}

/** Links the runtime dependencies of Toolcrib, and its command, in a folder where it lies. */
export function linkRuntime(home: string): void {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }; // our own
  for (const name of Object.keys(dependencies)) {
    link(join(ROOT, 'node_modules', name), join(home, 'node_modules', name));
  }
  link('../toolcrib/dist/cli/main.js', join(home, 'node_modules/.bin/toolcrib'));
}

/** Packs a package as it would be published, and unpacks it where it is to be installed. */
export async function unpack(folder: string, installed: string): Promise<string> {
  mkdirSync(dirname(installed), { recursive: true });
  return await unpackTarball(await pack(folder, dirname(installed)), installed);
}

/** Packs a package as it would be published, without building it; returns the path of the tarball. */
export async function pack(folder: string, destination: string): Promise<string> {
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
  const { stdout } = await run('npm', words, { cwd: folder });
  const [packed] = Object.values(JSON.parse(stdout)) as { filename: string }[]; // one package was packed
  return join(destination, packed?.filename ?? '');
}

/** Unpacks a tarball of npm without the folder that all of it lies in. */
export async function unpackTarball(tarball: string, installed: string): Promise<string> {
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  return installed;
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
