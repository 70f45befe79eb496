import type { LiveSource, SourceStatus } from '../core/source.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { createListeners } from '../system/listeners.ts';

/** The list that a live source shows, how it is doing, and who wants to hear of it. */
export interface SpecListing extends Pick<LiveSource, 'specs' | 'onChange' | 'status'> {
  /** Shows a list, and tells if it is not the one that was shown. */
  show(specs: readonly ToolSpec[], note?: ListingNote): void;
  /** The list could not be read: the last one stays. */
  fail(reason: string): void;
  close(): void;
}

/** What there is to say about a list that was read. */
interface ListingNote {
  /** Why a part of it is as it was before. */
  readonly down?: string | undefined;
  /** What had to be left out. */
  readonly leftOut?: string | undefined;
}

/** Starts with an empty list that nobody has read yet. */
export function createListing(): SpecListing {
  const listeners = createListeners();
  let listed: readonly ToolSpec[] = [];
  let wasRead = false;
  let status: SourceStatus = { state: 'failed', reason: 'it has not been read yet' };
  return {
    specs: () => listed,
    status: () => status,
    onChange: listeners.add,
    show(specs, { down, leftOut } = {}) {
      wasRead ||= down === undefined || specs.length > 0;
      status = down === undefined ? withReason('ready', leftOut) : { state: wasRead ? 'down' : 'failed', reason: down };
      if (specs.length === listed.length && specs.every((spec, index) => spec === listed[index])) return;
      listed = specs;
      listeners.tell();
    },
    fail(reason) {
      status = { state: wasRead ? 'down' : 'failed', reason };
    },
    close: listeners.clear,
  };
}

function withReason(state: SourceStatus['state'], reason: string | undefined): SourceStatus {
  return reason === undefined ? { state } : { state, reason };
}
