import { whyNotAnswer } from '../core/approval-request.ts';
import { batchText, type CutArguments, cutArguments, MAX_CALLER_TEXT_BYTES } from '../core/approval-text.ts';
import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';
import type { ApprovalState } from '../core/ports/approval-states.ts';
import {
  type ApprovalListing,
  type ListedApproval,
  type StoredApproval,
  type StoredApprovals,
  UNLISTED_KEYS,
} from '../core/ports/stored-approvals.ts';
import { defined } from '../core/read-options.ts';
import { type Redact, redactData } from '../core/redact-result.ts';

/** A request for approval without its unlisted fields; the values of secrets are redacted. */
export interface Approval extends ListedApproval {
  /** The requests of a batch that has several: the calls of a script that wait at the same time. */
  readonly items?: readonly ApprovalItem[];
}

/** One request of a batch. It can be answered by its own id. */
export type ApprovalItem = Pick<ListedApproval, (typeof ITEM_KEYS)[number]>;

const ITEM_KEYS = [
  'id',
  'state',
  'tool',
  'title',
  'description',
  'arguments',
  'argumentsLength',
  'inputResponses',
  'reason',
  'approvers',
  'expiresAt',
  'answer',
  'claim',
  'outcome',
] as const;

/** Requests with the same batch become one, at the place of the first. A batch of one stays as it is. */
export function groupByBatch(approvals: readonly ListedApproval[]): readonly Approval[] {
  const groups = Map.groupBy(approvals, ({ id, batch }) => batch ?? id);
  return [...groups.values()].map((items) => toBatch(items) as Approval); // no group is empty
}

/** One request for all requests of a batch; undefined without any. A batch of one stays as it is. */
export function toBatch(items: readonly ListedApproval[]): Approval | undefined {
  const [first] = items;
  if (first?.batch === undefined || items.length === 1) return first;
  const { batch, inside = [] } = first;
  const [around = first.tool, ...outer] = inside;
  const waiting = items.filter(({ state }) => state === 'waiting');
  const shown = items.map((item) => defined(item, ITEM_KEYS));
  const said = ['caller', 'profile', 'conversation', 'turn', 'timeZone', 'door', 'isParked'] as const;
  const batched = {
    id: batch,
    batch,
    tool: around,
    description: `${items.length} calls inside "${around}" wait for approval together.`,
    ...cutArguments(numbered(items)),
    reason: `${items.length} calls inside it require approval`,
    ...defined(first, said),
    ...(outer.length > 0 && { inside: outer }),
    state: stateOfAll(items),
    createdAt: Math.min(...items.map(({ createdAt }) => createdAt)),
    expiresAt: Math.min(...(waiting.length > 0 ? waiting : items).map(({ expiresAt }) => expiresAt)),
    ...answerToAll(items),
    items: shown,
  };
  return { ...batched, ...approversOfAll(items, batched) };
}

/** The arguments of all calls, each under its number and tool, for readers that do not know items. */
function numbered(items: readonly ListedApproval[]): CutArguments['arguments'] {
  const calls = items.map(({ tool, arguments: given }, index): [string, JsonObject] => [`${index + 1} ${tool}`, given]);
  return Object.fromEntries(calls);
}

/** The approvers that may answer every request. The caller may only if it can be shown all of them at once. */
function approversOfAll(
  items: readonly ListedApproval[],
  batched: Parameters<typeof batchText>[0],
): Pick<ListedApproval, 'approvers' | 'notByCaller'> {
  const [first, ...rest] = items;
  const approvers = (first?.approvers ?? []).filter((who) => rest.every((item) => item.approvers.includes(who)));
  const note = items.find(({ notByCaller }) => notByCaller !== undefined)?.notByCaller;
  if (!approvers.includes('caller')) return { approvers, ...(note !== undefined && { notByCaller: note }) };
  const bytes = items.some(({ argumentsLength = 0 }) => argumentsLength > MAX_CALLER_TEXT_BYTES)
    ? Number.POSITIVE_INFINITY
    : new TextEncoder().encode(batchText(batched)).length;
  if (bytes <= MAX_CALLER_TEXT_BYTES) return { approvers };
  const notByCaller = `The approval text of the ${items.length} calls has more than ${MAX_CALLER_TEXT_BYTES} bytes. A caller may approve its own calls together only up to that size; it may answer them one by one.`;
  return { approvers: approvers.filter((who) => who !== 'caller'), notByCaller };
}

