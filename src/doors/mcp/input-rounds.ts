import type { InputRequest, InputRequiredResult } from '@modelcontextprotocol/server';
import type { CallOptions } from '../../call/call-input.ts';
import { approvalText } from '../../core/approval-text.ts';
import type { Caller } from '../../core/caller.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { defined } from '../../core/read-options.ts';
import type { WaitingResult } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { Crib } from '../../crib/crib.ts';

/** One request of a call that may take several. */
export interface Round {
  readonly caller: Caller;
  readonly profile: string;
  /** The name that the client called. */
  readonly called: string;
  /** The tool that runs. */
  readonly spec: ToolSpec;
  readonly arguments: unknown;
  /** What the client can be asked for; undefined where it cannot be asked at all. */
  readonly capabilities: JsonObject | undefined;
  /** What it answered to questions of an earlier round. */
  readonly responses: Readonly<Record<string, unknown>> | undefined;
}

/** What the text that a client carries says to us. */
interface Carried {
  /** The request for approval that it was asked about. */
  readonly approvalId?: string;
  /** The request by which a running call asked, which waits for the answer. */
  readonly question?: string;
  /** What the tool's own server wants back. */
  readonly state?: string;
  /** The keys of the questions that the tool's server asked: answers under other keys are not for it. */
  readonly asked?: readonly string[];
  /** Answers for the tool that came before it was asked about the approval. */
  readonly responses?: JsonObject;
}

/** What was answered; who closed the question without an answer is not asked again at once. */
export interface AnsweredRound extends Pick<CallOptions, 'answers' | 'approvalId'> {
  readonly isClosed: boolean;
  /** What a running call asked, and whether the client says yes. */
  readonly question?: { readonly id: string; readonly isYes: boolean };
}

/** Under this name a client is asked whether a tool may run; no server further up can ask so. */
const APPROVAL_KEY = 'toolcrib/approval';

/** What the client's answers mean for the call. Without what we sealed when we asked they mean nothing; undefined if what it carries is not ours, changed, over, or used before. */
export async function readAnswers(
  crib: Crib,
  round: Round,
  sealed: string | undefined,
): Promise<AnsweredRound | undefined> {
  const carried: Carried | undefined = sealed === undefined ? {} : await crib.server.requestStates.open(round, sealed);
  if (carried === undefined) return undefined;
  const { approvalId, state, question } = carried;
  if (question !== undefined) {
    const isYes = decisionOf(answerTo(APPROVAL_KEY, round)) === true; // no answer is a no
    return { isClosed: false, question: { id: question, isYes } };
  }
  const said = approvalId === undefined ? undefined : decisionOf(answerTo(APPROVAL_KEY, round));
  const isYesOrNo = typeof said === 'boolean';
  const responses = carried.responses ?? answersTo(carried.asked ?? [], round);
  const input = {
    ...defined({ capabilities: round.capabilities, responses, state }),
  };
  return {
    answers: { ...(isYesOrNo && { approval: said }), ...(Object.keys(input).length > 0 && { input }) },
    ...(isYesOrNo && approvalId !== undefined && { approvalId }),
    isClosed: said === 'closed',
  };
}

