import { realpathSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { initTimeoutMs, type OwnEntry, type SourceRecord } from '../../config/records.ts';
import { either, flag, list, text } from '../../config/schema-node.ts';
import type { PackagesSourceConfig } from '../../config/types/sources.ts';
import { isRecord } from '../../core/json.ts';
import { describe } from '../../core/read-options.ts';
import type { Source } from '../../core/source.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { splitReference } from '../../system/modules/import-module.ts';
import { type InstalledPackage, installedPackages, readManifest } from '../../system/modules/installed-packages.ts';
import { chooseExport, isToolLike, type ModuleExport } from '../../system/modules/module-exports.ts';
import { IMPORT_TIMEOUT_MS } from '../../system/modules/module-loader.ts';
import { whyNotTool } from '../../system/modules/tool-class.ts';
import { isThere } from '../../system/placeholders.ts';
import type { ModuleToRead } from './module-reading.ts';

/** Options for `packages()`. */
export interface PackagesOptions extends Pick<Source, 'name' | 'trust' | 'bundle' | 'kinds'> {
  /** The project's folder. Its dependencies are searched, or all of node_modules if it has no package.json. */
  readonly folder: string;
  /** Only these packages; all if absent. */
  readonly only?: readonly string[] | undefined;
  /** Import timeout of one module. */
  readonly importTimeoutMs?: number | undefined;
}

type PackagesEntry = OwnEntry<PackagesSourceConfig>;

/** The configuration entry for installed packages that bring tools. They are discovered without an entry. */
export const packagesSource: SourceRecord<PackagesEntry> = {
  key: 'packages',
  description: 'Installed packages.',
  properties: {
    packages: either(
      'Installed packages with a "toolcrib" field: true for all, false for none, or a list of names.',
      flag('All packages, or none.'),
      list(text('A package name.'), 'Only these packages.'),
    ),
    initTimeoutMs,
  },
  bringsAnyKind: true,
  make(name, { packages: meant, initTimeoutMs: importTimeoutMs }, { folder }) {
    const only = meant === false ? [] : meant;
    return packages({ name, folder, only: only === true ? undefined : only, importTimeoutMs });
  },
  discover({ folder, written }) {
    const isSaid = Object.values(written).some((entry) => 'packages' in entry) || written.packages !== undefined;
    // A folder without package.json and node_modules has no packages, so the code that searches is not even loaded.
    const isProject = ['package.json', 'node_modules'].some((name) => isThere(join(folder, name)));
    return isSaid || !isProject ? undefined : { name: 'packages', entry: { packages: true } };
  },
};

/**
 * Creates the source of tools and bundles that installed packages declare in their package.json:
 * `"toolcrib": { "tools": { "my_tool": "./dist/tools.js#myTool" }, "bundles": { ... } }`. A package without that field is
 * never imported. Each version is imported twice: first in a worker as a probe, then here. Changes are seen on reload.
 */
export function packages(options: PackagesOptions): Source {
  const { importTimeoutMs = IMPORT_TIMEOUT_MS, folder: given, only, ...rest } = options;
  const folder = resolve(given);
  return {
    trust: true,
    isLocal: true,
    isBeside: true,
    ...rest,
    startTimeoutMs: importTimeoutMs + 2000, // later than its own timeout, which gives a better reason
    async start(context) {
      const { createModuleReading } = await import('./module-reading.ts');
      const { clock } = context;
      const closing = new AbortController();
      const signal = AbortSignal.any([context.signal, closing.signal]);
      const warn = (message: string): void => {
        if (!signal.aborted) context.warn(`${rest.name}: ${message}`);
      };
      const entriesOf = createEntryReader(warn);
      const find = async () => toModules(meantPackages(folder, only, warn).flatMap(entriesOf), warn);
      const reading = createModuleReading({ source: rest.name, importTimeoutMs, clock, signal, warn, find });
      return { ...(await reading.start()), close: async () => closing.abort() };
    },
  };
}

/** The selected packages; warns about those that are not installed. */
function meantPackages(
  folder: string,
  only: readonly string[] | undefined,
  warn: (message: string) => void,
): readonly InstalledPackage[] {
  const installed = only?.length === 0 ? [] : installedPackages(folder);
  if (only === undefined) return installed;
  for (const name of only)
    if (!installed.some((found) => found.name === name)) warn(`The package "${name}" is not installed in ${folder}.`);
  return installed.filter(({ name }) => only.includes(name));
}

/** Reads the entries of packages. If a package.json becomes unreadable, the package keeps its entries. */
function createEntryReader(warn: (message: string) => void): (found: InstalledPackage) => readonly PackageEntry[] {
  const last = new Map<string, readonly PackageEntry[]>();
  return (found) => {
    try {
      const entries = packageEntries(found, warn);
      if (entries.length > 0) last.set(found.folder, entries);
      else last.delete(found.folder);
      return entries;
    } catch (cause) {
      const entries = last.get(found.folder) ?? [];
      warn(`${messageOf(cause)}${entries.length > 0 ? '; its old entries are kept' : ''}.`);
      return entries;
    }
  };
}

function toModules(entries: readonly PackageEntry[], warn: (message: string) => void): readonly ModuleToRead[] {
  return [...Map.groupBy(entries, ({ file }) => file)].map(([file, parts]) => ({
    file,
    label: `Package "${parts[0]?.package}", ${file},`,
    factories: [...new Set(parts.map(({ exportName }) => exportName ?? 'default'))],
    parts: parts.map((entry) => ({ place: entry.place, choose: (exports) => [chooseEntry(exports, entry, warn)] })),
  }));
}

function chooseEntry(
  exports: readonly ModuleExport[],
  entry: PackageEntry,
  warn: (message: string) => void,
): ModuleExport {
  const chosen = chooseExport(exports, entry.exportName);
  if ('problem' in chosen) return chosen;
  const { name, value } = chosen;
  if (Array.isArray(value) && value.some(isToolLike)) return chosen;
  if (!isToolLike(value)) return { name, problem: `export "${name}": ${whyNotTool(value)}` };
  if (!('name' in value)) return { name: entry.name, value }; // tools of the AI SDK have no name of their own
  try {
    if (value.name !== entry.name)
      warn(`${entry.place}: the tool's own name ${describe(value.name)} is used; use the same name in package.json.`);
  } catch {
    // A getter that throws is reported where the tool is read.
  }
  return chosen;
}

/** One tool or bundle that a package declares under `"toolcrib"` in its package.json. */
interface PackageEntry {
  /** The label used in messages: package, file and key. */
  readonly place: string;
  readonly package: string;
  /** The name in package.json. */
  readonly name: string;
  readonly file: string;
  readonly exportName: string | undefined;
}

/** Reads the entries of a package and warns about bad ones. Imports nothing. */
function packageEntries(found: InstalledPackage, warn: (message: string) => void): readonly PackageEntry[] {
  if (!found.manifest.includes('"toolcrib"')) return []; // cheap check: parsing hundreds of manifests would be slow
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
  const folder = realpathSync(found.folder); // linked packages live elsewhere, and Node resolves from their real path
  const file = realpathSync(join(folder, specifier));
  const inner = relative(folder, file);
  if (inner.startsWith(`..${sep}`)) throw new Error(`${target} is outside the package`);
  const place = `Package "${found.name}", ${file}, "toolcrib.${key}"`;
  return { place, package: found.name, name: key.slice(key.indexOf('.') + 1), file, exportName };
}
