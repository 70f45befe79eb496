import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of this package: from the nearest package.json above that is named toolcrib, bundled or not. */
export function packageVersion(folder: string = import.meta.dirname): string {
  const manifest = readManifest(join(folder, 'package.json'));
  if (manifest?.name === 'toolcrib') return manifest.version ?? 'unknown';
  return dirname(folder) === folder ? 'unknown' : packageVersion(dirname(folder));
}

function readManifest(path: string): { readonly name?: string; readonly version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
