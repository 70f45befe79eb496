import { dirname, isAbsolute } from 'node:path';
import type { Run } from '../../core/tool-spec.ts';

/** How a Python function runs. */
export interface PythonRun extends Run {
  readonly kind: 'python';
  /** A name as `import` takes it, or the path of a file. */
  readonly module: string;
  /** A function, or a method as `Class.method`. */
  readonly function: string;
  /** Where the module is looked for first: the folder of the file that names it. */
  readonly folder?: string;
}

/** Where a function is found. */
export interface PythonPlace {
  readonly folder: string;
  readonly module: string;
  readonly function: string;
}

/** A file is found from its own folder, a name from the folder of whoever names it. */
export function placeOf({ module, function: name, folder = '' }: PythonRun): PythonPlace {
  return { module, function: name, folder: isAbsolute(module) ? dirname(module) : folder };
}
