import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { isRecord, type JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf } from '../../core/tool-error.ts';
import { type ToolSpec, toToolName } from '../../core/tool-spec.ts';
import { toToolSpec } from '../../define/define-tool.ts';
import { PythonFailure } from './python-worker.ts';
import type { PythonWorkers } from './python-workers.ts';

/** An item to inspect: a file with its module name, one function, or the installed distributions. */
export type Wanted = JsonObject;

/** The result for one item. */
export interface Found {
  /** Each with name, description, input, module and function. */
  readonly tools: readonly JsonObject[];
  readonly problems: readonly string[];
  /** False if the module could not be imported. */
  readonly isRead: boolean;
  /** The file of the module. */
  readonly file?: string;
}

/** All results, in the order of the request, with the files and folders that they depend on. */
export interface PythonFindings {
  readonly found: readonly Found[];
  readonly paths: readonly string[];
}

export interface LookOptions {
  readonly workers: PythonWorkers;
  readonly folder: string;
  readonly wanted: readonly Wanted[];
  /** Timeout for each item. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Inspects all items. An item whose import crashes Python or never ends fails alone; a new process continues with the rest. */
export async function lookAtPython(options: LookOptions): Promise<PythonFindings> {
  const { wanted, signal } = options;
  const found: Found[] = [];
  for (;;) {
    const before = found.length;
    try {
      const paths = await lookOn(options, found);
      return { found, paths };
    } catch (cause) {
      if (!(cause instanceof PythonFailure) || cause.kind === 'unreachable' || signal.aborted) throw cause;
      if (found.length === wanted.length) throw cause;
      found.push({ tools: [], problems: [reasonOf(cause, options)], isRead: false });
      if (found.length === before) throw cause;
    }
  }
}

function reasonOf({ kind, message }: PythonFailure, { timeoutMs }: LookOptions): string {
  return kind === 'cancelled' ? `its import did not finish within ${timeoutMs} ms` : `its import failed: ${message}`;
}

/** Continues after the items already found; resolves with the paths that all of them depend on. */
async function lookOn(options: LookOptions, found: Found[]): Promise<readonly string[]> {
  const { workers, folder, wanted, timeoutMs, clock, signal } = options;
  let callOff = () => {};
  let stopTimer = () => {};
  const wait = (): void => {
    stopTimer();
    stopTimer = clock.setTimer(timeoutMs, () => callOff());
  };
  const onClose = () => callOff();
  signal.addEventListener('abort', onClose);
  try {
    const answer = await workers.look({
      folder,
      find: wanted.slice(found.length),
      onYield(value) {
        found.push(toFound(value));
        wait();
      },
      onAbort(listener) {
        callOff = listener;
        wait();
        return stopTimer;
      },
    });
    if (answer.kind === 'fail') throw new PythonFailure('lost', answer.message);
    return isRecord(answer.value) ? [...texts(answer.value.files), ...texts(answer.value.folders)] : [];
  } finally {
    stopTimer();
    signal.removeEventListener('abort', onClose);
  }
}

function toFound(value: unknown): Found {
  const { tools, problems, file, isUnreadable } = value as Readonly<Record<string, unknown>>; // from our own worker
  return {
    tools: Array.isArray(tools) ? tools.filter(isRecord).map((tool) => tool as JsonObject) : [], // parsed from JSON
    problems: texts(problems),
    isRead: isUnreadable !== true,
    ...(typeof file === 'string' && { file }),
  };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** The tools of files, as they are stored. */
export interface PythonList {
  /** Tools as Python describes them, each with its file. */
  readonly entries: readonly JsonObject[];
  readonly problems: readonly string[];
  /** True if no file could be imported, so that the previous tools stay. */
  readonly isUnread: boolean;
}

/** Reads a stored list. */
export function readPythonList(entries: readonly JsonObject[], problems: unknown): PythonList {
  const said = Array.isArray(problems) ? problems.filter((one) => typeof one === 'string') : [];
  return { entries, problems: said, isUnread: false };
}

/** Builds the next list. A file that can no longer be imported keeps its tools; calls to them report the reason. */
export function toPythonList(before: PythonList, wanted: readonly Wanted[], found: readonly Found[]): PythonList {
  const entries = found.flatMap(({ tools, isRead }, index) => {
    const place = placeOf(wanted[index]);
    if (!isRead) return before.entries.filter((entry) => entry.file === place);
    return tools.map((tool) => ({ ...tool, file: place }));
  });
  const problems = found.flatMap((one, index) =>
    one.problems.map((problem) => `${placeOf(wanted[index])}: ${problem}.`),
  );
  const ofFiles = found.filter((_, index) => placeOf(wanted[index]) !== INSTALLED);
  return { entries, problems, isUnread: isUnread(ofFiles.length > 0 ? ofFiles : found) };
}

function isUnread(found: readonly Found[]): boolean {
  return found.length > 0 && found.every(({ isRead }) => !isRead);
}

const INSTALLED = 'installed distributions';

function placeOf(wanted: Wanted | undefined): string {
  return typeof wanted?.file === 'string' ? wanted.file : INSTALLED;
}

interface Surroundings {
  readonly source: string;
  /** The folder that modules are imported from. */
  readonly root: string;
}

/** Converts a list to specs and collects problems. Of two tools with the same name, the first one stays. */
export function toPythonSpecs(
  { entries, problems }: PythonList,
  surroundings: Surroundings,
): { readonly specs: readonly ToolSpec[]; readonly problems: readonly string[] } {
  const byName = new Map<string, { readonly spec: ToolSpec; readonly file: unknown }>();
  const wrong: string[] = [];
  for (const entry of entries) {
    try {
      const spec = toSpec(entry, surroundings);
      const first = byName.get(spec.name);
      if (first === undefined) byName.set(spec.name, { spec, file: entry.file });
      else
        wrong.push(
          `"${spec.name}" in ${nameOf(entry.file)} is left out, because ${nameOf(first.file)} has a tool of that name.`,
        );
    } catch (cause) {
      wrong.push(`${String(entry.file)}: ${messageOf(cause)}`);
    }
  }
  return { specs: Array.from(byName.values(), ({ spec }) => spec), problems: [...problems, ...wrong] };
}

function nameOf(file: unknown): string {
  return basename(String(file));
}

function toSpec(entry: JsonObject, { source, root }: Surroundings): ToolSpec {
  const { file: _file, name, module, function: work, ...described } = entry;
  const tool = {
    ...described,
    name: typeof name === 'string' ? toToolName(name, (text) => hash('sha256', text)) : name,
    run: { kind: 'python', module, function: work, folder: root },
  };
  return toToolSpec(tool, source);
}
