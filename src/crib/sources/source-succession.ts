import type { Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { RUN, type ToolSpec } from '../../core/tool-spec.ts';
import { idleClock } from '../../system/clock.ts';
import { type Runner, statusOf } from './source-runner.ts';
import { createSlot, type Judged, type Listing, ownStatus, type Slot } from './source-slot.ts';

/** Starts a source on its own, or as the successor of a running one. */
export type StartSource = (source: Source, role: 'own' | 'successor') => Runner;

/** The slot of a source, which may replace an older entry of the same name. */
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

/** True if both sources can share a connection. */
function isSameConnection(a: Source, b: Source): boolean {
  return a === b || (a.connection !== undefined && a.connection() === b.connection?.());
}

/** True if the old connection may serve an edited entry: it has a list, and no secret or host was revoked. */
function mayStay(old: Slot, source: Source): boolean {
  if (source.onChange === 'stop' || old.source.onChange === 'stop') return false;
  return ['ready', 'down'].includes(ownStatus(old).state) && old.runner.source.mayStay?.() !== false;
}

/** Replaces the runner of a slot with its successor if that has a list. Returns the runner to close. */
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

/** Retries successors without a list periodically. Its timers do not keep the process alive. */
export interface SuccessorRetries {
  begin(successor: Runner): void;
  close(): void;
}

interface RetryPorts {
  /** False for a successor that is in use already, or that a later edit replaced. */
  isWanted(successor: Runner): boolean;
  onRetried(): void;
}

export function createSuccessorRetries({ isWanted, onRetried }: RetryPorts): SuccessorRetries {
  const timers = new Map<Runner, () => void>();
  const wait = (successor: Runner, pauseMs: number): void => {
    const stop = idleClock.setTimer(pauseMs, async () => {
      timers.delete(successor);
      await successor.retry().catch(() => {}); // its status has the reason
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

/** Options for reading lists. */
export interface ListingReaderOptions {
  /** Checks one entry of a source; throws if it is invalid. */
  admit(tool: ToolSpec, source: Source): ToolSpec;
  warn(message: string): void;
}

/** Creates the function that reads the list of a slot with its settings; it returns undefined while nothing is running and throws for an invalid list. */
export function createListingReader({ admit, warn }: ListingReaderOptions): (slot: Slot) => Listing | undefined {
  const admitOrWarn = (tool: ToolSpec, { source, runner }: Slot): Judged => {
    try {
      return { spec: admit(tool, source) };
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      source.onRefused?.({ run: tool[RUN] });
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
    return { specs, bundles: [...(live.bundles?.() ?? [])], leftOut, excluded: missingFrom(specs, admitted) };
  };
}

/** The names of admitted tools that are not in the list. */
function missingFrom(specs: readonly ToolSpec[], admitted: readonly ToolSpec[]): readonly string[] {
  if (specs.length === admitted.length) return [];
  const kept = new Set(specs.map(({ origin }) => origin));
  return admitted.map(({ origin }) => origin).filter((origin) => !kept.has(origin));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
