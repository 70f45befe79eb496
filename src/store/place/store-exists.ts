import { resolve } from 'node:path';
import type { EngineOptions } from '../engines/open-engine.ts';
import { databaseIn, stateFolders } from './state-folder.ts';
import { mayExist } from './store-place.ts';

/** Whether something may have been stored: false only where there is surely no file yet. Opens and makes nothing. */
export function storeExists({ url, configFolder = '.', env }: EngineOptions): boolean {
  if (url === 'memory:') return false;
  if (url?.startsWith('sqlite:')) return mayExist(resolve(configFolder, url.slice('sqlite:'.length)));
  if (url !== undefined) return true;
  const { beside, users } = stateFolders(configFolder, env);
  return [beside, users].some((folder) => mayExist(databaseIn(folder)));
}
