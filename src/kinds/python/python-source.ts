import { hash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { canonicalJson } from '../../core/json.ts';
import type { KeptListPort } from '../../core/ports/store.ts';
import type { LiveSource, Source, SourceContext } from '../../core/source.ts';
import { messageOf, ToolcribError, whyUnreadable } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { keepKnown } from '../../specs/spec-list.ts';
import {
  createKeptList,
  createListing,
  createWarnOnce,
  type KeptList,
  type SpecListing,
  type WarnOnce,
} from '../../specs/spec-listing.ts';
import { oneAtATime } from '../../system/clock.ts';
import { createFolderWatch, scanAndListen } from '../../system/watch.ts';
import { lookAtPython, readPythonList, toPythonList, toPythonSpecs } from './look-at-python.ts';
import { areUnchanged, type PathStates, readStates, statesOf } from './python-descriptions.ts';
import type { FollowedPythonWorkers } from './python-workers.ts';

/** Options for a source of Python tools. */
export interface PythonOptions extends Pick<Source, 'name' | 'trust' | 'bundle' | 'kinds'> {
  /** A folder, searched recursively, or one file. */
  readonly path: string;
  /** The workers that run and describe the tools. */
  readonly workers: FollowedPythonWorkers;
  /** True if edits are watched; default true. */
  readonly watch?: boolean;
  /** Import timeout of one file; default 60 s. */
  readonly importTimeoutMs?: number | undefined;
  /** Cache of the list, so that an unchanged start need not run Python. */
  readonly kept?: KeptListPort;
}

/**
 * Tools of Python files: public functions, and classes with name, description, parameters_schema and execute; also the
 * `toolcrib.tools` entry points of installed distributions. Trusted by default, because it is code on this machine.
 */
export function python(options: PythonOptions): Source {
  const { path, workers, watch = true, importTimeoutMs = 60_000, kept, ...rest } = options;
  const settings = { name: rest.name, path: resolve(path), workers, watches: watch, importTimeoutMs, kept };
  return {
    trust: true,
    kinds: ['python'],
    startTimeoutMs: importTimeoutMs + 2000, // the source's own timeout has the better message
    ...rest,
    start: (context) => startPython(settings, context),
  };
}

interface Settings {
  readonly name: string;
  readonly path: string;
  readonly workers: FollowedPythonWorkers;
  readonly watches: boolean;
  readonly importTimeoutMs: number;
  readonly kept: KeptListPort | undefined;
}

async function startPython(settings: Settings, context: SourceContext): Promise<LiveSource> {
  const { name, path, workers, watches } = settings;
  const closing = new AbortController();
  const signal = AbortSignal.any([context.signal, closing.signal]);
  const listing = createListing();
  const told = createWarnOnce((trouble) => void (signal.aborted || context.warn(`${name}: ${trouble}`)));
  const kept = createKeptList(settings.kept, { clock: context.clock, warn: told.tell });
  const onChange = () => void update().catch(() => {}); // the status reports failures
  const watch = watches ? createFolderWatch({ onChange, warn: told.tell }) : undefined;
  const look = createLook({ settings, context: { ...context, signal }, listing, kept, told });
  const update = oneAtATime(async () => {
    if (signal.aborted) return;
    try {
      await look(await scanAndListen(path, watch, (onFolder) => scanPython(path, { onFolder })));
    } catch (cause) {
      if (signal.aborted) return;
      listing.fail(messageOf(cause));
      told.tell(messageOf(cause));
    }
  });

  const folder = path.endsWith('.py') ? dirname(path) : path;
  const stopListening = workers.onOutput(folder, (printed) => context.onOutput?.(name, printed));
  await update();
  const { specs, onChange: listen, status } = listing;
  return {
    specs,
    onChange: listen,
    status,
    refresh: update,
    output: () => workers.output(folder),
    async close() {
      stopListening();
      closing.abort();
      watch?.close();
      listing.close();
      await kept.written();
    },
  };
}

interface LookParts {
  readonly settings: Settings;
  readonly context: SourceContext;
  readonly listing: SpecListing;
  readonly kept: KeptList;
  readonly told: WarnOnce;
}

/** Shows the tools of the files; inspects them only if one has changed. */
function createLook({ settings, context, listing, kept, told }: LookParts): (files: PythonFiles) => Promise<void> {
  const { name, workers, importTimeoutMs: timeoutMs } = settings;
  const { clock, signal } = context;
  let list = readPythonList([], undefined);
  let states: PathStates | undefined;
  let specs: readonly ToolSpec[] = [];
  let ranBy: unknown;
  let isFirst = true;

  const show = (root: string, isDown: boolean): void => {
    const next = toPythonSpecs(list, { source: name, root });
    specs = keepKnown(specs, { entries: next.specs.map((spec) => ({ spec })), problems: [] });
    told.forget();
    for (const problem of next.problems) told.tell(problem);
    const [first] = next.problems;
    listing.show(specs, isDown ? { down: first } : { leftOut: first });
  };
  return async ({ root, files }) => {
    const paths = [workers.interpreter(), ...files.map(({ file }) => file)];
    if (isFirst) {
      isFirst = false;
      const stored = await kept.read();
      list = readPythonList(stored?.specs ?? [], stored?.about?.problems);
      states = readStates(stored?.about?.states);
      ranBy = stored?.about?.ranBy;
      if (states !== undefined) show(root, false);
    }
    const runsBy = hash('sha256', workers.settingsText()); // a hash, because the environment may hold secrets
    if (states !== undefined && ranBy === runsBy && (await areUnchanged(states, paths))) return;
    const before = await statesOf(paths);
    const wanted = [...files.map((file) => ({ ...file })), { entryPoints: true }];
    const findings = await lookAtPython({ workers, folder: root, wanted, timeoutMs, clock, signal });
    if (signal.aborted) return;
    ranBy = runsBy;
    list = toPythonList(list, wanted, findings.found);
    states = { ...(await statesOf(findings.paths)), ...before }; // states from before the read, so that an edit in between is not missed
    show(root, list.isUnread);
    const about = { states, ranBy: runsBy, problems: list.problems };
    kept.write(list.entries, { hash: hash('sha256', canonicalJson([list.entries, about])), about });
  };
}

/** A Python file, with its module name relative to the root. */
interface PythonFile {
  readonly file: string;
  readonly module: string;
}

/** The Python files below a folder. */
interface PythonFiles {
  /** The folder that modules are imported from. */
  readonly root: string;
  readonly files: readonly PythonFile[];
}

interface PythonScan {
  /** Called for every folder that may contain files, before it is read. */
  onFolder(folder: string): void;
}

/** Tests and files for other programs; importing some of them has side effects. */
const NOT_TOOLS = /^(?:test_.*|.*_test|conftest|setup|noxfile)\.py$/;
const NO_FOLDER = /^(?:\..*|__pycache__|node_modules|site-packages|tests?)$/;

/** The public files of a folder, recursively and sorted by name, or the single file `path`. */
async function scanPython(path: string, { onFolder }: PythonScan): Promise<PythonFiles> {
  const found = await stat(path).catch((cause) => {
    throw new ToolcribError('not_found', `${path} ${whyUnreadable(cause)}`, { cause });
  });
  if (found.isFile()) {
    const root = dirname(path);
    onFolder(root);
    if (!path.endsWith('.py'))
      throw new ToolcribError('invalid_option', `${path} is not a Python file; its name must end in .py`);
    return { root, files: [toFile(path, root)] };
  }
  const files: string[] = [];
  const seen = new Set<string>();
  const walk = async (folder: string): Promise<void> => {
    const real = await realpath(folder);
    if (seen.has(real)) return; // a cycle of links
    seen.add(real);
    onFolder(folder);
    const entries = await readdir(folder, { withFileTypes: true });
    if (entries.some(({ name }) => name === 'pyvenv.cfg')) return; // a virtual environment contains only installed packages
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const place = join(folder, entry.name);
      if (await isOf(entry, place, 'folder')) await walk(place);
      else if (isTools(entry.name, folder !== path) && (await isOf(entry, place, 'file'))) files.push(place);
    }
  };
  await walk(path);
  return { root: path, files: files.map((file) => toFile(file, path)) };
}

/** Names that start with "_" are private, except the `__init__.py` of a package. */
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
