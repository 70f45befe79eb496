import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { isRecord, type JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf } from '../../core/tool-error.ts';
import { type ToolSpec, toToolName } from '../../core/tool-spec.ts';
import { toToolSpec } from '../../define/define-tool.ts';
import { PythonFailure } from './python-worker.ts';
import type { PythonWorkers } from './python-workers.ts';

/** A thing to look at: a file with its name as a module, one function, or what is installed. */
export type Wanted = JsonObject;

/** What was found in one thing. */
export interface Found {
  /** Each with name, description, input, module, function. */
  readonly tools: readonly JsonObject[];
  readonly problems: readonly string[];
  /** False where it could not even be imported. */
  readonly isRead: boolean;
  /** The file that a module turned out to be. */
  readonly file?: string;
}

/** All that was found, in the order of what was wanted, and the files and folders that it depends on. */
export interface PythonFindings {
  readonly found: readonly Found[];
  readonly paths: readonly string[];
}

export interface LookOptions {
  readonly workers: PythonWorkers;
  readonly folder: string;
  readonly wanted: readonly Wanted[];
  /** How long one thing may take. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Looks at all of it. What ends Python or never ends when it is imported costs itself alone: the rest is looked at by another process. */
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
  return kind === 'cancelled' ? `importing it did not end within ${timeoutMs} ms` : `importing it failed: ${message}`;
}

/** Goes on after what was found; tells the paths that all of it depends on. */
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
  const { tools, problems, file, isUnreadable } = value as Readonly<Record<string, unknown>>; // of our own worker
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

/** What files offer, as it is kept. */
export interface PythonList {
  /** Tools as Python describes them, each with the file that it comes from. */
  readonly entries: readonly JsonObject[];
  readonly problems: readonly string[];
  /** True if no file could be read, so that what they offered before stays. */
  readonly isUnread: boolean;
}

/** A list that was kept. */
export function readPythonList(entries: readonly JsonObject[], problems: unknown): PythonList {
  const said = Array.isArray(problems) ? problems.filter((one) => typeof one === 'string') : [];
  return { entries, problems: said, isUnread: false };
}

/** What was found, as the next list. A file that cannot be imported any more keeps its tools: calling them says why. */
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
  /** Where modules are found from. */
  readonly root: string;
}

/** The specs of a list, and what is wrong with the rest. Of two tools of one name the first stays. */
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
        wrong.push(`"${spec.name}" is in ${nameOf(first.file)} already, so that of ${nameOf(entry.file)} is left out.`);
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
