import { realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { isRecord } from '../../core/json.ts';
import { describe } from '../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { splitReference } from '../../system/modules/import-export.ts';
import { type InstalledPackage, readManifest } from '../../system/modules/installed-packages.ts';

/** One tool or bundle that a package offers under `"toolcrib"` in its package.json. */
export interface PackageEntry {
  /** The words to report it by: the package, what it is, and where. */
  readonly place: string;
  readonly package: string;
  /** The name it is offered under. */
  readonly name: string;
  readonly file: string;
  readonly exportName: string | undefined;
}

/** What a package offers, and what is wrong with the rest. Nothing is imported. */
export function packageEntries(found: InstalledPackage, warn: (message: string) => void): readonly PackageEntry[] {
  if (!found.manifest.includes('"toolcrib"')) return []; // reading hundreds of them as JSON would take its time
  const path = join(found.folder, 'package.json');
  const field = readManifest(path, found.manifest).toolcrib;
  if (field === undefined) return [];
  const about = `Package "${found.name}" (${path})`;
  if (!isRecord(field)) throw new ToolcribError('invalid_file', `${about}: "toolcrib" must be an object`);
  return (['tools', 'bundles'] as const).flatMap((kind) => {
    const map = field[kind] ?? {};
    if (!isRecord(map)) {
      warn(`${about}: "toolcrib.${kind}" must be an object of names, got ${describe(map)}.`);
      return [];
    }
    return Object.entries(map).flatMap(([name, target]) => {
      try {
        return [toEntry(found, `${kind}.${name}`, target)];
      } catch (cause) {
        warn(`${about}: "toolcrib.${kind}.${name}": ${messageOf(cause)}.`);
        return [];
      }
    });
  });
}

function toEntry(found: InstalledPackage, key: string, target: unknown): PackageEntry {
  if (typeof target !== 'string')
    throw new Error(`it must be a path such as "./tools.js#add", got ${describe(target)}`);
  const { specifier, name: exportName } = splitReference(target);
  const folder = realpathSync(found.folder); // linked packages live elsewhere, and Node goes by where they live
  const file = realpathSync(join(folder, specifier));
  const inner = relative(folder, file);
  if (inner.startsWith(`..${sep}`)) throw new Error(`${target} lies outside of the package`);
  const place = `Package "${found.name}", ${file}, "toolcrib.${key}"`;
  return { place, package: found.name, name: key.slice(key.indexOf('.') + 1), file, exportName };
}
