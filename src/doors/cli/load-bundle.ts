import { openCodeCache } from './code-cache.ts';
import type { runCli } from './run-cli.ts';

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
