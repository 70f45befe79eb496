import type { Bundle } from '../../core/bundle.ts';
import type { SourceList } from '../../core/catalog.ts';
import type { Source, SourceStatus } from '../../core/source.ts';
import { messageOf } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { BundleList } from '../catalog/bundle-registry.ts';
import type { OnDuplicate } from './name-clashes.ts';
import { type Runner, statusOf } from './source-runner.ts';

/** How a source is doing. */
export interface SourceReport extends SourceStatus {
  readonly name: string;
  readonly toolCount: number;
}

/** What a source brings at one moment. */
export interface Listing {
  readonly specs: readonly ToolSpec[];
  readonly bundles: readonly Bundle[];
  /** Why entries of it were not let in. */
  readonly leftOut: readonly string[];
}

/** An entry that was let in, or why it was not. */
export interface Judged {
  readonly spec?: ToolSpec;
  readonly trouble?: string;
}

/** A source, what runs for it, and the list of it that is in use. */
export interface Slot extends Listing {
  /** Its settings are in force. */
  readonly source: Source;
  /** Answers calls; started by `source`, or by an older one. */
  runner: Runner;
  /** Started for the edited entry; it takes the place of the runner once it has a list. */
  successor: Runner | undefined;
  /** Since when the runner is not the one that the entry asks for. */
  staleSince: number | undefined;
  specs: readonly ToolSpec[];
  bundles: readonly Bundle[];
  leftOut: readonly string[];
  names: ReadonlySet<string>;
  /** What each entry of the list was let in as, so that an entry is judged once. */
  readonly known: WeakMap<object, Judged>;
  /** False while it is only prepared: it claims no name yet. */
  isInUse: boolean;
  /** The runner and its version at which the list was read. */
  readAt: { readonly runner: Runner; readonly version: number } | undefined;
  /** A list that is not in use: it waits to be judged, or was refused. */
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
    names: new Set(),
    known: new WeakMap(),
    isInUse: false,
    readAt: undefined,
    next: undefined,
    wasListed: false,
    failure: undefined,
  };
}

/** True if its list may have become another one since it was read. */
export function isOutdated({ runner, readAt }: Slot): boolean {
  return readAt?.runner !== runner || readAt.version !== runner.version;
}

/** Reads the list of a source. In use it is at once, or where names that clash are refused, once all lists have been judged together. */
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

/** Asks a source for its list again. */
export async function refreshSlot(slot: Slot): Promise<void> {
  try {
    await slot.runner.live?.refresh?.();
    slot.runner.version++;
  } catch (cause) {
    if (['failed', 'down'].includes(statusOf(slot.runner).state)) return; // it says better itself what is wrong
    slot.failure = `it could not be refreshed: ${messageOf(cause)}`;
  }
}

/** Puts a list to use. */
export function useListing(slot: Slot, { specs, bundles, leftOut }: Listing): void {
  slot.specs = specs;
  slot.leftOut = leftOut;
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

/** Everything that runs for the slots. */
export function runnersOf(slots: readonly Slot[]): readonly Runner[] {
  return slots.flatMap(({ runner, successor }) => (successor === undefined ? [runner] : [runner, successor]));
}

/** How the source of a slot is doing. A list from before is better than none: then it is only down. */
export function reportOf(slot: Slot): SourceReport {
  const { source, specs } = slot;
  return { name: source.name, toolCount: specs.length, ...withStaleness(slot, ownStatus(slot)) };
}

/** How what answers is doing, whatever the entry asks for. */
export function ownStatus({ runner, failure, wasListed, leftOut }: Slot): SourceStatus {
  const reason = failure ?? runner.failure;
  if (reason !== undefined) return { state: wasListed ? 'down' : 'failed', reason };
  const status = statusOf(runner);
  const [first, ...others] = leftOut;
  if (status.state !== 'ready' || status.reason !== undefined || first === undefined) return status;
  return { ...status, reason: others.length === 0 ? first : `${first} And ${others.length} more.` };
}

/** What cannot be called is not stale but down; then both reasons are told. */
function withStaleness(slot: Slot, own: SourceStatus): SourceStatus {
  const { staleSince: since } = slot;
  if (since === undefined) return own;
  const reason = `${whyStale(slot)} The connection from before the edit is used.`;
  if (own.state === 'ready') return { state: 'stale', reason, since };
  return { state: own.state, reason: [own.reason, reason].filter(Boolean).join(' '), since };
}

function whyStale({ source, successor }: Slot): string {
  if (source.mistake !== undefined) return `Its edited entry cannot be read: ${source.mistake}`;
  if (successor === undefined) return 'Its edited entry is not used yet.';
  const { state, reason } = statusOf(successor);
  if (state === 'starting') return 'Its edited entry is being started.';
  return `Its edited entry does not work: ${(reason ?? 'it has no list').replace(/\.$/, '')}.`;
}

/** What the owner says of its tools and none is meant by; nothing is said about a list that is not there. */
export function problemsOf(slot: Slot): readonly string[] {
  return ownStatus(slot).state === 'ready' ? (slot.source.problems?.(slot.specs) ?? []) : [];
}
