import type { Grant } from '../approvals/grants.ts';
import type { Approval, ApprovalItem } from '../approvals/shown-approvals.ts';
import type { CallRow } from '../audit/recorded-calls.ts';
import type { Stop } from '../core/ports/stored-stops.ts';
import { defined } from '../core/read-options.ts';
import type { RunningCall } from '../crib/console/running-calls.ts';
import type { KeyInfo } from '../identity/api-keys.ts';
import type { ScheduleInfo } from '../tasks/schedules.ts';
import type { TaskDetail } from '../tasks/task-listing.ts';

/** A time as ISO 8601 in UTC. */
export function toTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}

/** A recorded call as JSON for REST and the command line. */
export function toShownCall(row: CallRow) {
  const { at, until, chain, hash, number, key, kind: _kind, ...rest } = row;
  return {
    ...rest,
    at: toTime(at),
    ...(until !== undefined && { until: toTime(until) }),
    row: { chain, number, hash, ...(key !== undefined && { key }) },
  };
}

/** A call in flight as JSON for REST. */
export function toShownRunning({ at, ...call }: RunningCall) {
  return { ...call, outcome: 'running', at: toTime(at) };
}

/** An approval request as JSON for REST and the command line. */
export function toShownApproval({ createdAt, expiresAt, answer, claim, items, ...approval }: Approval) {
  return {
    ...approval,
    createdAt: toTime(createdAt),
    ...withTimes({ expiresAt, ...defined({ answer, claim }) }),
    ...(items !== undefined && { items: items.map((item) => ({ ...item, ...withTimes(item) })) }),
  };
}

function withTimes({ expiresAt, answer, claim }: Pick<ApprovalItem, 'expiresAt' | 'answer' | 'claim'>) {
  return {
    expiresAt: toTime(expiresAt),
    ...(answer !== undefined && { answer: { ...answer, at: toTime(answer.at) } }),
    ...(claim !== undefined && { claim: { ...claim, at: toTime(claim.at) } }),
  };
}

/** A remembered approval as JSON for REST and the command line: what was approved, and what passes without asking. */
export function toShownGrant({ at, expiresAt, approval, ...grant }: Grant) {
  const about = [
    'tool',
    'title',
    'caller',
    'profile',
    'conversation',
    'inside',
    'arguments',
    'argumentsLength',
  ] as const;
  return {
    ...grant,
    at: toTime(at),
    expiresAt: toTime(expiresAt),
    ...(approval !== undefined && defined(approval, about)),
    ...defined({ remember: approval?.answer?.remember, note: approval?.answer?.note }),
  };
}

/** An API key as JSON for REST and the command line, without its secret. */
export function toShownKey({ createdAt, expiresAt, revokedAt, lastUsedAt, ...key }: KeyInfo) {
  return {
    ...key,
    createdAt: toTime(createdAt),
    ...(expiresAt !== undefined && { expiresAt: toTime(expiresAt) }),
    ...(revokedAt !== undefined && { revokedAt: toTime(revokedAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: toTime(lastUsedAt) }),
  };
}

/** An emergency stop as JSON for REST and the command line. */
export function toShownStop({ at, ...stop }: Stop) {
  return { ...stop, since: toTime(at) };
}

/** A task as JSON for REST and the command line. */
export function toShownTask({ createdAt, expiresAt, runAt, startedAt, endedAt, ...task }: TaskDetail) {
  return {
    ...task,
    createdAt: toTime(createdAt),
    ...(runAt !== undefined && { runAt: toTime(runAt) }),
    ...(startedAt !== undefined && { startedAt: toTime(startedAt) }),
    ...(endedAt !== undefined && { endedAt: toTime(endedAt) }),
    expiresAt: toTime(expiresAt),
  };
}
/** A schedule as JSON for REST and the command line. */
export function toShownSchedule({ name, from, at, changedAt, nextAt, last, ...schedule }: ScheduleInfo) {
  return {
    name,
    from,
    ...schedule,
    ...(at !== undefined && { at: toTime(at) }),
    ...(changedAt !== undefined && { changedAt: toTime(changedAt) }),
    ...(nextAt !== undefined && { nextAt: toTime(nextAt) }),
    ...(last !== undefined && { last: toShownSlot(last) }),
  };
}

function toShownSlot({ slot, ...last }: NonNullable<ScheduleInfo['last']>) {
  return { at: toTime(slot), ...last };
}
