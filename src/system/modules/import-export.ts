import { pathToFileURL } from 'node:url';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { importFailure } from './import-failure.ts';
import { hashFile, importModule, type Namespace } from './import-module.ts';
import { chooseExport, listExports } from './module-exports.ts';
import { resolveModule } from './resolve-module.ts';

/** A reference to code, taken apart at its last `#`. */
export function splitReference(reference: string): { readonly specifier: string; readonly name?: string } {
  const mark = reference.lastIndexOf('#');
  return mark < 1 ? { specifier: reference } : { specifier: reference.slice(0, mark), name: reference.slice(mark + 1) };
}

/**
 * What a reference such as `./services/clock.ts`, `./tools.js#add` or `some-package#clock` means in `folder`: the export
 * it names, else the default one, else the only one. A file that changed since is read anew.
 */
export async function importExport(reference: string, folder: string): Promise<unknown> {
  const { specifier, name } = splitReference(reference);
  const file = resolveModule(specifier, folder);
  const chosen = chooseExport(listExports(await importFile(file)), name);
  if ('value' in chosen) return chosen.value;
  throw new ToolcribError('missing_export', `${file}: ${chosen.problem}.`);
}

/** Everything that the module of a reference exports, by name. */
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
