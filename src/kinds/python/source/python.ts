import { hash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { canonicalJson } from '../../../core/json.ts';
import type { KeptListPort } from '../../../core/ports/store.ts';
import type { LiveSource, Source, SourceContext } from '../../../core/source.ts';
import { messageOf } from '../../../core/tool-error.ts';
import type { ToolSpec } from '../../../core/tool-spec.ts';
import { createKeptList, type KeptList } from '../../../specs/kept-list.ts';
import { keepKnown } from '../../../specs/spec-list.ts';
import { createListing, type SpecListing } from '../../../specs/spec-listing.ts';
import { createWarnOnce, type WarnOnce } from '../../../specs/warn-once.ts';
import { oneAtATime } from '../../../system/one-at-a-time.ts';
import { createFolderWatch, scanAndListen } from '../../../system/watch.ts';
import type { PythonWorkers } from '../python-workers.ts';
import { lookAtPython } from './look-at-python.ts';
import { areUnchanged, type PathStates, readStates, statesOf } from './path-states.ts';
import { type PythonFiles, scanPython } from './python-files.ts';
import { readPythonList, toPythonList, toPythonSpecs } from './python-tools.ts';

/** Where to look for Python that is tools. */
export interface PythonOptions extends Pick<Source, 'name' | 'trust' | 'bundle' | 'kinds'> {
  /** A folder, searched with the folders below it, or one file. */
  readonly path: string;
  /** What runs and describes it. */
  readonly workers: PythonWorkers;
  /** Whether edits are noticed as they happen; true if absent. */
  readonly watch?: boolean;
  /** How long one file may take to be imported; default 10 s. */
  readonly importTimeoutMs?: number | undefined;
  /** Where the list is kept, so that a start at which nothing has changed starts no Python. */
  readonly kept?: KeptListPort;
}

/**
 * Tools of Python files: public functions, and classes with name, description, parameters_schema and execute; besides
 * them what installed distributions offer as `toolcrib.tools`. Trusted unless told otherwise: it is code of this machine.
 */
export function python(options: PythonOptions): Source {
  const { path, workers, watch = true, importTimeoutMs = 10_000, kept, ...rest } = options;
  const settings = { name: rest.name, path: resolve(path), workers, watches: watch, importTimeoutMs, kept };
  return {
    trust: true,
    kinds: ['python'],
    startTimeoutMs: importTimeoutMs + 2000, // it says better itself what took so long
    ...rest,
    start: (context) => startPython(settings, context),
  };
}

interface Settings {
  readonly name: string;
  readonly path: string;
  readonly workers: PythonWorkers;
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
  const onChange = () => void update().catch(() => {}); // the status tells
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

  await update();
  const { specs, onChange: listen, status } = listing;
  return {
    specs,
    onChange: listen,
    status,
    refresh: update,
    output: () => workers.output(path.endsWith('.py') ? dirname(path) : path),
    async close() {
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

/** Shows what the files offer; looks at them only if one has changed since. */
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
    const runsBy = hash('sha256', workers.settingsText()); // a hash, since the environment is nobody's business
    if (states !== undefined && ranBy === runsBy && (await areUnchanged(states, paths))) return;
    const before = await statesOf(paths);
    const wanted = [...files.map((file) => ({ ...file })), { entryPoints: true }];
    const findings = await lookAtPython({ workers, folder: root, wanted, timeoutMs, clock, signal });
    if (signal.aborted) return;
    ranBy = runsBy;
    list = toPythonList(list, wanted, findings.found);
    states = { ...(await statesOf(findings.paths)), ...before }; // of before they were read, lest an edit meanwhile be missed
    show(root, list.isPartial);
    const about = { states, ranBy: runsBy, problems: list.problems };
    kept.write(list.entries, { hash: hash('sha256', canonicalJson([list.entries, about])), about });
  };
}
