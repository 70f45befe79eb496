import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';

/** A Python file, and the name under which it is imported from the root. */
interface PythonFile {
  readonly file: string;
  readonly module: string;
}

/** The Python files below a folder. */
export interface PythonFiles {
  /** Where modules are found from. */
  readonly root: string;
  readonly files: readonly PythonFile[];
}

export interface PythonScan {
  /** Hears of every folder in which files may appear, before it is read. */
  onFolder(folder: string): void;
}

/** Tests, and what is there for other programs; importing some of it does things. */
const NOT_TOOLS = /^(?:test_.*|.*_test|conftest|setup|noxfile)\.py$/;
const NO_FOLDER = /^(?:\..*|__pycache__|node_modules|site-packages|tests?)$/;

/** The public files of a folder and those below it, in the order of their names, or the one file that `path` is. */
export async function scanPython(path: string, { onFolder }: PythonScan): Promise<PythonFiles> {
  const found = await stat(path).catch((cause) => {
    throw new ToolcribError('not_found', `there is nothing to read at ${path}: ${messageOf(cause)}`, { cause });
  });
  if (found.isFile()) {
    const root = dirname(path);
    onFolder(root);
    if (!path.endsWith('.py')) throw new ToolcribError('invalid_option', `${path} is no Python file; it ends in .py`);
    return { root, files: [toFile(path, root)] };
  }
  const files: string[] = [];
  const seen = new Set<string>();
  const walk = async (folder: string): Promise<void> => {
    const real = await realpath(folder);
    if (seen.has(real)) return; // a link into a circle
    seen.add(real);
    onFolder(folder);
    const entries = await readdir(folder, { withFileTypes: true });
    if (entries.some(({ name }) => name === 'pyvenv.cfg')) return; // a virtual environment holds nobody's own tools
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const place = join(folder, entry.name);
      if (await isOf(entry, place, 'folder')) await walk(place);
      else if (isTools(entry.name, folder !== path) && (await isOf(entry, place, 'file'))) files.push(place);
    }
  };
  await walk(path);
  return { root: path, files: files.map((file) => toFile(file, path)) };
}

/** What begins with "_" is private; the face of a package is not. */
function isTools(name: string, isBelow: boolean): boolean {
  if (name === '__init__.py') return isBelow;
  return name.endsWith('.py') && !name.startsWith('_') && !name.startsWith('.') && !NOT_TOOLS.test(name);
}

async function isOf(entry: Dirent, place: string, kind: 'file' | 'folder'): Promise<boolean> {
  if (kind === 'folder' && NO_FOLDER.test(entry.name)) return false;
  const known = entry.isSymbolicLink() ? await stat(place).catch(() => undefined) : entry;
  return (kind === 'folder' ? known?.isDirectory() : known?.isFile()) ?? false;
}

function toFile(file: string, root: string): PythonFile {
  const module = relative(root, file)
    .replace(/\.py$/, '')
    .replace(new RegExp(`\\${sep}__init__$`), '')
    .replaceAll(sep, '.');
  return { file, module };
}
