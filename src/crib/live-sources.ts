import type { Bundle } from '../core/bundle.ts';
import type { SourceList } from '../core/catalog.ts';
import type { Clock } from '../core/ports.ts';
import type { LiveSource, Source, SourceContext, SourceStatus } from '../core/source.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { BundleList } from './found-bundles.ts';

/** How a source is doing. */
export interface SourceReport extends SourceStatus {
  readonly name: string;
  readonly toolCount: number;
}

/** The started sources and the last list each of them gave. */
export interface LiveSources {
  /** In configuration order. */
  lists(): readonly SourceList[];
  /** What sources bring besides their homes, in the same order. */
  bundles(): readonly BundleList[];
  /** The first source, other than `besides`, that lists a tool of this name. */
  ownerOf(name: string, besides: Source): string | undefined;
  report(): readonly SourceReport[];
  /** Starts those of `sources` that are not running yet; nobody sees them before `commit`, and `cancel` ends them again. */
  prepare(sources: readonly Source[]): Promise<PreparedSources>;
  /** Reads every source again; one that fails keeps its list. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** Sources that are started and not yet used. */
interface PreparedSources {
  readonly bundles: readonly BundleList[];
  /** Puts them in the place of the others, and closes those that are no longer wanted. */
  commit(): Promise<void>;
  cancel(): Promise<void>;
}

export interface LiveSourcesOptions {
  readonly sources: readonly Source[];
  readonly context: Omit<SourceContext, 'signal'>;
  readonly clock: Clock;
  /** Lets one entry of a source in, or throws. */
  admit(tool: unknown, source: Source): ToolSpec;
  onChange(): void;
}

interface Slot {
  readonly source: Source;
  live: LiveSource | undefined;
  specs: readonly ToolSpec[];
  bundles: readonly Bundle[];
  names: ReadonlySet<string>;
  /** What each entry of the list was let in as, so that an entry is judged once. */
  readonly known: WeakMap<object, readonly ToolSpec[]>;
  isStale: boolean;
  failure: string | undefined;
}

const START_TIMEOUT_MS = 10_000;

/** Starts all sources at once; one that is slow or fails costs only itself. Resolves when each has a list or has failed. */
export async function startSources(options: LiveSourcesOptions): Promise<LiveSources> {
  const { clock, context } = options;
  const closing = new AbortController();
  let slots: readonly Slot[] = options.sources.map(createSlot);

  const read = (slot: Slot): void => {
    slot.isStale = false;
    if (slot.live === undefined) return;
    try {
      const admitted = slot.live.specs().flatMap((tool) => admitOnce(tool, slot));
      slot.specs = slot.source.adjust?.(admitted) ?? admitted;
      slot.bundles = [...(slot.live.bundles?.() ?? [])];
      slot.names = new Set(slot.specs.map((spec) => spec.name));
      slot.failure = undefined;
    } catch (cause) {
      slot.failure = `it could not be listed: ${messageOf(cause)}`;
    }
  };

  const admitOnce = (tool: ToolSpec, slot: Slot): readonly ToolSpec[] => {
    const known = isObject(tool) ? slot.known.get(tool) : undefined;
    if (known !== undefined) return known;
    const admitted = admitOrWarn(tool, slot);
    if (isObject(tool)) slot.known.set(tool, admitted);
    return admitted;
  };

  const admitOrWarn = (tool: ToolSpec, slot: Slot): readonly ToolSpec[] => {
    try {
      return [options.admit(tool, slot.source)];
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      context.warn(`${slot.source.name}: ${cause.message}`);
      return [];
    }
  };

  const start = async (slot: Slot): Promise<void> => {
    const starting = (async () => slot.source.start({ ...context, signal: closing.signal }))(); // a throw is a rejection, too
    const adopt = (live: LiveSource) => {
      requireLive(live);
      if (closing.signal.aborted) return closeSlots([{ ...slot, live }]);
      slot.live = live;
      read(slot);
      live.onChange(() => {
        slot.isStale = true;
        options.onChange();
      });
    };
    await new Promise<void>((resolve) => {
      let isLate = false;
      const stopTimer = clock.setTimer(START_TIMEOUT_MS, () => {
        isLate = true;
        slot.failure = `it did not start within ${START_TIMEOUT_MS} ms`;
        resolve();
      });
      starting
        .then(adopt)
        .catch((cause) => {
          slot.failure = `it could not be started: ${messageOf(cause)}`;
        })
        .finally(() => {
          stopTimer();
          if (isLate) options.onChange();
          else resolve();
        });
    });
  };

  const closeSlots = async (ending: readonly Slot[]): Promise<void> => {
    const closed = await Promise.allSettled(ending.map(async (slot) => slot.live?.close()));
    for (const [index, result] of closed.entries()) {
      if (result.status === 'rejected')
        context.warn(`Closing ${ending[index]?.source.name} failed: ${messageOf(result.reason)}`);
    }
  };

  const fresh = (): readonly Slot[] => {
    for (const slot of slots) if (slot.isStale) read(slot);
    return slots;
  };

  await Promise.all(slots.map(start));
  return {
    lists: () => fresh().map(({ source, specs }) => ({ source: source.name, specs })),
    bundles: () => bundlesOf(fresh()),
    ownerOf: (name, besides) => slots.find((slot) => slot.source !== besides && slot.names.has(name))?.source.name,
    report: () =>
      slots.map(({ source, live, specs, failure }) => ({
        name: source.name,
        toolCount: specs.length,
        ...(failure === undefined
          ? statusOf(live)
          : { state: live === undefined ? ('failed' as const) : ('down' as const), reason: failure }),
      })),
    async refresh() {
      await Promise.all(
        slots.map(async (slot) => {
          try {
            await slot.live?.refresh?.();
            read(slot);
          } catch (cause) {
            slot.failure = `it could not be refreshed: ${messageOf(cause)}`;
          }
        }),
      );
    },
    async prepare(sources) {
      const before = slots;
      const next = sources.map((source) => before.find((slot) => slot.source === source) ?? createSlot(source));
      const started = next.filter((slot) => !before.includes(slot));
      await Promise.all(started.map(start));
      return {
        bundles: bundlesOf(next),
        async commit() {
          slots = next;
          await closeSlots(before.filter((slot) => !next.includes(slot)));
        },
        cancel: () => closeSlots(started),
      };
    },
    async close() {
      closing.abort();
      await closeSlots(slots);
    },
  };
}

function bundlesOf(slots: readonly Slot[]): readonly BundleList[] {
  return slots.map(({ source, bundles }) => ({ source: source.name, bundles }));
}

function createSlot(source: Source): Slot {
  return {
    source,
    live: undefined,
    specs: [],
    bundles: [],
    names: new Set(),
    known: new WeakMap(),
    isStale: false,
    failure: undefined,
  };
}

function requireLive(live: LiveSource): void {
  const missing = (['specs', 'onChange', 'status', 'close'] as const).find(
    (name) => typeof live?.[name] !== 'function',
  );
  if (missing !== undefined) throw new ToolcribError('not_a_source', `what it started has no ${missing}()`);
}

function statusOf(live: LiveSource | undefined): SourceStatus {
  try {
    return live?.status() ?? { state: 'failed' };
  } catch (cause) {
    return { state: 'down', reason: `it cannot say how it is: ${messageOf(cause)}` };
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
