import type { InputRequest, InputRequiredResult } from '@modelcontextprotocol/server';
import type { Approval } from '../../approvals/shown-approvals.ts';
import type { CallOptions } from '../../call/call-input.ts';
import { textOfRequest } from '../../core/approval-text.ts';
import type { Caller } from '../../core/caller.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { defined } from '../../core/read-options.ts';
import type { WaitingResult } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { Crib } from '../../crib/crib.ts';

/** One request of a call that may need several requests. */
export interface Round {
  readonly caller: Caller;
  readonly profile: string;
  /** The name that the client called. */
  readonly called: string;
  /** The tool that runs. */
  readonly spec: ToolSpec;
  readonly arguments: unknown;
  /** The capabilities of the client; undefined if it cannot be asked at all. */
  readonly capabilities: JsonObject | undefined;
  /** Answers of the client to questions of an earlier round. */
  readonly responses: Readonly<Record<string, unknown>> | undefined;
}

/** The content of the sealed `requestState` that a client returns. */
interface Carried {
  /** The approval request that the client was asked about. */
  readonly approvalId?: string;
  /** The approval request of a running call that waits for the answer. */
  readonly question?: string;
  /** The state of the upstream server of the tool. */
  readonly state?: string;
  /** The keys of the questions of the upstream server: it gets no answers under other keys. */
  readonly asked?: readonly string[];
  /** Answers for the tool from before the approval question. */
  readonly responses?: JsonObject;
}

/** The answers of a round. `isClosed`: the user dismissed the question, and is not asked again at once. */
export interface AnsweredRound extends Pick<CallOptions, 'answers' | 'approvalId'> {
  readonly isClosed: boolean;
  /** The question of a running call, and the answer. */
  readonly question?: { readonly id: string; readonly isYes: boolean };
}

/** The key of our approval question; an upstream server cannot use it. */
const APPROVAL_KEY = 'toolcrib/approval';

/** Reads the answers of the client. They count only with our sealed state; undefined if that state is foreign, changed, expired or already used. */
export async function readAnswers(
  crib: Crib,
  round: Round,
  sealed: string | undefined,
): Promise<AnsweredRound | undefined> {
  const carried: Carried | undefined = sealed === undefined ? {} : await crib.server.requestStates.open(round, sealed);
  if (carried === undefined) return undefined;
  const { approvalId, state, question } = carried;
  if (question !== undefined) {
    const isYes = decisionOf(answerTo(APPROVAL_KEY, round)) === true; // no answer means no
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

/** The answers to questions of the upstream server, and no others; undefined if there are none. */
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

/** True for yes, false for no, `closed` if the user dismissed the question; undefined for anything else. */
function decisionOf(response: unknown): boolean | 'closed' | undefined {
  if (typeof response !== 'object' || response === null || !('action' in response)) return undefined;
  if (response.action === 'decline') return false;
  if (response.action !== 'accept') return response.action === 'cancel' ? 'closed' : undefined;
  const content: unknown = 'content' in response ? response.content : undefined;
  return typeof content === 'object' && content !== null && 'approve' in content && content.approve === true;
}

/** The question to the client; undefined if another approver must answer or the client cannot be asked. */
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

/** True if a running tool may ask its client: the client supports it, and the policy lets the caller answer. */
export function mayAskInside({ capabilities, spec }: Round): boolean {
  return mayElicit(capabilities) && spec.policy.approvers?.includes('caller') === true;
}

/** The question of a running call to its client; undefined if another approver must answer. It expires with its approval request. */
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

/** The state of an approval question. It includes answers that the tool already has, so that they are not asked again. */
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
  // The approvers of the tool that runs; a call of `call_tool` only names it.
  if (!approval?.approvers.includes('caller')) return undefined;
  const message = textOfRequest(approval);
  const approve = { type: 'boolean', ...wordsOf(approval) } as const;
  const requestedSchema = { type: 'object', properties: { approve }, required: ['approve'] } as const;
  const params = { mode: 'form', message, requestedSchema } as const;
  const request = { method: 'elicitation/create', params } as unknown as InputRequest; // the shape of the protocol
  return { requests: { [APPROVAL_KEY]: request }, expiresAt: approval.expiresAt };
}

function wordsOf({ tool, question, items }: Pick<Approval, 'tool' | 'question' | 'items'>) {
  if (items !== undefined) return { title: 'Run them', description: `Allow these ${items.length} calls to run.` };
  if (question === undefined) return { title: 'Run it', description: `Allow "${tool}" to run.` };
  return { title: 'Yes', description: `Answer the question of "${tool}" with yes.` };
}

/** True if the client supports forms; an empty `elicitation: {}` means forms. */
function mayElicit(capabilities: JsonObject | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  if (typeof elicitation !== 'object' || elicitation === null) return false;
  return 'form' in elicitation || !('url' in elicitation);
}

/** The questions of an upstream server, unchanged. */
function readAsk(ask: JsonValue | undefined): Asked | undefined {
  if (typeof ask !== 'object' || ask === null || Array.isArray(ask)) return undefined;
  const { inputRequests, requestState } = ask as JsonObject; // neither null nor a list
  if (typeof inputRequests !== 'object' || inputRequests === null) return undefined;
  const requests = inputRequests as unknown as Asked['requests']; // the SDK validates each of them
  return { requests, ...(typeof requestState === 'string' && { state: requestState }) };
}
