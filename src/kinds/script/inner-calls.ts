import { defined } from '../../core/read-options.ts';
import { type Redact, redactResult } from '../../core/redact-result.ts';
import { type SearchHit, toSearchAnswer } from '../../core/retriever.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { messageOf, ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import type { ToolResult } from '../../core/tool-result.ts';
import { isElsewhere } from '../../core/tool-spec.ts';
import { toSignature } from '../../formats/typescript.ts';
import type { ScriptJournal } from './script-journal.ts';
import type { InnerRequest, ScriptError, ScriptLimits, SentAnswer } from './script-messages.ts';

/** The approval request that a call waits for. */
export interface AskedApproval {
  readonly waiting: { readonly id: string; readonly expiresAt: number };
}

type Tools = ToolCall['tools'];

/** How a script makes its calls. */
interface InnerCalling {
  readonly limits: Pick<ScriptLimits, 'memoryMb'>;
  /** The batch in which a call may wait for approval; absent if the script cannot wait. */
  readonly batch?: string | undefined;
  /** The approval that an earlier run of the script requested. */
  readonly approvalId?: string | undefined;
  /** Removes the values of secrets from a text that is kept. */
  readonly redact?: Redact | undefined;
}

/** Makes a request of a script, unless its journal has the answer or the script must end. Records it before. */
export async function makeRequest(
  tools: Tools,
  request: InnerRequest,
  { limits, journal }: Pick<InnerCalling, 'limits'> & { readonly journal: ScriptJournal | undefined },
): Promise<SentAnswer | AskedApproval | { readonly refusal: ToolError }> {
  if (journal === undefined) return answerRequest(tools, request, { limits });
  const making = await journal.issue(request);
  if ('refusal' in making) return making;
  if ('answer' in making) return unknownOutcome(request.name);
  const { approvalId } = making;
  const { batch, redact } = journal;
  const sent = await answerRequest(tools, request, { limits, batch, redact, approvalId });
  if ('waiting' in sent && !(await journal.accepts(sent.waiting.id))) return cannotWait(request.name);
  return sent;
}

/** Limit of hits of one search. */
const MOST_HITS = 20;

/** Makes a call or a search for a script. Never rejects: a failure is an error that the script can catch. */
async function answerRequest(
  tools: Tools,
  request: InnerRequest,
  calling: InnerCalling,
): Promise<SentAnswer | AskedApproval> {
  const { kind, name } = request;
  const { limits } = calling;
  const input: unknown = JSON.parse(request.input); // made by JSON.stringify in the machine
  const answer =
    kind === 'search' ? await searchFor(tools, name, input) : await callFor(tools, { name, input }, calling);
  if ('waiting' in answer) return answer;
  // The machine needs the text and the parsed value at once; a larger text would only break it.
  const longest = (limits.memoryMb * 1_000_000) / 8;
  if ((answer.text?.length ?? 0) <= longest) return answer;
  const message = `The result of "${name}" has more than ${longest} characters, too many for a script with ${limits.memoryMb} MB of memory. Ask for less, or raise executors.script.memoryMb.`;
  return refused(toolError('too_large', message), name);
}

async function callFor(
  tools: Tools,
  { name, input }: { readonly name: string; readonly input: unknown },
  { batch, approvalId, redact }: InnerCalling,
): Promise<SentAnswer | AskedApproval> {
  const spec = batch === undefined ? undefined : tools.get(name);
  // A worker that runs the tool requests the approval itself, for a task of its own.
  const isPatient = batch !== undefined && !(spec !== undefined && isElsewhere(spec));
  const waits = isPatient ? { park: true, batch } : { park: false };
  const result = await tools.call(name, input, { ...waits, ...defined({ approvalId }) });
  const kept = redact === undefined ? result : redactResult(result, redact);
  if (isPatient && kept.status === 'waiting' && kept.waiting.for === 'approval') return { waiting: kept.waiting };
  return toAnswer(kept, name);
}

function toAnswer(result: ToolResult, name: string): SentAnswer {
  switch (result.status) {
    case 'failed':
      return refused(isWithoutApprover(result.error) ? mustAnswerAtOnce(name) : result.error, name);
    case 'waiting':
      return cannotWait(name);
    case 'done':
      return { isOk: true, text: JSON.stringify(toValue(result)) };
  }
}

/** The answer to a call that waits for something that the script cannot wait for. */
function cannotWait(name: string): SentAnswer {
  return refused(mustAnswerAtOnce(name), name);
}

/** The answer to a call that an earlier process made and whose result it did not record. */
function unknownOutcome(name: string): SentAnswer {
  const message = `The outcome of "${name}" is unknown: the process that ran the script ended during the call. Check whether it took effect before you call it again.`;
  return refused(toolError('unknown_outcome', message), name);
}

function isWithoutApprover({ cause }: ToolError): boolean {
  return cause instanceof ToolcribError && cause.code === 'no_approver';
}

function mustAnswerAtOnce(name: string): ToolError {
  const message = `"${name}" requires an answer first (an approval, or more input), and this script cannot wait for it: only an approver who is present can approve its calls. Call "${name}" directly.`;
  return toolError('denied', message);
}

/** The value of a call in a script: the data of the result, else its text, else its content as it is. */
function toValue({ data, content }: Extract<ToolResult, { readonly ok: true }>): unknown {
  if (data !== undefined) return data;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === content.length ? texts.join('\n') : { content };
}

function refused(error: ToolError, tool: string): SentAnswer {
  const { code, message, retryable, retryAfterMs, issues } = error;
  const shown: ScriptError = { code, message, retryable, ...defined({ retryAfterMs, issues }), tool };
  return { isOk: false, text: JSON.stringify(shown) };
}

async function searchFor(tools: Tools, words: string, given: unknown): Promise<SentAnswer> {
  const { limit = 5, expand = false } = (given ?? {}) as { readonly limit?: unknown; readonly expand?: unknown }; // checked next
  if (!Number.isInteger(limit) || typeof limit !== 'number' || limit < 1 || limit > MOST_HITS)
    return refused(
      toolError('invalid_input', `search: limit must be a whole number from 1 to ${MOST_HITS}.`),
      'search',
    );
  try {
    const { hits } = toSearchAnswer(await tools.search(words, { limit, expand: expand === true }));
    return { isOk: true, text: JSON.stringify(hits.map(toFound)) };
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return refused(toolError('invalid_input', messageOf(cause)), 'search');
  }
}

function toFound({ name, description, bundle, score, spec }: SearchHit) {
  return defined({ name, description, bundle, score: Math.round(score * 1000) / 1000, signature: toSignature(spec) });
}
