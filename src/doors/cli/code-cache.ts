// Asked for, not imported: an import looks at all that a module of Node exports, which loads a good part of Node.
const fs = process.getBuiltinModule('node:fs');
const { enableCompileCache, getCompileCacheDir } = process.getBuiltinModule('node:module');
const { homedir } = process.getBuiltinModule('node:os');
const { isAbsolute, join } = process.getBuiltinModule('node:path');
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
      const draft = `${file}.${process.pid}`;
      attempt(() => {
        fs.writeFileSync(draft, sealed(compiled), { mode: 0o600 });
        fs.renameSync(draft, file); // whoever starts meanwhile finds all of it or nothing
      });
      attempt(() => fs.rmSync(draft, { force: true })); // left where the disk is full
      attempt(() => removeOld(folder));
    },
  };
}

/** Where Node keeps what it compiled itself, apart for each version and its flags. What users say about Node's cache holds for this one, too. */
function openFolder(): string | undefined {
  const isDisabled = process.env.NODE_DISABLE_COMPILE_CACHE !== undefined;
  if (!isDisabled && getCompileCacheDir() === undefined) {
    const folder = attempt(privateFolder);
    if (folder !== undefined) enableCompileCache(folder);
  }
  return getCompileCacheDir();
}

/** A folder that nobody else can write to: who writes there decides what is run. The one that Node would take is in the folder for temporary files. */
function privateFolder(): string | undefined {
  const base = [process.env.XDG_CACHE_HOME ?? '', join(homedir(), '.cache')].find((path) => isAbsolute(path));
  if (base === undefined) return undefined;
  const folder = join(base, 'toolcrib');
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.getuid === undefined) return folder; // Windows: a home belongs to its user
  const { uid, mode } = fs.statSync(folder);
  return uid === process.getuid() && (mode & 0o022) === 0 ? folder : undefined;
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

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined; // a home that cannot be written, a full disk, a process that was faster
  }
}
