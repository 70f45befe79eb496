import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ExitCode, Invocation } from '../commands.ts';
import { print, printJson } from '../output.ts';

/** `toolcrib --version`. */
export async function printVersion({ flags }: Invocation): Promise<ExitCode> {
  const version = readVersion(import.meta.dirname);
  if (flags.json === true) printJson({ version, node: process.versions.node });
  else print(version);
  return 0;
}

// Bundled or not, the package's own manifest is the first one above that bears its name.
function readVersion(folder: string): string {
  const manifest = readManifest(join(folder, 'package.json'));
  if (manifest?.name === 'toolcrib') return manifest.version ?? 'unknown';
  return dirname(folder) === folder ? 'unknown' : readVersion(dirname(folder));
}

function readManifest(path: string): { readonly name?: string; readonly version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
