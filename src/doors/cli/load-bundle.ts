import { attempt, openPrivateCache, replaceFile } from './private-cache.ts';
import type { runCli } from './run-cli.ts';

// Asked for, not imported: an import looks at all that a module of Node exports, which loads a good part of Node.
const fs = process.getBuiltinModule('node:fs');
const { enableCompileCache, getCompileCacheDir } = process.getBuiltinModule('node:module');
const { crc32 } = process.getBuiltinModule('node:zlib');

/** A file for compiled code. Where it cannot be read or written, starting takes longer, and nothing else happens. */
export interface CodeCache {
  read(): Buffer | undefined;
  keep(compiled: Buffer): void;
}

const PREFIX = 'toolcrib-';
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;

/** The cache for one use of one version of the code; undefined where none is wanted or possible. */
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

/** Where Node keeps what it compiled itself, apart for each version and its flags. What users say about Node's cache holds for this one, too. */
function openFolder(): string | undefined {
  const isDisabled = process.env.NODE_DISABLE_COMPILE_CACHE !== undefined;
  if (!isDisabled && getCompileCacheDir() === undefined) {
    const folder = attempt(openPrivateCache); // the one that Node would take is in the folder for temporary files
    if (folder !== undefined) enableCompileCache(folder);
  }
  return getCompileCacheDir();
}

const SEAL_BYTES = 4;

// V8 believes what it is given: a block that never reached the disk would end the process, at every start.
function sealed(compiled: Buffer): Buffer {
  const seal = Buffer.alloc(SEAL_BYTES);
  seal.writeUInt32LE(crc32(compiled));
  return Buffer.concat([compiled, seal]);
}

function unsealed(bytes: Buffer): Buffer | undefined {
  const compiled = bytes.subarray(0, -SEAL_BYTES);
  return crc32(compiled) === bytes.readUInt32LE(compiled.length) ? compiled : undefined;
}

/** Earlier versions leave theirs behind. */
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

/** What the bundle exports. */
interface Bundle {
  readonly runCli: typeof runCli;
}

type Require = (name: string) => unknown;
/** What a CommonJS file is run as. */
type RunFile = (exports: object, require: Require, module: object, file: string, folder: string) => void;

/**
 * The code of the command line, which the built package has in one file, with what V8 compiled of it in an earlier run.
 * Node's own cache keeps what is compiled while a file is loaded; most functions are compiled when they are first called.
 */
export function loadBundle(version: string, args: readonly string[]): Bundle {
  const folder = import.meta.dirname;
  const file = join(folder, 'run-cli.cjs');
  const cache = openCodeCache(`${version}-${useOf(args)}`);
  const cachedData = cache?.read();
  const text = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'utf8')}\n})`;
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

// Each command calls functions of its own. A word that is no command fails, so that nothing is kept for it.
function useOf([word = '']: readonly string[]): string {
  return /^[a-z_]+$/.test(word) ? word : 'flags';
}

/** What Node has loaded by then in any case. */
const AT_HAND: readonly string[] = ['node:buffer', 'node:fs', 'node:module', 'node:path', 'node:url', 'node:util'];

/** Loads a module of Node when something of it is first used: every command imports more than it uses. */
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
