import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { EngineOptions } from './open-engine.ts';
import { stateFolders } from './state-folder.ts';

/** Whether something may have been stored: false only where there is no file yet. Opens and makes nothing. */
export function storeExists({ url, configFolder = '.', env }: EngineOptions): boolean {
  if (url === 'memory:') return false;
  if (url?.startsWith('sqlite:')) return existsSync(resolve(configFolder, url.slice('sqlite:'.length)));
  if (url !== undefined) return true;
  const { beside, users } = stateFolders(configFolder, env);
  return [beside, users].some((folder) => existsSync(join(folder, 'crib.db')));
}