/** What the client answered to what the tool's server asked for, and nothing else; undefined if that is nothing. */
function answersTo(asked: readonly string[], round: Round): JsonObject | undefined {
  const given = asked.flatMap((key) => {
    const answer = key === APPROVAL_KEY ? undefined : answerTo(key, round);
    return answer === undefined ? [] : [[key, answer] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function answerTo(key: string, { responses = {} }: Round): JsonValue | undefined {
  return Object.hasOwn(responses, key) ? (responses[key] as JsonValue) : undefined; // JSON from the wire
}

/** A clear yes, or a clear no. */
function decisionOf(response: unknown): boolean | 'closed' | undefined {
  if (typeof response !== 'object' || response === null || !('action' in response)) return undefined;
  if (response.action === 'decline') return false;
  if (response.action !== 'accept') return response.action === 'cancel' ? 'closed' : undefined;
  const content: unknown = 'content' in response ? response.content : undefined;
  return typeof content === 'object' && content !== null && 'approve' in content && content.approve === true;
}

/** The question to the client itself; undefined where somebody else has to answer, or it cannot be asked. */
export async function askClient(
  crib: Crib,
  round: Round,
  { waiting, answered }: { readonly waiting: WaitingResult['waiting']; readonly answered: AnsweredRound },
): Promise<InputRequiredResult | undefined> {
  if (round.capabilities === undefined || answered.isClosed) return undefined;
  const asked = waiting.for === 'approval' ? await askApproval(crib, round, waiting.id) : readAsk(waiting.ask);
  if (asked === undefined) return undefined;
  const carried = waiting.for === 'approval' ? approvalState(waiting.id, answered) : inputState(asked);
  const requestState = await crib.server.requestStates.seal(round, carried, waiting.expiresAt);
  return { resultType: 'input_required', inputRequests: asked.requests, requestState };
}

/** True if a running tool may ask its client, where that may answer for itself. */
export function mayAskInside({ capabilities, spec }: Round): boolean {
  return mayElicit(capabilities) && spec.policy.approvers?.includes('caller') === true;
}

/** What a running call asks, for its client; undefined where somebody else has to answer. Its time is that of the request. */
export async function askInside(
  crib: Crib,
  round: Round,
  question: string,
): Promise<{ readonly result: InputRequiredResult; readonly expiresAt: number } | undefined> {
  const asked = await askApproval(crib, round, question);
  if (asked === undefined) return undefined;
  const { requests, expiresAt } = asked;
  const requestState = await crib.server.requestStates.seal(round, { question }, expiresAt);
  return { result: { resultType: 'input_required', inputRequests: requests, requestState }, expiresAt };
}

/** What came for the tool already is not asked for again. */
function approvalState(approvalId: string, { answers }: AnsweredRound): JsonObject & Carried {
  const { responses, state } = answers?.input ?? {};
  return { approvalId, ...(responses !== undefined && { responses }), ...(state !== undefined && { state }) };
}

function inputState({ requests, state }: Asked): JsonObject & Carried {
  return { asked: Object.keys(requests), ...(state !== undefined && { state }) };
}

interface Asked {
  readonly requests: Readonly<Record<string, InputRequest>>;
  readonly state?: string;
}

async function askApproval(
  crib: Crib,
  round: Round,
  id: string,
): Promise<(Asked & { readonly expiresAt: number }) | undefined> {
  if (!mayElicit(round.capabilities)) return undefined;
  const approval = await crib.approvals.get(id);
  // Of the tool that is to run, which a call of `call_tool` only names.
  if (!approval?.approvers.includes('caller')) return undefined;
  const message = approvalText(approval);
  const words =
    approval.question === undefined
      ? { title: 'Run it', description: `Whether "${approval.tool}" may run.` }
      : { title: 'Yes', description: `What "${approval.tool}" is answered.` };
  const approve = { type: 'boolean', ...words } as const;
  const requestedSchema = { type: 'object', properties: { approve }, required: ['approve'] } as const;
  const params = { mode: 'form', message, requestedSchema } as const;
  const request = { method: 'elicitation/create', params } as unknown as InputRequest; // as the protocol has it
  return { requests: { [APPROVAL_KEY]: request }, expiresAt: approval.expiresAt };
}

/** A bare `elicitation: {}` means forms. */
function mayElicit(capabilities: JsonObject | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  if (typeof elicitation !== 'object' || elicitation === null) return false;
  return 'form' in elicitation || !('url' in elicitation);
}

/** What a server further up asks for, as it came. */
function readAsk(ask: JsonValue | undefined): Asked | undefined {
  if (typeof ask !== 'object' || ask === null || Array.isArray(ask)) return undefined;
  const { inputRequests, requestState } = ask as JsonObject; // neither null nor a list
  if (typeof inputRequests !== 'object' || inputRequests === null) return undefined;
  const requests = inputRequests as unknown as Asked['requests']; // the protocol judges each of them
  return { requests, ...(typeof requestState === 'string' && { state: requestState }) };
}
