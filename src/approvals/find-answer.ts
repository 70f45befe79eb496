import { type Question, whyAsk } from '../core/approval-request.ts';
import type { Foresight } from '../core/extension.ts';
import type { RememberedApproval, StoredApproval } from '../core/ports/stored-approvals.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import type { FailedResult } from '../core/tool-result.ts';
import { ancestorsOf, denied, nobodyToAsk, saidNo } from './ask-callback.ts';
import { insideHash } from './bind-request.ts';
import { coversArguments } from './grants.ts';
import { usedUp } from './parked-results.ts';
import { type Asking, barredFrom, noLongerOpen } from './settle-request.ts';

/** The verdict of approval without an answer in the store. */
export function foreseeAsking(call: ToolCall, question: Question): Foresight {
  const { approvers = [] } = call.spec.policy;
  const who = ['operator', ...approvers.filter((one) => one !== 'operator')].join(', ');
  return { verdict: 'ask', says: `The call requires approval: ${question.reason}. Approvers: ${who}.` };
}

/** The verdict of approval about a call that is not made. Reads the answers in the store, and asks, claims and counts nothing. */
export async function foreseeApproval(asking: Asking): Promise<Foresight> {
  const { call, question, subject, context } = asking;
  if (call.approvalId !== undefined) {
    const named = await context.approvals.get(call.approvalId);
    if (named === undefined) return refuses(notThere(call));
    if (isForInnerCall(asking, named))
      return { verdict: 'pass', says: `The call requires no approval. ${named.id} is for a call inside it.` };
    const mismatch = mismatchOf(asking, named);
    return mismatch === undefined ? foreseeRequest(asking, named) : refuses(mismatch);
  }
  const found = await context.approvals.find(subject);
  if (found !== undefined && found.state !== 'waiting') return foreseeRequest(asking, found);
  const [grant] = await coveringGrants(asking);
  if (grant !== undefined)
    return { verdict: 'pass', says: `The remembered approval ${grant.id} by ${grant.by} covers the call.` };
  if (found !== undefined) return foreseeRequest(asking, found);
  if (!call.mayPark && call.caller.approve === undefined)
    return refuses(nobodyToAsk(call, question, subject.notByCaller));
  return foreseeAsking(call, question);
}

async function foreseeRequest(asking: Asking, approval: StoredApproval): Promise<Foresight> {
  const { id, state, answer, parked } = approval;
  const { name } = asking.call.spec;
  switch (state) {
    case 'waiting':
      return { verdict: 'ask', says: `This call already waits for the approval ${id}.` };
    case 'approved': {
      const barred = await barredFrom(approval, asking);
      const says = `${answer?.by ?? 'host'} has approved this call (${id}).`;
      return barred === undefined ? { verdict: 'pass', says } : refuses(barred);
    }
    case 'denied':
      return refuses(saidNo(name, answer?.note));
    case 'claimed':
    case 'done':
      if (parked === undefined) return refuses(usedUp(name, approval));
      return {
        verdict: 'pass',
        says: `The call ran under the approval ${id}. Its result is returned; nothing runs again.`,
      };
    default:
      return refuses(noLongerOpen(name));
  }
}

function refuses({ error }: FailedResult): Foresight {
  return { verdict: 'refuse', says: error.message, error };
}

/** The remembered approvals that cover a call. */
export async function coveringGrants(asking: Asking): Promise<readonly RememberedApproval[]> {
  const { call, subject, context } = asking;
  const covering: RememberedApproval[] = [];
  for (const one of await context.approvals.remembered(subject))
    if (coversArguments(one, call.input, context.schemas) && (await stillCounts(one, asking))) covering.push(one);
  return covering;
}

/** An approval that a caller gave itself counts only if the caller could approve this call now. */
async function stillCounts({ id, by }: RememberedApproval, { call, subject, context }: Asking): Promise<boolean> {
  if (by !== subject.callerId || call.caller.operator === true || subject.approvers.includes('caller')) return true;
  const given = await context.approvals.get(id);
  return given?.approvers.includes('caller') === false; // then a host's approver with the same name gave it
}

/** True if the call itself needs no approval, and the one that it names is for a call inside it. That call finds its approval by itself. */
export function isForInnerCall({ call, subject }: Asking, approval: StoredApproval): boolean {
  const { inside = [], batch, callerId, insideHash: bound } = approval;
  if (callerId !== subject.callerId || (batch !== undefined && call.batch === undefined)) return false;
  // Naming an approval makes its gate look at the call: the policy of the tool says what it needs.
  const own = call.tools.get(subject.tool);
  const isFree = own !== undefined && whyAsk(own) === undefined && call[FACTS].asks === undefined;
  const around = [call, ...ancestorsOf(call)];
  if (!isFree || inside.at(-around.length) !== subject.tool) return false;
  return inside.length > around.length || bound === insideHash(around);
}

/** The reason why the named approval does not fit the call. Other callers do not learn that it exists. */
export function mismatchOf({ call, subject }: Asking, approval: StoredApproval): FailedResult | undefined {
  const id = `The approval "${call.approvalId}"`;
  if (approval.callerId !== subject.callerId || approval.profile !== subject.profile) return notThere(call);
  if (approval.inside?.at(-1) === subject.tool && call.parent === undefined)
    return denied(`${id} is for a call inside "${subject.tool}" with other arguments. Call without it to begin anew.`);
  if (approval.tool !== subject.tool) return denied(`${id} is for another tool. Call without it to request a new one.`);
  if (approval.argumentsHash !== subject.argumentsHash)
    return denied(`${id} is for other arguments. Call without it to request a new one.`);
  if (subject.answersHash !== undefined && approval.answersHash !== subject.answersHash)
    return denied(`${id} is for other answers to the tool's questions. Call without it to request a new one.`);
  if (approval.insideHash !== subject.insideHash)
    return denied(`${id} was requested inside another call. Call without it to request a new one.`);
  if (approval.definitionHash !== subject.definitionHash)
    return denied(`${id} is for "${subject.tool}" as it was before it changed. Call without it to request a new one.`);
  return undefined;
}

/** The refusal of a call that names an approval which is not for its caller. */
export function notThere({ approvalId }: ToolCall): FailedResult {
  return denied(`The approval "${approvalId}" was not found. Call without it to request one.`);
}
