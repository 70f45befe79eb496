import type { Bundle } from '../../core/bundle.ts';
import type { SourceList } from '../../core/catalog.ts';
import type { Source, SourceStatus } from '../../core/source.ts';
import { messageOf } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { BundleList } from '../catalog/bundle-registry.ts';
import type { OnDuplicate } from './name-clashes.ts';
import { type Runner, statusOf } from './source-runner.ts';

/** The status of a source. */
export interface SourceReport extends SourceStatus {
  readonly name: string;
  readonly toolCount: number;
  /** `worker` if only workers start it. */
  readonly runsOn?: 'worker';
  /** Reasons why entries of its list were skipped; absent without any. */
  readonly malformed?: readonly string[];
  /** Tools of its list that `include` and `exclude` leave out, by their names there; absent without any. */
  readonly excluded?: readonly string[];
}

/** The tools and bundles that a source lists. */
export interface Listing {
  readonly specs: readonly ToolSpec[];
  readonly bundles: readonly Bundle[];
  /** Reasons why entries were skipped. */
  readonly leftOut: readonly string[];
  /** Names of tools that `include` and `exclude` leave out. */
  readonly excluded: readonly string[];
}

/** An accepted entry, or the reason why it was skipped. */
export interface Judged {
  readonly spec?: ToolSpec;
  readonly trouble?: string;
}

/** A source, its runners, and its current list. */
export interface Slot extends Listing {
  /** The source with the current settings. */
  readonly source: Source;
  /** Serves calls; started by `source` or by an older version of it. */
  runner: Runner;
  /** Started for the edited entry; replaces the runner once it has a list. */
  successor: Runner | undefined;
  /** Time since which the runner does not match the entry. */
  staleSince: number | undefined;
  specs: readonly ToolSpec[];
  bundles: readonly Bundle[];
  leftOut: readonly string[];
  excluded: readonly string[];
  names: ReadonlySet<string>;
  /** Results of checked entries, so that each entry is checked once. */
  readonly known: WeakMap<object, Judged>;
  /** False while it is prepared and claims no names. */
  isInUse: boolean;
  /** The runner, and its version when the list was read. */
  readAt: { readonly runner: Runner; readonly version: number } | undefined;
  /** A list that is not in use: it waits for a check, or was rejected. */
  next: Listing | undefined;
  wasListed: boolean;
  failure: string | undefined;
}

export function createSlot(source: Source, runner: Runner): Slot {
  return {
    source,
    runner,
    successor: undefined,
    staleSince: undefined,
    specs: [],
    bundles: [],
    leftOut: [],
    excluded: [],
    names: new Set(),
    known: new WeakMap(),
    isInUse: false,
    readAt: undefined,
    next: undefined,
    wasListed: false,
    failure: undefined,
  };
}

/** True if its list may have changed since it was read. */
export function isOutdated({ runner, readAt }: Slot): boolean {
  return readAt?.runner !== runner || readAt.version !== runner.version;
}

/** Reads the list of a source. It is used at once, or with `onDuplicate: error` after all lists have been checked together. */
export function takeListing(
  slot: Slot,
  readListing: (slot: Slot) => Listing | undefined,
  onDuplicate: OnDuplicate,
): void {
  slot.readAt = { runner: slot.runner, version: slot.runner.version };
  slot.next = undefined;
  try {
    const listing = readListing(slot);
    if (listing === undefined) return;
    if (onDuplicate === 'skip' || !slot.isInUse) useListing(slot, listing);
    else slot.next = listing;
  } catch (cause) {
    slot.failure = `it could not be listed: ${messageOf(cause)}`;
  }
}

/** Reads the list of a source again. */
export async function refreshSlot(slot: Slot): Promise<void> {
  try {
    await slot.runner.live?.refresh?.();
    slot.runner.version++;
  } catch (cause) {
    if (['failed', 'down'].includes(statusOf(slot.runner).state)) return; // its own status has a better reason
    slot.failure = `it could not be refreshed: ${messageOf(cause)}`;
  }
}

export function useListing(slot: Slot, { specs, bundles, leftOut, excluded }: Listing): void {
  slot.specs = specs;
  slot.leftOut = leftOut;
  slot.excluded = excluded;
  slot.bundles = bundles;
  slot.names = new Set(specs.map((spec) => spec.name));
  slot.wasListed = true;
  slot.next = undefined;
  slot.failure = undefined;
}

/** The lists of the slots, in order. */
export function listsOf(slots: readonly Slot[]): readonly SourceList[] {
  return slots.map(({ source, specs }) => ({ source: source.name, specs }));
}

/** The bundles of the slots, in order. */
export function bundlesOf(slots: readonly Slot[]): readonly BundleList[] {
  return slots.map(({ source, bundles }) => ({ source: source.name, bundles }));
}

/** All runners of the slots. */
export function runnersOf(slots: readonly Slot[]): readonly Runner[] {
  return slots.flatMap(({ runner, successor }) => (successor === undefined ? [runner] : [runner, successor]));
}

/** The status of the source of a slot. With a previous list, a failed source counts as down. */
export function reportOf(slot: Slot): SourceReport {
  const { source, specs, leftOut, excluded } = slot;
  const place = source.runOn === undefined ? {} : { runsOn: source.runOn };
  const status = withStaleness(slot, ownStatus(slot));
  const absent = {
    ...(leftOut.length > 0 && { malformed: leftOut }),
    ...(excluded.length > 0 && { excluded }),
  };
  return { name: source.name, toolCount: specs.length, ...status, ...place, ...absent };
}

/** The status of the runner that serves calls, regardless of edits. */
export function ownStatus({ runner, failure, wasListed, leftOut }: Slot): SourceStatus {
  const reason = failure ?? runner.failure;
  if (reason !== undefined) return { state: wasListed ? 'down' : 'failed', reason };
  const status = statusOf(runner);
  const [first, ...others] = leftOut;
  if (status.state !== 'ready' || status.reason !== undefined || first === undefined) return status;
  return { ...status, reason: others.length === 0 ? first : `${first} And ${others.length} more.` };
}

/** Adds staleness to a status. A source that is down is not stale; then both reasons are given. */
function withStaleness(slot: Slot, own: SourceStatus): SourceStatus {
  const { staleSince: since } = slot;
  if (since === undefined) return own;
  const reason = `${whyStale(slot)} The connection from before the edit stays in use.`;
  if (own.state === 'ready') return { state: 'stale', reason, since };
  return { state: own.state, reason: [own.reason, reason].filter(Boolean).join(' '), since };
}

function whyStale({ source, successor }: Slot): string {
  if (source.mistake !== undefined) return `Its edited entry cannot be read: ${source.mistake}`;
  if (successor === undefined) return 'Its edited entry is not in use yet.';
  const { state, reason } = statusOf(successor);
  if (state === 'starting') return 'Its edited entry is starting.';
  return `Its edited entry does not work: ${(reason ?? 'it has no list').replace(/\.$/, '')}.`;
}

/** Settings of the source that match no tool; empty until the source has a list. */
export function problemsOf(slot: Slot): readonly string[] {
  return ownStatus(slot).state === 'ready' ? (slot.source.problems?.(slot.specs, slot.excluded) ?? []) : [];
}
