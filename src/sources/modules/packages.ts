import { join, resolve } from 'node:path';
import type { OwnEntry } from '../../config/records.ts';
import { initTimeoutMs, type SourceRecord } from '../../config/records.ts';
import { either, flag, list, text } from '../../config/schema-node.ts';
import type { PackagesSourceConfig } from '../../config/types/sources.ts';
import { describe, readOptions } from '../../core/read-options.ts';
import type { Source } from '../../core/source.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { type InstalledPackage, installedPackages } from '../../system/modules/installed-packages.ts';
import { chooseExport, isToolLike, type ModuleExport } from '../../system/modules/module-exports.ts';
import { IMPORT_TIMEOUT_MS } from '../../system/modules/module-loader.ts';
import { isThere } from '../../system/placeholders.ts';
import { createModuleReading, type ModuleToRead } from './module-reading.ts';
import { type PackageEntry, packageEntries } from './package-entries.ts';

/** Which project's packages to look through. */
export interface PackagesOptions extends Pick<Source, 'name' | 'trust' | 'bundle' | 'kinds'> {
  /** The project's folder: its dependencies count, or all of node_modules where it has no package.json. */
  readonly folder: string;
  /** The packages that are meant; all if absent. */
  readonly only?: readonly string[];
  /** How long one module may take to be imported. */
  readonly importTimeoutMs?: number;
}

const KEYS = ['name', 'folder', 'only', 'trust', 'bundle', 'kinds', 'importTimeoutMs'] as const;

type PackagesEntry = OwnEntry<PackagesSourceConfig>;

/** Installed packages that bring tools: all, none, or these. Nobody has to write that they are looked through. */
export const packagesSource: SourceRecord<PackagesEntry> = {
  key: 'packages',
  description: 'Installed packages.',
  properties: {
    packages: either(
      'Installed packages with a "toolcrib" field: all, none, or these.',
      flag('All, or none.'),
      list(text('A package.'), 'These.'),
    ),
    initTimeoutMs,
  },
  bringsAnyKind: true,
  make(name, { packages: meant, initTimeoutMs: importTimeoutMs }, { folder }) {
    const only = meant === false ? [] : meant;
    return packages({
      name,
      folder,
      ...(only !== true && { only }),
      ...(importTimeoutMs !== undefined && { importTimeoutMs }),
    });
  },
  discover({ folder, written }) {
    const isSaid = Object.values(written).some((entry) => 'packages' in entry) || written.packages !== undefined;
    // Where nothing can be installed, nothing is looked for: not even the code that looks is loaded.
    const isProject = ['package.json', 'node_modules'].some((name) => isThere(join(folder, name)));
    return isSaid || !isProject ? undefined : { name: 'packages', entry: { packages: true } };
  },
};

/**
 * Tools and bundles that installed packages offer in their package.json:
 * `"toolcrib": { "tools": { "my_tool": "./dist/tools.js#myTool" }, "bundles": { ... } }`. A package without that field is
 * never imported. Each text is imported twice: tried in a worker, then here. Changes are seen on reload.
 */
export function packages(given: PackagesOptions): Source {
  const { importTimeoutMs = IMPORT_TIMEOUT_MS, ...options } = readOptions<PackagesOptions>(given, KEYS, 'packages()');
  const { folder: _folder, only, ...rest } = options;
  if (typeof options.folder !== 'string') {
    throw new ToolcribError('invalid_option', `packages() takes a folder, got ${describe(options.folder)}.`);
  }
  if (only !== undefined && !isNameList(only)) {
    throw new ToolcribError('invalid_option', `packages() takes names of packages as only, got ${describe(only)}.`);
  }
  const folder = resolve(options.folder);
  return {
    trust: true,
    isLocal: true,
    ...rest,
    startTimeoutMs: importTimeoutMs + 2000, // it says better itself what took so long
    async start(context) {
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

/** The installed packages that are meant; one that is not installed is reported. */
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

function isNameList(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

/** Reads what packages offer; a package.json that cannot be read leaves its package as it was. */
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
  if (!isToolLike(value))
    return { name, problem: `export "${name}": it is ${describe(value)}, not a tool or a bundle` };
  if ('name' in value && value.name !== entry.name) {
    warn(`${entry.place}: it is named ${describe(value.name)} and stays so; name both alike.`);
  }
  return chosen;
}
