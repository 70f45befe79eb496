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

/** Sources that are being started and not yet used. */
export interface PreparedSources {
  /** Resolves when those that were started have a list or could not get one, or take too long to wait for. */
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
  const sources = new LiveSources(options);
  await sources.start(options.sources);
  return sources;
}

/** The started sources and the last list each of them gave. */
export class LiveSources {
  readonly #options: LiveSourcesOptions;
  readonly #closing = new AbortController();
  readonly #readListing: ReturnType<typeof createListingReader>;
  readonly #retries: ReturnType<typeof createSuccessorRetries>;
  #onDuplicate: OnDuplicate;
  #slots: readonly Slot[] = [];
  /** How many edits decide at this moment which sources are still wanted. */
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

  /** What sources bring besides their homes, in the same order. */
  bundles(): readonly BundleList[] {
    return bundlesOf(this.#fresh());
  }

  /** The first source, other than `besides`, that lists a tool of this name. */
  ownerOf(name: string, besides: Source): string | undefined {
    return this.#slots.find((slot) => slot.source !== besides && slot.names.has(name))?.source.name;
  }

  report(): readonly SourceReport[] {
    return this.#fresh().map(reportOf);
  }

  /** The end of what the program of a source said; undefined where there is no such program. */
  output(source: string): string | undefined {
    return this.#slots.find((slot) => slot.source.name === source)?.runner.live?.output?.();
  }

  /** What is said about sources and means none of their tools. */
  problems(): readonly string[] {
    return this.#slots.flatMap(problemsOf);
  }

  /** True while a source learns its first list. */
  isStarting(): boolean {
    return this.#slots.some((slot) => ownStatus(slot).state === 'starting');
  }

  /** Resolves when everything that was started has a list or could not get one. */
  async listed(): Promise<void> {
    await Promise.all(runnersOf(this.#slots).map((runner) => runner.listed));
  }

  /** Resolves when no program of a source is being installed any more. */
  async installed(): Promise<void> {
    await Promise.all(runnersOf(this.#slots).map((runner) => runner.live?.installed?.()));
  }

  /** True once everything has a list or could not get one. */
  isListed(): boolean {
    return runnersOf(this.#slots).every((runner) => statusOf(runner).state !== 'starting');
  }

  /**
   * Starts those of `sources` that are not running yet, and waits for none; they are not used before `commit`, and
   * `cancel` ends them again. What runs of an older entry goes on until the edited one has a list.
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
    /** Those that have a list by now go straight into their place. */
    const settle = (): readonly Slot[] => {
      for (const slot of next) if (!slot.isInUse) succeed(slot);
      return this.#readAll(next);
    };
    return {
      listed: async () => void (await Promise.all(begun.map(({ listedSoon }) => listedSoon))),
      bundles: () => bundlesOf(settle()),
      requireDistinct: async () => {
        if (onDuplicate !== 'error') return;
        // A tool may have moved out of a source that goes on running and was not read since.
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

  /** Reads every source again, or only some; one that fails keeps its list. */
  async refresh(isMeant = (_source: Source) => true): Promise<void> {
    const meant = this.#slots.filter(({ source }) => isMeant(source));
    const retried = meant.map(({ successor }) => successor?.retry().catch(() => {})); // its status says why
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

  /** Lets successors that have a list answer from now on; not while an edit decides which are still wanted. */
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
