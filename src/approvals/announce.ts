import { textOfRequest } from '../core/approval-text.ts';
import type { JsonObject } from '../core/json.ts';
import type { StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import { defined } from '../core/read-options.ts';
import { messageOf } from '../core/tool-error.ts';
import { type Approval, toBatch, toCutApproval, toShownApproval } from './shown-approvals.ts';

/** The webhook message of a waiting request, or of a batch. */
export function toMessage(requests: readonly StoredApproval[], redact: (text: string) => string): JsonObject {
  const cut = toBatch(requests.map((one) => toCutApproval(one, redact))) as Approval; // there is at least one
  const whole = toBatch(requests.map((one) => toShownApproval(one, redact))) as Approval; // likewise
  const { items } = cut;
  const message = {
    ...defined(cut, KEYS),
    ...(items !== undefined && { items: items.map((item) => defined(item, ITEM_KEYS)) }),
    expiresAt: cut.expiresAt,
    text: textOfRequest(whole), // built from the complete arguments; each value is cut on its own
  };
  return JSON.parse(JSON.stringify(message)); // drops absent fields
}

const KEYS = [
  'id',
  'tool',
  'title',
  'arguments',
  'argumentsLength',
  'caller',
  'profile',
  'reason',
  'question',
] as const;
const ITEM_KEYS = ['id', 'tool', 'title', 'arguments', 'argumentsLength', 'reason'] as const;

/** Options for announcing batches. */
interface BatchAnnouncing {
  send(items: readonly StoredApproval[]): void;
  warn(message: string): void;
}

/** Announces the batches of this process when they are sealed, each once. */
export function announceBatches(
  approvals: StoredApprovals,
  { send, warn }: BatchAnnouncing,
): { announce(batch: string): void; stop(): void } {
  const pending = new Set<string>();
  let stop: (() => void) | undefined;
  const onSeal = (batch: string): void => {
    if (!pending.delete(batch)) return;
    approvals
      .ofBatch(batch)
      .then((items) => {
        const sealed = items.filter(({ isSealed, state }) => isSealed !== false && state === 'waiting');
        if (sealed.length > 0) send(sealed);
      })
      .catch((cause) => warn(`The approval ${batch} could not be announced: ${messageOf(cause)}`));
  };
  return {
    announce(batch) {
      if (pending.size >= MOST_PENDING) pending.delete([...pending][0] ?? ''); // its script is long gone
      pending.add(batch);
      stop ??= approvals.onSeal(onSeal); // not earlier: that would open the store
    },
    stop: () => stop?.(),
  };
}

const MOST_PENDING = 10_000;
