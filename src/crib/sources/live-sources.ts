import type { SourceList } from '../../core/catalog.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { Source, SourceContext } from '../../core/source.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { BundleList } from '../catalog/bundle-registry.ts';
import { clashesAmong, judgeLists, type OnDuplicate, requireDistinct } from './name-clashes.ts';
import { closeRunners, type Runner, startRunner, statusOf } from './source-runner.ts';
import {
  bundlesOf,
  createSlot,
  isOutdated,
  listsOf,
  ownStatus,
  problemsOf,
  refreshSlot,
  reportOf,
  runnersOf,
  type Slot,
  type SourceReport,
  takeListing,
} from './source-slot.ts';
import {
  createListingReader,
  createSuccessorRetries,
  type StartSource,
  slotAfter,
  succeed,
} from './source-succession.ts';

/** Sources that are starting and not yet in use. */
export interface PreparedSources {
  /** Resolves when all started sources have a list, have failed to get one, or take too long. */
  listed(): Promise<void>;
  /** The bundles they have brought so far. */
  bundles(): readonly BundleList[];
  /** Rejects if a name is claimed twice and `onDuplicate` is `error`. */
  requireDistinct(): Promise<void>;
  /** Applies their settings, and closes connections that are no longer needed. */
  commit(): Promise<void>;
  cancel(): Promise<void>;
}

export interface LiveSourcesOptions {
  readonly sources: readonly Source[];
  readonly onDuplicate: OnDuplicate;
  readonly context: Omit<SourceContext, 'signal'>;
  readonly clock: Clock;
  /** Checks one entry of a source; throws if it is invalid. */
  admit(tool: ToolSpec, source: Source): ToolSpec;
  onChange(): void;
}

/**
 * Starts all sources concurrently; a slow or failing source does not affect the others. Resolves when each has a list or has failed.
 * Rejects only if two sources claim the same name and `onDuplicate` is `error`.
 */
export async function startSources(options: LiveSourcesOptions): Promise<LiveSources> {
  const sources = new LiveSources(options);
  await sources.start(options.sources);
  return sources;
}

/** The started sources and their last lists. */
export class LiveSources {
  readonly #options: LiveSourcesOptions;
  readonly #closing = new AbortController();
  readonly #readListing: ReturnType<typeof createListingReader>;
  readonly #retries: ReturnType<typeof createSuccessorRetries>;
  #onDuplicate: OnDuplicate;
  #slots: readonly Slot[] = [];
  /** Number of edits in progress; they decide which sources are still needed. */
  #preparing = 0;

