import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { messageOf } from '../../core/tool-error.ts';
import { RUN, type Run, type ToolSpec } from '../../core/tool-spec.ts';
import { systemClock } from '../../system/clock.ts';
import { resolveModule } from '../../system/modules/import-module.ts';
import { chooseExport } from '../../system/modules/module-exports.ts';
import { createModuleLoader, IMPORT_TIMEOUT_MS } from '../../system/modules/module-loader.ts';
import { isClass } from '../../system/modules/tool-class.ts';

/** An exported function, or the reason it is not available. */
type FoundFunction = { readonly work: Work } | { readonly problem: string };
type Work = (input: unknown, call: unknown) => unknown;

/** Functions of modules that specs name. */
export interface ExportedFunctions {
  /** Imports the function of a run lazily; a changed file is imported again. */
  find(run: Run): Promise<FoundFunction>;
  close(): void;
}

/** The last result, with the state of its file at that time. */
interface Known {
  readonly file: string;
  readonly state: string;
  readonly found: FoundFunction;
}

/** Modules are first imported in a worker, as those of a source are: one that exits fails only its call. */
export function createExportedFunctions(): ExportedFunctions {
  const closing = new AbortController();
  const { signal } = closing;
  const loader = createModuleLoader({ timeoutMs: IMPORT_TIMEOUT_MS, clock: systemClock, signal, keepsClasses: true });
  const known = new WeakMap<Run, Known>();

  const read = async (run: Run): Promise<Known> => {
    const { module, folder = '.', export: name } = run as NamedRun; // checked when the spec was loaded
    const file = resolveModule(module, folder);
    const state = stateOf(file);
    const { good, failure } = await loader.load(file, []);
    // Callers expect the current version, so a file that no longer loads is an error, even if an older version did.
    if (good === undefined || failure !== undefined) return { file, state, found: problemOf(file, failure) };
    const chosen = chooseExport(good.exports, name);
    const work = 'value' in chosen ? toWork(chosen.value) : undefined;
    if (work !== undefined) return { file, state, found: { work } };
    const what = 'problem' in chosen ? chosen.problem : `its export "${chosen.name}" is ${whatElse(chosen.value)}`;
    return { file, state, found: problemOf(file, what) };
  };

  return {
    async find(run) {
      const last = known.get(run);
      if (last !== undefined && last.state !== '' && stateOf(last.file) === last.state) return last.found;
      try {
        const next = await read(run);
        if ('work' in next.found) known.set(run, next);
        return next.found;
      } catch (cause) {
        return { problem: messageOf(cause) };
      }
    },
    close: () => closing.abort(),
  };
}

/** A run that names a module. */
export interface NamedRun extends Run {
  readonly module: string;
  readonly export?: string;
  readonly folder?: string;
}

/** Callers must not see where the file is, so the message has its name only. */
function problemOf(file: string, what = 'it cannot be read'): FoundFunction {
  return { problem: `${basename(file)}: ${what.replaceAll(`${dirname(file)}/`, '')}` };
}

/** The callable of an export: a function, a defined tool, or an instance with a method. */
function toWork(value: unknown): Work | undefined {
  if (isClass(value)) return undefined;
  if (typeof value === 'function') return value as Work; // it receives the arguments and the call
  if (typeof value !== 'object' || value === null) return undefined;
  if (RUN in value) return asWork((value as ToolSpec)[RUN].run, value); // checked by `in`
  return asWork(Reflect.get(value, 'execute'), value) ?? asWork(Reflect.get(value, 'run'), value);
}

function whatElse(value: unknown): string {
  return isClass(value) ? 'a class; export an instance' : 'not a function';
}

function asWork(run: unknown, owner: object): Work | undefined {
  return typeof run === 'function' ? run.bind(owner) : undefined;
}

function stateOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? '' : `${stats.mtimeNs}:${stats.size}`;
}
