import { APPROVAL_STATES, type ApprovalState } from '../core/ports/approval-states.ts';
import { MAX_REMEMBER_MS, type Remember, readRemember } from '../core/ports/remember.ts';
import { describe, didYouMean, readNameList, readOptions } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** An approver's answer to a request. */
export interface ApprovalDecision {
  readonly decision: 'approve' | 'deny';
  readonly note?: string;
  /** Scope of a remembered approval: this conversation or these arguments (30 days each), all calls for a given time, or, by an operator, a number of calls within terms. */
  readonly remember?: Remember;
}

/** Filter for listing requests. */
export interface ApprovalFilter {
  readonly state?: ApprovalState;
  /** Only the requests with these ids. */
  readonly ids?: readonly string[];
  readonly limit?: number;
}

const MAX_NOTE = 2000;

/** Validates a decision and normalizes it. */
export function readDecision(value: unknown): ApprovalDecision {
  const { decision, note, remember } = readOptions<ApprovalDecision>(
    value,
    ['decision', 'note', 'remember'],
    'An answer to an approval',
  );
  if (decision !== 'approve' && decision !== 'deny')
    throw invalid(`"decision" must be approve or deny, got ${describe(decision)}.`);
  if (note !== undefined && (typeof note !== 'string' || note.length > MAX_NOTE))
    throw invalid(`"note" must be a text of at most ${MAX_NOTE} characters.`);
  const remembered = remember === undefined ? undefined : requireRemember(remember);
  if (remembered !== undefined && decision === 'deny')
    throw invalid('Only an approval can be remembered, not a denial.');
  return {
    decision,
    ...(note !== undefined && note !== '' && { note }),
    ...(remembered !== undefined && { remember: remembered }),
  };
}

function requireRemember(value: unknown): Remember {
  const read = readRemember(value);
  if ('problem' in read) throw invalid(read.problem);
  const { remember } = read;
  if (typeof remember === 'object' && (remember.forMs ?? 0) > MAX_REMEMBER_MS)
    throw invalid('"remember.forMs" must be at most 30 days.');
  return remember;
}

/** Validates a filter for listing requests. */
export function readApprovalFilter(value: unknown): ApprovalFilter {
  const given = readOptions<ApprovalFilter>(value, ['state', 'ids', 'limit'], 'approvals.list');
  const { state, ids, limit } = given;
  if (ids !== undefined) readNameList(ids, 'approvals.list: ids');
  if (state !== undefined && !APPROVAL_STATES.includes(state)) {
    const guess = didYouMean(String(state), APPROVAL_STATES);
    throw invalid(`"state" must be one of ${APPROVAL_STATES.join(', ')}, got ${describe(state)}.${guess}`);
  }
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw invalid(`"limit" must be a whole number above 0, got ${describe(limit)}.`);
  return given;
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
