import { isAbsolute, resolve } from 'node:path';
import { isRecord } from '../core/json.ts';
import type { KindTraits } from '../core/ports/runs.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that are paths where the kind does not say which are. */
const USUAL_FIELDS: readonly string[] = ['cwd', 'file', 'module', 'sandbox.read', 'sandbox.write'];

/** The fields of a run of this kind that are paths or hold some. */
export function pathFieldsOf({ pathFields = USUAL_FIELDS }: KindTraits): ReadonlySet<string> {
  return new Set(pathFields.map((field) => field.replace(/\..*/, '')));
}

/** How a tool runs, with relative paths taken from the folder of the file that names them. */
export function resolveRunPaths(run: Fields, folder: string, traits: KindTraits): Fields {
  const { pathFields = USUAL_FIELDS, findsModules } = traits;
  const resolved = pathFields.reduce((fields, field) => resolveField(fields, field, folder), run);
  const isFound = findsModules === 'always' || (findsModules === 'byName' && isName(run.module));
  return isFound ? { ...resolved, folder: resolvePath(run.folder ?? '.', folder) } : resolved;
}

function resolveField(fields: Fields, field: string, folder: string): Fields {
  const [outer = '', inner] = field.split('.');
  const value = fields[outer];
  if (value === undefined) return fields;
  if (inner !== undefined) return isRecord(value) ? { ...fields, [outer]: resolveField(value, inner, folder) } : fields;
  // `file_tools` and `lodash` are names; only `./tools.ts` is a path.
  if (outer === 'module') return isDotted(value) ? { ...fields, module: resolve(folder, value) } : fields;
  const resolved = Array.isArray(value) ? value.map((path) => resolvePath(path, folder)) : resolvePath(value, folder);
  return { ...fields, [outer]: resolved };
}

// What begins with a placeholder may turn out to be absolute, and is for whoever fills it in.
function resolvePath(path: unknown, folder: string): unknown {
  if (typeof path !== 'string' || path === '' || path.startsWith('{') || isAbsolute(path)) return path;
  return resolve(folder, path);
}

function isName(module: unknown): boolean {
  return typeof module === 'string' && !isDotted(module) && !isAbsolute(module);
}

function isDotted(path: unknown): path is string {
  return typeof path === 'string' && /^\.{1,2}([/\\]|$)/.test(path);
}
