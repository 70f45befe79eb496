import type { LiveSource, SourceContext, SourceStatus } from '../../core/source.ts';
import { messageOf } from '../../core/tool-error.ts';
import { createListeners } from '../../system/listeners.ts';
import type { ModuleExport } from '../../system/modules/module-exports.ts';
import { createModuleLoader } from '../../system/modules/module-loader.ts';
import { createFoundModules } from './found-modules.ts';

/** A module to read. */
export interface ModuleToRead {
  readonly file: string;
  /** The words to report it by. */
  readonly label: string;
  /** The exports that are called if they are functions. */
  readonly factories: readonly string[];
  readonly parts: readonly ModulePart[];
}

/** What is wanted of a module. */
interface ModulePart {
  /** The words to report it by; no two parts have the same. */
  readonly place: string;
  choose(exports: readonly ModuleExport[]): readonly ModuleExport[];
}

export interface ModuleReadingOptions extends Omit<SourceContext, 'services'> {
  readonly source: string;
  readonly importTimeoutMs: number;
  /** What there is to read, in order. Where it throws, everything stays as it was. */
  find(): Promise<readonly ModuleToRead[]>;
}

/** Reads modules for a source until its signal aborts. */
export interface ModuleReading {
  /** Looks again; each module that changed is told as soon as it has been read, so that one that hangs delays none. */
  readAll(): Promise<void>;
  /** Waits for the first look, though not for modules that are slow: they come as a change. */
  start(): Promise<Omit<LiveSource, 'close'>>;
}

const PATIENCE_MS = 5_000;

/** Brings what is found, what is imported and what is listed together. */
export function createModuleReading(options: ModuleReadingOptions): ModuleReading {
  const { source, clock, signal, warn, importTimeoutMs } = options;
  const loader = createModuleLoader({ timeoutMs: importTimeoutMs, clock, signal });
  const found = createFoundModules(source, warn);
  const listeners = createListeners();
  const failures = createFailures(warn);
  let status: SourceStatus = { state: 'ready' };
  let looking: Promise<unknown> = Promise.resolve();

  const announce = (): void => {
    if (!signal.aborted) listeners.tell();
  };
  const load = async ({ file, label, factories, parts }: ModuleToRead): Promise<void> => {
    const { good, failure } = await loader.load(file, factories);
    const fate = good === undefined ? 'is left out' : 'keeps its old tools';
    failures.note(file, failure === undefined ? undefined : `${label} ${fate}: ${failure}.`);
    if (good === undefined) return;
    const isNews = parts.map(({ place, choose }) => found.put(place, choose(good.exports)));
    if (isNews.includes(true)) announce();
  };
  const look = async (): Promise<readonly ModuleToRead[]> => {
    try {
      const modules = await options.find();
      status = { state: 'ready' };
      const files = new Set(modules.map(({ file }) => file));
      for (const keep of [loader.keep, failures.keep]) keep(files);
      if (found.keep(modules.flatMap(({ parts }) => parts.map(({ place }) => place)))) announce();
      return modules;
    } catch (cause) {
      status = { state: found.specs().length === 0 ? 'failed' : 'down', reason: messageOf(cause) };
      throw cause;
    }
  };
  const readAll = async (): Promise<void> => {
    const next = looking.then(look);
    looking = next.catch(() => {}); // whoever looked has been told
    await Promise.all((await next).map(load));
  };

  return {
    readAll,
    async start() {
      await new Promise<void>((proceed) => {
        const stopTimer = clock.setTimer(PATIENCE_MS, proceed);
        readAll()
          .catch(() => {}) // the status tells
          .finally(stopTimer)
          .finally(proceed);
      });
      return {
        specs: found.specs,
        bundles: found.bundles,
        status: () => (status.state === 'ready' ? failures.status(found.specs().length) : status),
        refresh: readAll,
        onChange: listeners.add,
      };
    },
  };
}

/** Remembers which modules cannot be imported. That is a warning, as long as there are tools of others. */
function createFailures(warn: (message: string) => void) {
  const failures = new Map<string, string>();
  return {
    /** Without a `trouble`, the module could be imported. */
    note(file: string, trouble: string | undefined): void {
      failures.delete(file);
      if (trouble === undefined) return;
      failures.set(file, trouble);
      warn(trouble);
    },
    keep(files: ReadonlySet<string>): void {
      for (const file of failures.keys()) if (!files.has(file)) failures.delete(file);
    },
    status(toolCount: number): SourceStatus {
      const [first, ...others] = failures.values();
      if (first === undefined) return { state: 'ready' };
      const reason = others.length === 0 ? first : `${first} And ${others.length} more.`;
      return { state: toolCount > 0 ? 'ready' : 'failed', reason };
    },
  };
}
