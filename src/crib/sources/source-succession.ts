import type { Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { idleClock } from '../../system/clock.ts';
import { type Runner, statusOf } from './source-runner.ts';
import { createSlot, type Judged, type Listing, ownStatus, type Slot } from './source-slot.ts';

/** Starts a source: as one of its own, or as the successor of what runs. */
export type StartSource = (source: Source, role: 'own' | 'successor') => Runner;

/** The slot of a source that takes the place of an older entry of its name, if there is one. */
export function slotAfter(source: Source, old: Slot | undefined, start: StartSource): Slot {
  if (old === undefined) return createSlot(source, start(source, 'own'));
  const now = Math.round(idleClock.now());
  if (isSameConnection(old.runner.source, source) && old.runner.failure === undefined) {
    const staleSince = source.mistake === undefined ? undefined : (old.staleSince ?? now);
    return { ...createSlot(source, old.runner), staleSince };
  }
  if (!mayStay(old, source)) return createSlot(source, start(source, 'own'));
  const isUnderWay = old.successor !== undefined && isSameConnection(old.successor.source, source);
  return {
    ...createSlot(source, old.runner),
    successor: isUnderWay ? old.successor : start(source, 'successor'),
    staleSince: old.staleSince ?? now,
  };
}

/** True if one may go on with what the other has started. */
function isSameConnection(a: Source, b: Source): boolean {
  return a === b || (a.connection !== undefined && a.connection() === b.connection?.());
}

/** Whether what runs may answer for an edited entry: only if it has a list, and nothing of it was taken away. */
function mayStay(old: Slot, source: Source): boolean {
  if (source.onChange === 'stop' || old.source.onChange === 'stop') return false;
  return ['ready', 'down'].includes(ownStatus(old).state) && old.runner.source.mayStay?.() !== false;
}

/** Puts the successor of a slot in the place of its runner if it has a list. Returns what is to be closed. */
export function succeed(slot: Slot): Runner | undefined {
  const { runner, successor } = slot;
  if (successor === undefined || statusOf(successor).state !== 'ready') return undefined;
  slot.runner = successor;
  slot.successor = undefined;
  if (slot.source.mistake === undefined) slot.staleSince = undefined;
  return runner;
}

const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 60_000;

/** Tries successors that have no list again from time to time; keeps no process alive. */
export interface SuccessorRetries {
  begin(successor: Runner): void;
  close(): void;
}

/** What retries ask, and tell. */
interface RetryPorts {
  /** False for one that took its place, or that a later edit made needless. */
  isWanted(successor: Runner): boolean;
  onRetried(): void;
}

export function createSuccessorRetries({ isWanted, onRetried }: RetryPorts): SuccessorRetries {
  const timers = new Map<Runner, () => void>();
  const wait = (successor: Runner, pauseMs: number): void => {
    const stop = idleClock.setTimer(pauseMs, async () => {
      timers.delete(successor);
      await successor.retry().catch(() => {}); // its status says why
      onRetried();
      if (isWanted(successor)) wait(successor, Math.min(pauseMs * 2, LONGEST_PAUSE_MS));
    });
    timers.set(successor, stop);
  };
  return {
    begin(successor) {
      if (isWanted(successor) && !timers.has(successor)) wait(successor, FIRST_PAUSE_MS);
    },
    close() {
      for (const stop of timers.values()) stop();
      timers.clear();
    },
  };
}

/** How the entries of a list are let in. */
export interface ListingReaderOptions {
  /** Lets one entry of a source in, or throws. */
  admit(tool: unknown, source: Source): ToolSpec;
  warn(message: string): void;
}

/** Makes what reads the list of a slot under its settings; undefined while nothing runs that could have one. Throws for a list that cannot be used. */
export function createListingReader({ admit, warn }: ListingReaderOptions): (slot: Slot) => Listing | undefined {
  const admitOrWarn = (tool: ToolSpec, { source, runner }: Slot): Judged => {
    try {
      return { spec: admit(tool, source) };
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      const place = runner.live?.placeOf?.(tool);
      const trouble = `${place === undefined ? '' : `${place}: `}${cause.message}`;
      warn(`${source.name}: ${trouble}`);
      return { trouble };
    }
  };
  const admitOnce = (tool: ToolSpec, slot: Slot): Judged => {
    const known = isObject(tool) ? slot.known.get(tool) : undefined;
    if (known !== undefined) return known;
    const admitted = admitOrWarn(tool, slot);
    if (isObject(tool)) slot.known.set(tool, admitted);
    return admitted;
  };
  return (slot) => {
    const { live } = slot.runner;
    if (live === undefined) return undefined;
    const judged = live.specs().map((tool) => admitOnce(tool, slot));
    const admitted = judged.flatMap(({ spec }) => spec ?? []);
    const specs = slot.source.adjust?.(admitted) ?? admitted;
    const leftOut = judged.flatMap(({ trouble }) => trouble ?? []);
    return { specs, bundles: [...(live.bundles?.() ?? [])], leftOut };
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
