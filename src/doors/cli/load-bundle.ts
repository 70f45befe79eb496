import { attempt, openPrivateCache, replaceFile } from './private-cache.ts';
import type { runCli } from './run-cli.ts';

// Asked for, not imported: an import looks at all that a module of Node exports, which loads a good part of Node.
const fs = process.getBuiltinModule('node:fs');
const { enableCompileCache, getCompileCacheDir } = process.getBuiltinModule('node:module');
const { crc32 } = process.getBuiltinModule('node:zlib');

/** A cache file for compiled code. If it cannot be read or written, only the start takes longer. */
export interface CodeCache {
  read(): Buffer | undefined;
  keep(compiled: Buffer): void;
}

const PREFIX = 'toolcrib-';
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;

/** The cache for one command of one version of the code; undefined if caching is disabled or impossible. */
export function openCodeCache(key: string): CodeCache | undefined {
  const folder = openFolder();
  if (folder === undefined) return undefined;
  const file = join(folder, `${PREFIX}${key}.cache`);
  return {
    read: () => attempt(() => unsealed(fs.readFileSync(file))),
    keep(compiled) {
      attempt(() => replaceFile(file, sealed(compiled)));
      attempt(() => removeOld(folder));
    },
  };
}

/** Node's own compile cache folder, which is separate for each Node version and its flags. Settings of Node's cache also apply here. */
function openFolder(): string | undefined {
  const isDisabled = process.env.NODE_DISABLE_COMPILE_CACHE !== undefined;
  if (!isDisabled && getCompileCacheDir() === undefined) {
    const folder = attempt(openPrivateCache); // Node's default is in the folder for temporary files
    if (folder !== undefined) enableCompileCache(folder);
  }
  return getCompileCacheDir();
}

const SEAL_BYTES = 4;

// V8 does not validate cached code: a block that never reached the disk would crash the process at every start.
function sealed(compiled: Buffer): Buffer {
  const seal = Buffer.alloc(SEAL_BYTES);
  seal.writeUInt32LE(crc32(compiled));
  return Buffer.concat([compiled, seal]);
}

function unsealed(bytes: Buffer): Buffer | undefined {
  const compiled = bytes.subarray(0, -SEAL_BYTES);
  return crc32(compiled) === bytes.readUInt32LE(compiled.length) ? compiled : undefined;
}

/** Removes cache files of earlier versions. */
function removeOld(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    if (!name.startsWith(PREFIX)) continue;
    const file = join(folder, name);
    if (Date.now() - fs.statSync(file).mtimeMs > MAX_AGE_MS) fs.rmSync(file, { force: true });
  }
}

// Asked for, not imported: an import looks at all that a module of Node exports, which loads a good part of Node.
const { readFileSync } = process.getBuiltinModule('node:fs');
const { createRequire } = process.getBuiltinModule('node:module');
const { join } = process.getBuiltinModule('node:path');
const { constants, Script } = process.getBuiltinModule('node:vm');

/** The exports of the bundle. */
interface Bundle {
  readonly runCli: typeof runCli;
}

type Require = (name: string) => unknown;
/** The function that wraps a CommonJS file. */
type RunFile = (exports: object, require: Require, module: object, file: string, folder: string) => void;

/**
 * Loads the code of the command line, one file in the built package, with the code that V8 compiled in an earlier run.
 * Node's own cache holds only code compiled while a file is loaded; most functions are compiled at their first call.
 * The file is ASCII, which is read and kept with one byte a letter.
 */
export function loadBundle(version: string, args: readonly string[]): Bundle {
  const folder = import.meta.dirname;
  const file = join(folder, 'run-cli.cjs');
  const cache = openCodeCache(`${version}-${useOf(args)}`);
  const cachedData = cache?.read();
  const text = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`;
  const script = new Script(text, {
    filename: file,
    ...(cachedData !== undefined && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    process.once('exit', (code) => {
      if (code === 0) cache?.keep(script.createCachedData());
    });
  }
  const module = { exports: {} };
  const run = script.runInThisContext() as RunFile; // the text is a function
  run(module.exports, requireLate(createRequire(file)), module, file, folder);
  return module.exports as Bundle; // what its entry exports
}

// Each command calls different functions. An unknown command fails, so nothing is cached for it.
function useOf([word = '']: readonly string[]): string {
  return /^[a-z_]+$/.test(word) ? word : 'flags';
}

/** Modules that Node has already loaded. */
const AT_HAND: readonly string[] = ['node:buffer', 'node:fs', 'node:module', 'node:path', 'node:url', 'node:util'];

/** Loads modules of Node lazily: every command imports more than it uses. */
function requireLate(require: Require): Require {
  return (name) => {
    if (!name.startsWith('node:') || AT_HAND.includes(name)) return require(name);
    let loaded: object | undefined;
    const load = (): object => {
      loaded ??= require(name) as object; // what a module of Node exports is one
      return loaded;
    };
    return new Proxy({}, { get: (_, key) => Reflect.get(load(), key), ownKeys: () => Reflect.ownKeys(load()) });
  };
}
