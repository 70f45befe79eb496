import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** Where a program is looked for. */
export interface ProgramPlace {
  /** The variable PATH of whoever runs it. */
  readonly path: string | undefined;
  readonly cwd: string;
}

/** The file that a system would run under this name; undefined if there is none. */
export function findProgram(name: string, { path = '', cwd }: ProgramPlace): string | undefined {
  if (name.includes('/')) return [resolve(cwd, name)].find(isProgram);
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    // Most names are in one of many folders: asking so throws for none of the others.
    if (!(statSync(file, { throwIfNoEntry: false })?.isFile() ?? false)) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // not for us, or in a folder that is not
  }
}
