import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** What a configuration may be called. */
export const CONFIG_NAMES = ['toolcrib.yaml', 'toolcrib.yml', 'toolcrib.json'];

/** The configuration of a folder, if it has one. */
export function findConfig(folder: string): string | undefined {
  return CONFIG_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
}
