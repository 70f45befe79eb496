import { resolve } from 'node:path';
import type { HiddenPaths } from '../../config/records.ts';
import { stateFolders } from '../../store/place/state-folder.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';

/** Where a crib keeps what no program that it runs may see. */
export interface KeptAt {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Addresses that the store may have, as far as they can be told. */
  readonly storeUrls: readonly unknown[];
  readonly secrets: Readonly<Record<string, SecretDeclaration>>;
  /** What decides what the crib runs. */
  readonly readOnly: readonly string[];
}

/** What SQLite keeps beside a database. */
const BESIDE = ['', '-wal', '-shm', '-journal'];

/** Hidden are the state folders with keys and tokens, those of other configurations of this user as well, the database, and files that hold secrets. */
export function hiddenPaths({ folder, env, storeUrls, secrets, readOnly }: KeptAt): HiddenPaths {
  const { beside, states } = stateFolders(folder, env);
  const databases = storeUrls.flatMap((url) =>
    typeof url === 'string' && url.startsWith('sqlite:') ? [url.slice('sqlite:'.length)] : [],
  );
  const kept = Object.values(secrets).flatMap((secret) => ('file' in secret ? [resolve(folder, secret.file)] : []));
  const files = databases.flatMap((file) => BESIDE.map((end) => `${resolve(folder, file)}${end}`));
  return { folders: [beside, states], files: [...files, ...kept], readOnly };
}
