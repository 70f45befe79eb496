import type { LiveSource, SourceContext, SourceStatus } from '../../core/source.ts';
import { messageOf } from '../../core/tool-error.ts';
import { createListeners } from '../../system/listeners.ts';
import type { ModuleExport } from '../../system/modules/module-exports.ts';
import { createModuleLoader } from '../../system/modules/module-loader.ts';
import { createFoundModules } from './found-modules.ts';

/** A module to read. */
export interface ModuleToRead {
  readonly file: string;
  /** The label used in messages. */
  readonly label: string;
  /** Exports to call if they are functions. */
  readonly factories: readonly string[];
  readonly parts: readonly ModulePart[];
}

/** A part of a module's exports. */
interface ModulePart {
  /** The label used in messages; unique. */
  readonly place: string;
  choose(exports: readonly ModuleExport[]): readonly ModuleExport[];
}

export interface ModuleReadingOptions extends Omit<SourceContext, 'services'> {
  readonly source: string;
  readonly importTimeoutMs: number;
  /** Lists the modules to read, in order. If it throws, everything stays as it was. */
  find(): Promise<readonly ModuleToRead[]>;
}

/** Reads modules for a source until its signal aborts. */
export interface ModuleReading {
  /** Scans again. Each changed module is announced as soon as it is read, so a module that hangs does not delay the others. */
  readAll(): Promise<void>;
  /** Waits for the first scan, but not for slow modules: those arrive as a change, and until then the source is `starting`. */
  start(): Promise<Omit<LiveSource, 'close'>>;
}

const PATIENCE_MS = 5_000;

/** Connects scanning, importing and listing. */
export function createModuleReading(options: ModuleReadingOptions): ModuleReading {
  const { source, clock, signal, warn, importTimeoutMs } = options;
  const loader = createModuleLoader({ timeoutMs: importTimeoutMs, clock, signal });
  const found = createFoundModules(source, warn);
  const listeners = createListeners();
  const failures = createFailures(warn);
  let status: SourceStatus = { state: 'ready' };
  let looking: Promise<unknown> = Promise.resolve();
  const firstLook = createFirstLook(clock);

  const announce = (): void => {
    if (!signal.aborted) listeners.tell();
  };
  const load = async ({ file, label, factories, parts }: ModuleToRead): Promise<void> => {
    const { good, failure } = await firstLook.include(label, loader.load(file, factories));
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
    looking = next.catch(() => {}); // the caller of readAll gets the error
    await Promise.all((await next).map(load));
  };

  return {
    readAll,
    async start() {
      const listed = readAll().catch(() => {}); // the status tells
      await firstLook.waitFor(listed);
      const own = () => (status.state === 'ready' ? failures.status(found.specs().length) : status);
      return {
        specs: found.specs,
        bundles: found.bundles,
        listed,
        status: () => firstLook.status() ?? own(),
        refresh: readAll,
        onChange: listeners.add,
      };
    },
  };
}

/** Tells which modules the first look has not read yet. */
function createFirstLook(clock: SourceContext['clock']) {
  const unread = new Set<string>();
  let isOver = false;
  return {
    async include<Loaded>(label: string, loading: Promise<Loaded>): Promise<Loaded> {
      unread.add(label);
      return await loading.finally(() => unread.delete(label));
    },
    /** Resolves when the look is over, or has taken long enough. */
    waitFor(look: Promise<void>): Promise<void> {
      return new Promise((proceed) => {
        const stopTimer = clock.setTimer(PATIENCE_MS, proceed);
        look.finally(() => {
          isOver = true;
          stopTimer();
          proceed();
        });
      });
    },
    /** Undefined once it is over. */
    status(): SourceStatus | undefined {
      if (isOver) return undefined;
      const [first, ...others] = unread;
      if (first === undefined) return { state: 'starting' };
      const are = others.length === 0 ? 'is' : `and ${others.length} more are`;
      return { state: 'starting', reason: `${first} ${are} still being imported.` };
    },
  };
}

/** Records which modules cannot be imported. This is only a warning while other modules bring tools. */
function createFailures(warn: (message: string) => void) {
  const failures = new Map<string, string>();
  return {
    /** Without `trouble`, the import succeeded. */
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
