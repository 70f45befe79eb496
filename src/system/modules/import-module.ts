import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import nodeModule, { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isRecord } from '../../core/json.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { hideLogin } from '../../core/visible-text.ts';
import { findPackage, readManifest } from './installed-packages.ts';
import { chooseExport, listExports } from './module-exports.ts';

/** A module as a record of its exports. */
export type Namespace = Readonly<Record<string, unknown>>;

/**
 * The hash under which each file was first imported, by path. It is per process because it mirrors Node's module cache:
 * another crib must not mistake an old import for a new one.
 */
const FIRST_IMPORTED = new Map<string, string>();

/**
 * Imports a file by the hash of its text, so that a changed file is read again. The first import uses the plain URL, so
 * that modules that import each other share the same objects. The imports of a changed module are not read again.
 */
export async function importModule(file: string, hash: string): Promise<Namespace> {
  const path = await realpath(file);
  const url = pathToFileURL(path).href;
  const first = FIRST_IMPORTED.get(path) ?? hash;
  FIRST_IMPORTED.set(path, first);
  if (first === hash) return import(url);
  delete createRequire(url).cache[path]; // CommonJS is cached by path and would return the old text
  return import(`${url}?${hash}`);
}

/** The hash of a file's text, by which `importModule` distinguishes versions. */
export async function hashFile(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

/** Splits a reference to code at its last `#`. */
export function splitReference(reference: string): { readonly specifier: string; readonly name?: string } {
  const mark = reference.lastIndexOf('#');
  return mark < 1 ? { specifier: reference } : { specifier: reference.slice(0, mark), name: reference.slice(mark + 1) };
}

/**
 * Resolves a reference such as `./services/clock.ts`, `./tools.js#add` or `some-package#clock` in `folder`: the named
 * export, else the default one, else the only one. A changed file is read again.
 */
export async function importExport(reference: string, folder: string): Promise<unknown> {
  const { specifier, name } = splitReference(reference);
  const file = resolveModule(specifier, folder);
  const chosen = chooseExport(listExports(await importFile(file)), name);
  if ('value' in chosen) return chosen.value;
  throw new ToolcribError('missing_export', `${file}: ${chosen.problem}.`);
}

/** All exports of the module in a reference, by name. */
export async function importExports(reference: string, folder: string): Promise<Readonly<Record<string, unknown>>> {
  const { specifier } = splitReference(reference);
  const exports = listExports(await importFile(resolveModule(specifier, folder)));
  return Object.fromEntries(exports.map(({ name, value }) => [name, value]));
}

async function importFile(file: string): Promise<Namespace> {
  const hash = await hashFile(file).catch((cause) => {
    throw new ToolcribError('not_found', `${file} cannot be read: ${messageOf(cause)}.`, { cause });
  });
  try {
    return await importModule(file, hash);
  } catch (cause) {
    throw new ToolcribError('import_failed', `${file}: ${importFailure(cause, pathToFileURL(file).href)}.`, { cause });
  }
}

const NO_TYPES_IN_PACKAGES = 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING';

/** The reason why an import failed, with the line if known. `readText` helps to locate a syntax error. */
export function importFailure(cause: unknown, url: string, readText?: (path: string) => string): string {
  if (cause instanceof Error && 'code' in cause && cause.code === NO_TYPES_IN_PACKAGES) {
    return 'it is TypeScript under node_modules, where Node does not strip types; ship it as JavaScript';
  }
  const line = lineOf(cause, url, readText);
  return `it cannot be imported: ${messageOf(cause)}${line === undefined ? '' : ` (line ${line})`}`;
}

function lineOf(cause: unknown, url: string, readText?: (path: string) => string): number | undefined {
  if (!(cause instanceof Error)) return undefined;
  const path = fileURLToPath(url);
  const line = lineIn(cause.stack, [url, path]);
  if (line !== undefined || readText === undefined || !(cause instanceof SyntaxError)) return line;
  try {
    // Node does not report the place of a syntax error in JavaScript; the parser that strips types does.
    nodeModule.stripTypeScriptTypes(readText(path), { sourceUrl: path }); // not a named import, which would fail on an old Node before its version is checked
    return undefined;
  } catch (parsing) {
    return parsing instanceof Error ? lineIn(parsing.stack, [path]) : undefined;
  }
}

function lineIn(stack: string | undefined, places: readonly string[]): number | undefined {
  for (const text of (stack ?? '').split('\n')) {
    for (const place of places) {
      const start = text.indexOf(`${place}:`);
      const line = start < 0 ? Number.NaN : Number.parseInt(text.slice(start + place.length + 1), 10);
      if (line > 0) return line;
    }
  }
  return undefined;
}

/** The file that a path or package name resolves to in `folder`. Throws if there is none. */
export function resolveModule(specifier: string, folder: string): string {
  if (specifier.startsWith('file:')) return fileURLToPath(specifier);
  if (/^\.{1,2}(?:[/\\]|$)/.test(specifier) || isAbsolute(specifier)) return resolve(folder, specifier);
  const [, name, rest = ''] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier) ?? [];
  const found = name === undefined ? undefined : findPackage(name, folder);
  if (found === undefined) {
    throw new ToolcribError(
      'not_found',
      `"${hideLogin(specifier)}" is not an installed package; install it, or write a path that begins with "./".`,
    );
  }
  const { exports } = readManifest(join(found.folder, 'package.json'), found.manifest);
  // Node only resolves for require(); exports for import() must be looked up here.
  if (exports === undefined || exports === null) return createRequire(join(folder, 'package.json')).resolve(specifier);
  const target = targetOf(exports, `.${rest}`);
  if (target !== undefined) return join(found.folder, target);
  throw new ToolcribError('not_found', `The package "${name}" does not export "${specifier}" (${found.folder}).`);
}

const CONDITIONS = ['import', 'module-sync', 'node', 'default'];

function targetOf(exports: unknown, subpath: string): string | undefined {
  const isMap = isRecord(exports) && Object.keys(exports).some((key) => key.startsWith('.'));
  if (!isMap) return subpath === '.' ? chooseTarget(exports) : undefined;
  if (subpath in exports) return chooseTarget(exports[subpath]);
  for (const [pattern, target] of Object.entries(exports)) {
    const [start, end] = pattern.split('*');
    if (start === undefined || end === undefined || !subpath.startsWith(start) || !subpath.endsWith(end)) continue;
    return chooseTarget(target)?.replaceAll('*', subpath.slice(start.length, subpath.length - end.length));
  }
  return undefined;
}

function chooseTarget(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (Array.isArray(target)) return target.map(chooseTarget).find((choice) => choice !== undefined);
  if (!isRecord(target)) return undefined;
  const key = Object.keys(target).find((condition) => CONDITIONS.includes(condition));
  return key === undefined ? undefined : chooseTarget(target[key]);
}
