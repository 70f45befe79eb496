import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../../core/json.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { findPackage, readManifest } from './installed-packages.ts';

/** The file that a path or the name of an installed package means in `folder`. Throws where there is none. */
export function resolveModule(specifier: string, folder: string): string {
  if (specifier.startsWith('file:')) return fileURLToPath(specifier);
  if (/^\.{1,2}(?:[/\\]|$)/.test(specifier) || isAbsolute(specifier)) return resolve(folder, specifier);
  const [, name, rest = ''] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier) ?? [];
  const found = name === undefined ? undefined : findPackage(name, folder);
  if (found === undefined) {
    throw new ToolcribError(
      'not_found',
      `"${specifier}" is neither an installed package nor a path; a path begins with "./".`,
    );
  }
  const { exports } = readManifest(join(found.folder, 'package.json'), found.manifest);
  // Node resolves for require(); what a package offers to import() alone has to be looked up by hand.
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
