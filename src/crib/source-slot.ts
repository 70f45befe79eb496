import type { Bundle } from '../core/bundle.ts';
import type { SourceList } from '../core/catalog.ts';
import type { LiveSource, Source, SourceStatus } from '../core/source.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { BundleList } from './found-bundles.ts';

/** How a source is doing. */
export interface SourceReport extends SourceStatus {
  readonly name: string;
  readonly toolCount: number;
}

/** What a source brings at one moment. */
export interface Listing {
  readonly specs: readonly ToolSpec[];
  readonly bundles: readonly Bundle[];
}

/** A source, what runs of it, and the list of it that is in use. */
export interface Slot extends Listing {
  readonly source: Source;
  live: LiveSource | undefined;
  specs: readonly ToolSpec[];
  bundles: readonly Bundle[];
  names: ReadonlySet<string>;
  /** What each entry of the list was let in as, so that an entry is judged once. */
  readonly known: WeakMap<object, readonly ToolSpec[]>;
  /** False while it is only prepared: it claims no name yet. */
  isInUse: boolean;
  isStale: boolean;
  /** A list that is not in use: it waits to be judged, or was refused. */
  next: Listing | undefined;
  wasListed: boolean;
  failure: string | undefined;
}

export function createSlot(source: Source): Slot {
  return {
    source,
    live: undefined,
    specs: [],
    bundles: [],
    names: new Set(),
    known: new WeakMap(),
    isInUse: false,
    isStale: false,
    next: undefined,
    wasListed: false,
    failure: undefined,
  };
}

/** Puts a list to use. */
export function useListing(slot: Slot, { specs, bundles }: Listing): void {
  slot.specs = specs;
  slot.bundles = bundles;
  slot.names = new Set(specs.map((spec) => spec.name));
  slot.wasListed = true;
  slot.next = undefined;
  slot.failure = undefined;
}

/** What the slots list, in their order. */
export function listsOf(slots: readonly Slot[]): readonly SourceList[] {
  return slots.map(({ source, specs }) => ({ source: source.name, specs }));
}

/** The bundles that they bring. */
export function bundlesOf(slots: readonly Slot[]): readonly BundleList[] {
  return slots.map(({ source, bundles }) => ({ source: source.name, bundles }));
}

/** How the source of a slot is doing. A list from before is better than none: then it is only down. */
export function reportOf({ source, live, specs, failure, wasListed }: Slot): SourceReport {
  const status: SourceStatus =
    failure === undefined ? statusOf(live) : { state: wasListed ? 'down' : 'failed', reason: failure };
  return { name: source.name, toolCount: specs.length, ...status };
}

/** What the owner says of its tools and none is meant by; nothing is said about a list that is not there. */
export function problemsOf(slot: Slot): readonly string[] {
  return reportOf(slot).state === 'ready' ? (slot.source.problems?.(slot.specs) ?? []) : [];
}

/** Throws for something that cannot be asked what a live source is asked. */
export function requireLive(live: LiveSource): void {
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