  constructor(options: LiveSourcesOptions) {
    this.#options = options;
    this.#onDuplicate = options.onDuplicate;
    this.#readListing = createListingReader({ admit: options.admit, warn: options.context.warn });
    this.#retries = createSuccessorRetries({
      isWanted: (runner) => this.#slots.some(({ successor }) => successor === runner),
      onRetried: () => this.#advance(),
    });
  }

  async start(sources: readonly Source[]): Promise<void> {
    this.#slots = sources.map((source) => createSlot(source, this.#startRunner(source, 'own')));
    await Promise.all(this.#slots.map(({ runner }) => runner.started));
    this.#readAll(this.#slots);
    try {
      if (this.#onDuplicate === 'error') requireDistinct(listsOf(this.#slots));
    } catch (cause) {
      await this.close();
      throw cause;
    }
    this.#use(this.#slots);
  }

  /** In configuration order. */
  lists(): readonly SourceList[] {
    return listsOf(this.#fresh());
  }

  /** The bundles that sources bring besides their own, in configuration order. */
  bundles(): readonly BundleList[] {
    return bundlesOf(this.#fresh());
  }

  /** The first source other than `besides` that lists a tool of this name. */
  ownerOf(name: string, besides: Source): string | undefined {
    return this.#slots.find((slot) => slot.source !== besides && slot.names.has(name))?.source.name;
  }

  report(): readonly SourceReport[] {
    return this.#fresh().map(reportOf);
  }

  /** The last output of the program of a source; undefined if it has no program. */
  output(source: string): string | undefined {
    return this.#slots.find((slot) => slot.source.name === source)?.runner.live?.output?.();
  }

  /** Warnings about source settings that match no tool. */
  problems(): readonly string[] {
    return this.#slots.flatMap(problemsOf);
  }

  /** True while a source loads its first list. */
  isStarting(): boolean {
    return this.#slots.some((slot) => ownStatus(slot).state === 'starting');
  }

  /** Resolves when every started source has a list or has failed to get one. */
  async listed(): Promise<void> {
    await Promise.all(runnersOf(this.#slots).map((runner) => runner.listed));
  }

  /** Resolves when no program of a source is being installed. */
  async installed(): Promise<void> {
    await Promise.all(runnersOf(this.#slots).map((runner) => runner.live?.installed?.()));
  }

  /** True if every started source has a list or has failed to get one. */
  isListed(): boolean {
    return runnersOf(this.#slots).every((runner) => statusOf(runner).state !== 'starting');
  }

  /**
   * Starts those of `sources` that are not running yet, without waiting. They are used from `commit` on;
   * `cancel` closes them. The connection of an edited entry keeps running until the new one has a list.
   */
  prepare(sources: readonly Source[], onDuplicate: OnDuplicate): PreparedSources {
    const before = this.#slots;
    const named = (name: string) => before.find(({ source }) => source.name === name);
    const start: StartSource = (source, role) => this.#startRunner(source, role);
    const next = sources.map(
      (source) => before.find((slot) => slot.source === source) ?? slotAfter(source, named(source.name), start),
    );
    const running = runnersOf(before);
    const begun = runnersOf(next).filter((runner) => !running.includes(runner));
    this.#preparing++;
    /** Switches to the new connections that have a list. */
    const settle = (): readonly Slot[] => {
      for (const slot of next) if (!slot.isInUse) succeed(slot);
      return this.#readAll(next);
    };
    return {
      listed: async () => void (await Promise.all(begun.map(({ listedSoon }) => listedSoon))),
      bundles: () => bundlesOf(settle()),
      requireDistinct: async () => {
        if (onDuplicate !== 'error') return;
        // A tool may have left a running source that was not read since.
        if (clashesAmong(listsOf(settle())).length > 0) await this.refresh();
        requireDistinct(listsOf(settle()));
      },
      commit: async () => {
        if (this.#closing.signal.aborted) return this.#endPreparing(begun);
        settle();
        this.#onDuplicate = onDuplicate;
        this.#use(next);
        for (const { runner } of next) runner.live?.takeOver?.();
        for (const { successor } of next) if (successor !== undefined) this.#retries.begin(successor);
        const kept = runnersOf(next);
        await this.#endPreparing([...running, ...begun].filter((runner) => !kept.includes(runner)));
      },
      cancel: () => this.#endPreparing(begun),
    };
  }

  /** Reads all sources again, or some. A source that fails keeps its list. */
  async refresh(isMeant = (_source: Source) => true): Promise<void> {
    const meant = this.#slots.filter(({ source }) => isMeant(source));
    const retried = meant.map(({ successor }) => successor?.retry().catch(() => {})); // its status has the reason
    await Promise.all([...meant.map(refreshSlot), ...retried]);
    this.#advance();
    this.#fresh();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#retries.close();
    await closeRunners(runnersOf(this.#slots), this.#options.context.warn);
  }

  #startRunner(source: Source, role: Parameters<StartSource>[1]): Runner {
    const { context, clock, onChange } = this.#options;
    return startRunner(source, {
      context: { ...context, signal: this.#closing.signal, ...(role === 'successor' && { isSuccessor: true }) },
      clock,
      onChange: (runner) => (this.#slots.some((slot) => slot.successor === runner) ? this.#advance() : onChange()),
      onListed: (runner) => {
        this.#advance();
        this.#retries.begin(runner);
      },
    });
  }

  /** Switches to successors that have a list, unless an edit is in progress. */
  #advance(): void {
    if (this.#preparing > 0) return;
    const ended = this.#slots.flatMap((slot) => succeed(slot) ?? []);
    if (ended.length === 0) return;
    for (const { runner } of this.#slots) runner.live?.takeOver?.();
    this.#options.onChange();
    void closeRunners(ended, this.#options.context.warn);
  }

  async #endPreparing(unwanted: readonly Runner[]): Promise<void> {
    this.#preparing--;
    this.#advance();
    await closeRunners(unwanted, this.#options.context.warn);
  }

  #use(next: readonly Slot[]): void {
    this.#slots = next;
    for (const slot of next) {
      if (!slot.isInUse) slot.source.onUse?.();
      slot.isInUse = true;
    }
  }

  #fresh(): readonly Slot[] {
    this.#readAll(this.#slots);
    judgeLists(this.#slots, { onDuplicate: this.#onDuplicate, warn: this.#options.context.warn });
    return this.#slots;
  }

  #readAll(slots: readonly Slot[]): readonly Slot[] {
    for (const slot of slots) if (isOutdated(slot)) takeListing(slot, this.#readListing, this.#onDuplicate);
    return slots;
  }
}
