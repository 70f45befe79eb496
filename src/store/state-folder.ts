import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** The variables of the environment that say where a user's state is. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder for what must outlive the process; undefined where no place can be written. */
export interface StateFolder {
  readonly path: string | undefined;
  readonly warnings: readonly string[];
}

/** Beside the configuration if that can be written, else in the user's state directory, under a name of its own for each configuration. */
export function findStateFolder(configFolder: string, env: Environment): StateFolder {
  const { beside, users } = stateFolders(configFolder, env);
  if (isWritableFolder(beside)) {
    keepOutOfGit(beside);
    return { path: beside, warnings: [] };
  }
  if (isWritableFolder(users)) {
    return { path: users, warnings: [`${beside} cannot be written, so state is kept in ${users}.`] };
  }
  const warning = `Neither ${beside} nor ${users} can be written, so nothing outlives this process; make one writable or set store.url.`;
  return { path: undefined, warnings: [warning] };
}

/** The folders in which the state of a configuration may lie. All of them are kept from the tools of the crib. */
export interface StateFolders {
  /** The folder beside the configuration. */
  readonly beside: string;
  /** The folder in the user's state directory that stands in for `beside` where that cannot be written. */
  readonly users: string;
  /** The user's state directory of all configurations: operator tokens and audit keys lie in its folders. */
  readonly states: string;
}

/** The places it may be; looks at nothing and makes nothing. */
export function stateFolders(configFolder: string, env: Environment): StateFolders {
  const beside = resolve(configFolder, '.toolcrib');
  const states = userStateFolder(env);
  return { beside, users: join(states, hashOf(resolve(configFolder))), states };
}

function userStateFolder({ XDG_STATE_HOME, HOME }: Environment): string {
  if (XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'toolcrib');
  return join(HOME || homedir(), '.local/state/toolcrib');
}

/** Makes the folder if it is missing; true if files can be read, made and replaced in it. */
export function isWritableFolder(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A folder that holds keys beside sources must not be committed by accident. */
export function keepOutOfGit(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, or the folder cannot be written.
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
