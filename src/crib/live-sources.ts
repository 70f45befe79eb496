import type { SourceList } from '../core/catalog.ts';
import type { Clock } from '../core/ports.ts';
import type { Source, SourceContext } from '../core/source.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { BundleList } from './found-bundles.ts';
import { clashesAmong, judgeLists, type OnDuplicate, requireDistinct } from './name-clashes.ts';
import { createListingReader } from './read-listing.ts';
import { closeRunners, type Runner, startRunner, statusOf } from './source-runner.ts';
import {
  bundlesOf,
  createSlot,
  isOutdated,
  listsOf,
  ownStatus,
  problemsOf,
  reportOf,
  runnersOf,
  type Slot,
  type SourceReport,
  useListing,
} from './source-slot.ts';
import { createSuccessorRetries, type StartSource, slotAfter, succeed } from './source-succession.ts';

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
  /** True while a source learns its first list. */
  isStarting(): boolean;
  /** Resolves when everything that was started has a list or could not get one. */
  listed(): Promise<void>;
  /** True once that is so. */
  isListed(): boolean;
  /**
   * Starts those of `sources` that are not running yet, and waits for none; they are not used before `commit`, and
   * `cancel` ends them again. What runs of an older entry goes on until the edited one has a list.
   */
  prepare(sources: readonly Source[], onDuplicate: OnDuplicate): PreparedSources;
  /** Reads every source again, or only some; one that fails keeps its list. */
  refresh(isMeant?: (source: Source) => boolean): Promise<void>;
  close(): Promise<void>;
}

/** Sources that are being started and not yet used. */
export interface PreparedSources {
  /** Resolves when those that were started have a list or could not get one. */
  listed(): Promise<void>;
  /** What they bring so far. */
  bundles(): readonly BundleList[];
  /** Rejects if they claim a name twice where that is an error. */
  requireDistinct(): Promise<void>;
  /** Puts their settings into force, and closes what is no longer wanted. */
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

/**
 * Starts all sources at once; one that is slow or fails costs only itself. Resolves when each has a list or has failed.
 * Rejects only for names that two of them claim, where that is an error.
 */
export async function startSources(options: LiveSourcesOptions): Promise<LiveSources> {
  const { clock, context } = options;
  const closing = new AbortController();
  let { onDuplicate } = options;
  let slots: readonly Slot[] = [];
  let preparing = 0;
  const readListing = createListingReader({ admit: options.admit, warn: context.warn });
  const retries = createSuccessorRetries({
    isWanted: (runner) => slots.some(({ successor }) => successor === runner),
    onRetried: () => advance(),
  });

  const read = (slot: Slot): void => {
    slot.readAt = { runner: slot.runner, version: slot.runner.version };
    slot.next = undefined;
    try {
      const listing = readListing(slot);
      if (listing === undefined) return;
      // At start, and before a changed configuration is taken, all lists are judged together.
      if (onDuplicate === 'skip' || !slot.isInUse) useListing(slot, listing);
      else slot.next = listing;
    } catch (cause) {
      slot.failure = `it could not be listed: ${messageOf(cause)}`;
    }
  };

  const ownerOf = (name: string, besides: Source): string | undefined =>
    slots.find((slot) => slot.source !== besides && slot.names.has(name))?.source.name;

  const start: StartSource = (source, role) =>
    startRunner(source, {
      context: { ...context, signal: closing.signal, ...(role === 'successor' && { isSuccessor: true }) },
      clock,
      onChange(runner) {
        if (slots.some(({ successor }) => successor === runner)) advance();
        else options.onChange();
      },
      onListed(runner) {
        advance();
        retries.begin(runner);
      },
    });

  /** Lets successors that have a list answer from now on; not while an edit decides which are still wanted. */
  const advance = (): void => {
    if (preparing > 0) return;
    const ended = slots.flatMap((slot) => succeed(slot) ?? []);
    if (ended.length === 0) return;
    for (const { runner } of slots) runner.live?.takeOver?.();
    options.onChange();
    void closeRunners(ended, context.warn);
  };

  const close = async (): Promise<void> => {
    closing.abort();
    retries.close();
    await closeRunners(runnersOf(slots), context.warn);
  };

  const use = (next: readonly Slot[]): void => {
    slots = next;
    for (const slot of next) {
      if (!slot.isInUse) slot.source.onUse?.();
      slot.isInUse = true;
    }
  };

  const readAll = (among: readonly Slot[]): readonly Slot[] => {
    for (const slot of among) if (isOutdated(slot)) read(slot);
    return among;
  };

  const fresh = (): readonly Slot[] => {
    readAll(slots);
    judgeLists(slots, { onDuplicate, warn: context.warn });
    return slots;
  };

  const refresh = async (isMeant = (_source: Source) => true): Promise<void> => {
    const refreshOne = async (slot: Slot): Promise<void> => {
      try {
        await slot.runner.live?.refresh?.();
        slot.runner.version++;
      } catch (cause) {
        slot.failure = `it could not be refreshed: ${messageOf(cause)}`;
      }
    };
    const meant = slots.filter(({ source }) => isMeant(source));
    const retried = meant.map(({ successor }) => successor?.retry().catch(() => {})); // its status says why
    await Promise.all([...meant.map(refreshOne), ...retried]);
    advance();
    fresh();
  };

  const prepare: LiveSources['prepare'] = (sources, said) => {
    const before = slots;
    const named = (name: string) => before.find(({ source }) => source.name === name);
    const next = sources.map(
      (source) => before.find((slot) => slot.source === source) ?? slotAfter(source, named(source.name), start),
    );
    const running = runnersOf(before);
    const begun = runnersOf(next).filter((runner) => !running.includes(runner));
    preparing++;
    /** Those that have a list by now go straight into their place. */
    const settle = (): readonly Slot[] => {
      for (const slot of next) if (!slot.isInUse) succeed(slot);
      return readAll(next);
    };
    const end = async (unwanted: readonly Runner[]): Promise<void> => {
      preparing--;
      advance();
      await closeRunners(unwanted, context.warn);
    };
    return {
      listed: async () => void (await Promise.all(begun.map(({ listed }) => listed))),
      bundles: () => bundlesOf(settle()),
      async requireDistinct() {
        if (said !== 'error') return;
        // A tool may have moved out of a source that goes on running and was not read since.
        if (clashesAmong(listsOf(settle())).length > 0) await refresh();
        requireDistinct(listsOf(settle()));
      },
      async commit() {
        if (closing.signal.aborted) return end(begun);
        settle();
        onDuplicate = said;
        use(next);
        for (const { runner } of next) runner.live?.takeOver?.();
        for (const { successor } of next) if (successor !== undefined) retries.begin(successor);
        const kept = runnersOf(next);
        await end([...running, ...begun].filter((runner) => !kept.includes(runner)));
      },
      cancel: () => end(begun),
    };
  };

  slots = options.sources.map((source) => createSlot(source, start(source, 'own')));
  await Promise.all(slots.map(({ runner }) => runner.started));
  readAll(slots);
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
    isStarting: () => slots.some((slot) => ownStatus(slot).state === 'starting'),
    isListed: () => runnersOf(slots).every((runner) => statusOf(runner).state !== 'starting'),
    listed: async () => void (await Promise.all(runnersOf(slots).map((runner) => runner.listed))),
    output: (name) => slots.find(({ source }) => source.name === name)?.runner.live?.output?.(),
    problems: () => slots.flatMap(problemsOf),
    refresh,
    prepare,
    close,
  };
}
