import type { SourceList } from '../core/catalog.ts';
import type { Clock } from '../core/ports.ts';
import type { LiveSource, Source, SourceContext } from '../core/source.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { BundleList } from './found-bundles.ts';
import { type Claim, clashesAmong, type OnDuplicate, refuseClashing, requireDistinct } from './name-clashes.ts';
import {
  bundlesOf,
  createSlot,
  listsOf,
  problemsOf,
  reportOf,
  requireLive,
  type Slot,
  type SourceReport,
  useListing,
} from './source-slot.ts';

/** The started sources and the last list each of them gave. */
export interface LiveSources {
  /** In configuration order. */
  lists(): readonly SourceList[];
  /** What sources bring besides their homes, in the same order. */
  bundles(): readonly BundleList[];
  /** The first source, other than `besides`, that lists a tool of this name. */
  ownerOf(name: string, besides: Source): string | undefined;
  report(): readonly SourceReport[];
  /** The end of what the program of a source said; undefined where there is no such program. */
  output(source: string): string | undefined;
  /** What is said about sources and means none of their tools. */
  problems(): readonly string[];
  /** Starts those of `sources` that are not running yet; nobody sees them before `commit`, and `cancel` ends them again. */
  prepare(sources: readonly Source[], onDuplicate: OnDuplicate): Promise<PreparedSources>;
  /** Reads every source again, or only some; one that fails keeps its list. */
  refresh(isMeant?: (source: Source) => boolean): Promise<void>;
  close(): Promise<void>;
}

/** Sources that are started and not yet used. */
interface PreparedSources {
  readonly bundles: readonly BundleList[];
  /** Throws if they claim a name twice where that is an error. */
  requireDistinct(): void;
  /** Puts them in the place of the others, and closes those that are no longer wanted. */
  commit(): Promise<void>;
  cancel(): Promise<void>;
}

export interface LiveSourcesOptions {
  readonly sources: readonly Source[];
  readonly onDuplicate: OnDuplicate;
  readonly context: Omit<SourceContext, 'signal'>;
  readonly clock: Clock;
  /** Lets one entry of a source in, or throws. */
  admit(tool: unknown, source: Source): ToolSpec;
  onChange(): void;
}

const START_TIMEOUT_MS = 10_000;

/**
 * Starts all sources at once; one that is slow or fails costs only itself. Resolves when each has a list or has failed.
 * Rejects only for names that two of them claim, where that is an error.
 */
export async function startSources(options: LiveSourcesOptions): Promise<LiveSources> {
  const { clock, context } = options;
  const closing = new AbortController();
  let { onDuplicate } = options;
  let slots: readonly Slot[] = options.sources.map(createSlot);

  const read = (slot: Slot): void => {
    slot.isStale = false;
    slot.next = undefined;
    if (slot.live === undefined) return;
    try {
      const admitted = slot.live.specs().flatMap((tool) => admitOnce(tool, slot));
      const specs = slot.source.adjust?.(admitted) ?? admitted;
      const listing = { specs, bundles: [...(slot.live.bundles?.() ?? [])] };
      // At start, and before a changed configuration is taken, all lists are judged together.
      if (onDuplicate === 'skip' || !slot.isInUse) useListing(slot, listing);
      else slot.next = listing;
    } catch (cause) {
      slot.failure = `it could not be listed: ${messageOf(cause)}`;
    }
  };

  const ownerOf = (name: string, besides: Source): string | undefined =>
    slots.find((slot) => slot.source !== besides && slot.names.has(name))?.source.name;

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
    await new Promise<void>((settle) => {
      let isLate = false;
      const { startTimeoutMs = START_TIMEOUT_MS } = slot.source;
      const stopTimer = clock.setTimer(startTimeoutMs, () => {
        isLate = true;
        slot.failure = `it did not start within ${startTimeoutMs} ms`;
        settle();
      });
      starting
        .then(adopt)
        .catch((cause) => {
          slot.failure = `it could not be started: ${messageOf(cause)}`;
        })
        .finally(() => {
          stopTimer();
          if (isLate) options.onChange();
          else settle();
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

  const close = async (): Promise<void> => {
    closing.abort();
    await closeSlots(slots);
  };

  const use = (next: readonly Slot[]): void => {
    slots = next;
    for (const slot of next) slot.isInUse = true;
  };

  const fresh = (): readonly Slot[] => {
    for (const slot of slots) if (slot.isStale) read(slot);
    if (slots.some(({ next }) => next !== undefined)) judge();
    return slots;
  };

  // What was refused is judged again: the name that it claims may be free by now.
  const judge = (): void => {
    const claims = slots.map(({ source, specs, next }): Claim => ({ source: source.name, specs, next: next?.specs }));
    const refused = onDuplicate === 'skip' ? new Map<Claim, string>() : refuseClashing(claims);
    for (const [index, claim] of claims.entries()) {
      const clash = refused.get(claim);
      const slot = slots[index];
      if (slot?.next === undefined) continue;
      if (clash === undefined) useListing(slot, slot.next);
      else refuse(slot, clash);
    }
  };

  const refuse = (slot: Slot, clash: string): void => {
    const rest = slot.wasListed ? ' The list from before stays.' : '';
    slot.failure = `its new list is refused, since onDuplicate is error: ${clash}${rest}`;
    context.warn(`Source "${slot.source.name}": ${slot.failure}`);
  };

  const refresh = async (isMeant = (_source: Source) => true): Promise<void> => {
    const refreshOne = async (slot: Slot): Promise<void> => {
      try {
        await slot.live?.refresh?.();
        slot.isStale = true;
      } catch (cause) {
        slot.failure = `it could not be refreshed: ${messageOf(cause)}`;
      }
    };
    await Promise.all(slots.filter(({ source }) => isMeant(source)).map(refreshOne));
    fresh();
  };

  await Promise.all(slots.map(start));
  try {
    if (onDuplicate === 'error') requireDistinct(listsOf(slots));
  } catch (cause) {
    await close();
    throw cause;
  }
  use(slots);
  return {
    lists: () => listsOf(fresh()),
    bundles: () => bundlesOf(fresh()),
    ownerOf,
    report: () => fresh().map(reportOf),
    output: (name) => slots.find(({ source }) => source.name === name)?.live?.output?.(),
    problems: () => slots.flatMap(problemsOf),
    refresh,
    async prepare(sources, said) {
      const before = slots;
      const next = sources.map((source) => before.find((slot) => slot.source === source) ?? createSlot(source));
      const started = next.filter((slot) => !before.includes(slot));
      await Promise.all(started.map(start));
      // A tool may have moved out of a source that goes on running and was not read since.
      if (said === 'error' && clashesAmong(listsOf(next)).length > 0) await refresh();
      return {
        bundles: bundlesOf(next),
        requireDistinct() {
          if (said === 'error') requireDistinct(listsOf(next));
        },
        async commit() {
          onDuplicate = said;
          use(next);
          await closeSlots(before.filter((slot) => !next.includes(slot)));
        },
        cancel: () => closeSlots(started),
      };
    },
    close,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
