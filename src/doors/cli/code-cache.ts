import { attempt, openPrivateCache, replaceFile } from './private-cache.ts';

// Asked for, not imported: an import looks at all that a module of Node exports, which loads a good part of Node.
const fs = process.getBuiltinModule('node:fs');
const { enableCompileCache, getCompileCacheDir } = process.getBuiltinModule('node:module');
const { join } = process.getBuiltinModule('node:path');
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
