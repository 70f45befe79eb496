import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { initTimeoutMs, type OwnEntry, paths, requireOne, type SourceRecord } from '../../config/records.ts';
import type { ModulesSourceConfig } from '../../config/types/sources.ts';
import { readOptions } from '../../core/read-options.ts';
import type { Source } from '../../core/source.ts';
import { ToolcribError, whyUnreadable } from '../../core/tool-error.ts';
import { IMPORT_TIMEOUT_MS } from '../../system/modules/module-loader.ts';
import { createFolderWatch, scanAndListen } from '../../system/watch.ts';
import type { ModuleToRead } from './module-reading.ts';

/** Options for `modules()`. */
export interface ModulesOptions extends Pick<Source, 'name' | 'trust' | 'bundle' | 'kinds'> {
  /** A folder, searched with the folders below it, or one file. */
  readonly path: string;
  /** Watch the files for edits; default true. */
  readonly watch?: boolean;
  /** Import timeout of one module. */
  readonly importTimeoutMs?: number | undefined;
}

const KEYS = ['name', 'path', 'trust', 'bundle', 'kinds', 'watch', 'importTimeoutMs'] as const;

type ModulesEntry = OwnEntry<ModulesSourceConfig>;

/** The configuration entry for folders of modules. The folder in TOOLCRIB_PLUGINS_DIR is discovered without an entry. */
export const modulesSource: SourceRecord<ModulesEntry> = {
  key: 'modules',
  description: 'Modules.',
  properties: { modules: paths('Modules that export tools or bundles; files or folders.'), initTimeoutMs },
  bringsAnyKind: true,
  make: (name, { modules: path, initTimeoutMs: importTimeoutMs }, { watch }) =>
    modules({ name, path: requireOne(path, name), watch, importTimeoutMs }),
  discover({ env, written }) {
    const path = env.TOOLCRIB_PLUGINS_DIR;
    return path && written.plugins === undefined ? { name: 'plugins', entry: { modules: path } } : undefined;
  },
};

/** Exports to call if they are functions. */
const FACTORIES = ['default', 'tools'];

/**
 * Creates the source of tools and bundles exported by modules: results of `defineTool` and `defineBundle`, lists of
 * them, plain objects with name, description, input and execute, and functions named `default` or `tools` that return
 * any of these. The code runs in this process, so it is trusted by default. Each version of a module is imported twice:
 * first in a worker as a probe, then here. A changed module is imported again; the modules that it imports are not.
 */
export function modules(given: ModulesOptions): Source {
  const options = readOptions<ModulesOptions>(given, KEYS, 'modules()');
  const { importTimeoutMs = IMPORT_TIMEOUT_MS, watch = true, path: named, ...rest } = options;
  const path = resolve(named);
  return {
    trust: true,
    isLocal: true,
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
      const onChange = () => void reading.readAll().catch(() => {}); // reported by the status
      const watching = watch ? createFolderWatch({ onChange, warn }) : undefined;
      signal.addEventListener('abort', () => watching?.close());
      const find = async () => {
        const files = await scanAndListen(path, watching, (onFolder) => scanModules(path, { onFolder, warn }));
        return files.map(toModule);
      };
      const reading = createModuleReading({ source: rest.name, importTimeoutMs, clock, signal, warn, find });
      return { ...(await reading.start()), close: async () => closing.abort() };
    },
  };
}

function toModule(file: string): ModuleToRead {
  return { file, label: file, factories: FACTORIES, parts: [{ place: file, choose: (exports) => exports }] };
}

interface ScanOptions {
  /** Called for every folder in which modules may appear, before it is read. */
  onFolder(folder: string): void;
  /** Called for everything that is left out. */
  warn(message: string): void;
}

const MODULE = /\.(?:js|mjs|cjs|ts|mts)$/;
const NO_MODULE = /\.d\.m?ts$|\.test\.[^.]+$/;

/** Finds the modules in a folder and its subfolders, or the single file at `path`, sorted by name. Throws if `path` does not exist. */
async function scanModules(path: string, { onFolder, warn }: ScanOptions): Promise<readonly string[]> {
  if ((await stat(path).catch(describeMissing(path))).isFile()) {
    onFolder(dirname(path));
    if (MODULE.test(path)) return [path];
    throw new ToolcribError(
      'invalid_option',
      `${path} is not a module: its name must end in .js, .mjs, .cjs, .ts or .mts`,
    );
  }
  const files: string[] = [];
  const seen = new Set<string>();

  const isNew = async (found: string): Promise<boolean> => {
    const real = await realpath(found);
    if (seen.has(real)) return false; // a link to a file or folder found before, possibly a cycle
    seen.add(real);
    return true;
  };
  const walk = async (folder: string): Promise<void> => {
    if (!(await isNew(folder))) return;
    onFolder(folder);
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.filter(isOfInterest).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const found = join(folder, entry.name);
      try {
        const kind = entry.isSymbolicLink() ? await stat(found) : entry;
        if (kind.isDirectory()) await walk(found);
        else if (kind.isFile() && isModule(found) && (await isNew(found))) files.push(found);
      } catch (cause) {
        warn(`${found} is left out: it ${whyUnreadable(cause)}.`);
      }
    }
  };
  await walk(path);
  return files;
}

function isOfInterest({ name }: Dirent): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

function isModule(path: string): boolean {
  return MODULE.test(path) && !NO_MODULE.test(basename(path));
}

function describeMissing(path: string): (cause: unknown) => never {
  return (cause) => {
    throw new ToolcribError('not_found', `${path} ${whyUnreadable(cause)}`, { cause });
  };
}