/** A batch is in the first of these states that one of its requests is in. */
const ORDER: readonly ApprovalState[] = ['waiting', 'approved', 'claimed', 'done', 'denied', 'expired', 'withdrawn'];

function stateOfAll(items: readonly ListedApproval[]): ApprovalState {
  return ORDER.find((state) => items.some((item) => item.state === state)) ?? 'expired';
}

/** The answer, if all requests have the same one. */
function answerToAll(items: readonly ListedApproval[]): Pick<ListedApproval, 'answer'> {
  const [answer] = items.map((item) => item.answer);
  const isSame = items.every((item) => item.answer?.by === answer?.by && item.answer?.at === answer?.at);
  return answer !== undefined && isSame ? { answer } : {};
}

/** The request with long arguments cut, as in lists. */
export function toCutApproval(approval: StoredApproval, redact: Redact): ListedApproval {
  return toShownApproval({ ...approval, ...cutArguments(approval.arguments) }, redact);
}

/** The request without its unlisted fields, redacted. */
export function toShownApproval(approval: StoredApproval, redact: Redact): ListedApproval {
  const { lifetimeMs: _lifetime, ...rest } = approval;
  const listed = Object.fromEntries(Object.entries(rest).filter(([key]) => !UNLISTED.has(key)));
  return redactApproval(listed as unknown as ListedApproval, redact); // only the unlisted keys were removed
}

const UNLISTED: ReadonlySet<string> = new Set(UNLISTED_KEYS);

/** Redacts the fields that callers fill in, and texts derived from them. */
export function redactApproval(approval: ListedApproval, redact: Redact): ListedApproval {
  const free = defined(approval, FREE);
  const clean = redactData(free, redact);
  return clean === free ? approval : { ...approval, ...clean };
}

const FREE = [
  'arguments',
  'reason',
  'question',
  'inputResponses',
  'conversation',
  'turn',
  'timeZone',
  'idempotencyKey',
] as const;

/** Limit of a list without one. */
export const MOST_LISTED = 10_000;

/** The newest requests that concern a caller, oldest first, with whole batches. Those of others take no place in the list. */
export async function listFor(
  by: Caller | undefined,
  listing: ApprovalListing,
  stored: StoredApprovals,
): Promise<readonly ListedApproval[]> {
  if (by === undefined || by.operator === true) return withWholeBatches(await stored.list(listing), stored);
  const found: (readonly ListedApproval[])[] = [];
  const atOnce = Math.min(500, Math.max(listing.limit, 50));
  let before: ListedApproval | undefined;
  for (let looked = 0; looked < MOST_LISTED && found.length < listing.limit; looked += atOnce) {
    const page = await stored.list({ ...listing, ...(before && { before }), limit: atOnce });
    const whole = await withWholeBatches(page, stored);
    const groups = Map.groupBy(whole, ({ id, batch }) => batch ?? id);
    const theirs = [...groups.values()].map((group) => group.filter((approval) => concerns(approval, by)));
    found.unshift(...theirs.filter((group) => group.length > 0));
    if (page.length < atOnce) break;
    [before] = page;
  }
  return found.slice(-listing.limit).flat();
}

/** Puts all requests of each batch in the place of the one that was found. */
async function withWholeBatches(
  found: readonly ListedApproval[],
  stored: StoredApprovals,
): Promise<readonly ListedApproval[]> {
  const named = found.flatMap(({ batch }) => batch ?? []);
  if (named.length === 0) return found;
  const items: ListedApproval[] = [];
  for (let start = 0; start < named.length; start += BATCHES_PER_QUERY)
    items.push(...(await stored.list({ batches: named.slice(start, start + BATCHES_PER_QUERY), limit: MOST_LISTED })));
  const byBatch = Map.groupBy(items, ({ batch }) => batch);
  return found.flatMap((one) => (one.batch === undefined ? [one] : (byBatch.get(one.batch) ?? [one])));
}

const BATCHES_PER_QUERY = 100;

/** True if a caller has made a request or may answer it. */
export function concerns({ caller, approvers }: ListedApproval, by: Caller): boolean {
  if (by.id !== undefined && caller.id === by.id) return true;
  return whyNotAnswer({ callerId: caller.id ?? '', approvers }, by) === undefined;
}
