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
  mkdirSync(join(home, 'node_modules'), { recursive: true });
  return await installTarball(await pack(ROOT, join(home, 'node_modules')), home);
}

/** Unpacks a packed Toolcrib in `home` and links its runtime dependencies from this repository. */
export async function installTarball(tarball: string, home: string): Promise<string> {
  const installed = await unpackTarball(tarball, join(home, 'node_modules/toolcrib'));
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }; // our own
  for (const name of Object.keys(dependencies)) {
    link(join(ROOT, 'node_modules', name), join(home, 'node_modules', name));
  }
  link('../toolcrib/dist/cli/main.js', join(home, 'node_modules/.bin/toolcrib'));
  return installed;
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

async function unpackTarball(tarball: string, installed: string): Promise<string> {
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  return installed;
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
