import { existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const IS_WINDOWS = process.platform === 'win32';

/** The program for a configured interpreter or virtual environment folder. */
export function findInterpreter(interpreter: string = IS_WINDOWS ? 'python' : 'python3'): string {
  const isFolder = /[/\\]/.test(interpreter) && statSync(interpreter, { throwIfNoEntry: false })?.isDirectory();
  if (!isFolder) return interpreter;
  return IS_WINDOWS ? join(interpreter, 'Scripts', 'python.exe') : join(interpreter, 'bin', 'python');
}

/** The file of an interpreter, for detecting changes; the name itself if it is not found. */
export function interpreterFile(program: string, path: string = ''): string {
  if (/[/\\]/.test(program)) return program;
  const files = path.split(delimiter).map((folder) => join(folder, program));
  return files.find((file) => existsSync(file)) ?? program;
}

/** The script that workers run: next to this file, or at its place in the package if this file was bundled. */
export function workerScript(): string {
  const places = ['./worker.py', '../kinds/python/worker.py'].map((place) => new URL(place, import.meta.url));
  const found = places.map((place) => fileURLToPath(place)).find((file) => existsSync(file));
  if (found === undefined) throw new Error('worker.py is missing; reinstall Toolcrib');
  return found;
}
