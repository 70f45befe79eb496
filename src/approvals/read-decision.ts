import { isRemember } from '../core/approval.ts';
import { APPROVAL_STATES, type ApprovalState } from '../core/ports/approval-states.ts';
import { MAX_REMEMBER_MS, type Remember } from '../core/ports/stored-approvals.ts';
import { describe, readNameList, readOptions } from '../core/read-options.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** What somebody decides about a request. */
export interface ApprovalDecision {
  readonly decision: 'approve' | 'deny';
  readonly note?: string;
  /** For what else a yes counts: this conversation, these arguments (30 days each), or everything for a time. */
  readonly remember?: Remember;
}

/** Which requests are listed. */
export interface ApprovalFilter {
  readonly state?: ApprovalState;
  /** Only the requests with these ids. */
  readonly ids?: readonly string[];
  readonly limit?: number;
}

const MAX_NOTE = 2000;

/** Checks a decision and brings it into its one form. */
export function readDecision(value: unknown): ApprovalDecision {
  const { decision, note, remember } = readOptions<ApprovalDecision>(
    value,
    ['decision', 'note', 'remember'],
    'An answer to an approval',
  );
  if (decision !== 'approve' && decision !== 'deny')
    throw invalid(`A decision is approve or deny, not ${describe(decision)}.`);
  if (note !== undefined && (typeof note !== 'string' || note.length > MAX_NOTE))
    throw invalid(`A note is a text of at most ${MAX_NOTE} characters.`);
  const remembered = remember === undefined ? undefined : readRemember(remember);
  if (remembered !== undefined && decision === 'deny')
    throw invalid('Only an approval can be remembered, not a denial.');
  return {
    decision,
    ...(note !== undefined && note !== '' && { note }),
    ...(remembered !== undefined && { remember: remembered }),
  };
}

function readRemember(remember: unknown): Remember {
  if (!isRemember(remember)) throw invalid('remember is "conversation", "arguments" or { forMs }, a time above 0.');
  if (typeof remember === 'string') return remember;
  const { forMs } = remember;
  if (forMs > MAX_REMEMBER_MS) throw invalid('An answer is remembered for at most 30 days.');
  return { forMs };
}

/** Checks which requests are wanted. */
export function readApprovalFilter(value: unknown): ApprovalFilter {
  const given = readOptions<ApprovalFilter>(value, ['state', 'ids', 'limit'], 'approvals.list');
  const { state, ids, limit } = given;
  if (ids !== undefined) readNameList(ids, 'approvals.list: ids');
  if (state !== undefined && !APPROVAL_STATES.includes(state)) {
    const guess = didYouMean(String(state), APPROVAL_STATES);
    throw invalid(`An approval is ${APPROVAL_STATES.join(', ')}, not ${describe(state)}.${guess}`);
  }
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw invalid(`"limit" must be a whole number above 0, got ${describe(limit)}.`);
  return given;
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
