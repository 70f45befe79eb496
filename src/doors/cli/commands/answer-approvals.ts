import type { ApprovalOutcome } from '../../../approvals/approvals.ts';
import type { Approval } from '../../../approvals/shown-approvals.ts';
import { argumentsLine } from '../../../core/approval-text.ts';
import type { Caller } from '../../../core/caller.ts';
import type { ApprovalState } from '../../../core/ports/approval-states.ts';
import type { Remember } from '../../../core/ports/remember.ts';
import { defined } from '../../../core/read-options.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { visible, visibleJson } from '../../../core/visible-text.ts';
import type { Crib } from '../../../crib/crib.ts';
import { toShownApproval, toTime } from '../../shown.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, readDurationMs, usage } from '../flags.ts';
import { whoIsHere, withStore } from '../open-crib.ts';
import { note, print } from '../output.ts';
import { flexible, printTable } from '../table.ts';

const VERBS = { approve: 'approved', deny: 'denied', forget: 'forgotten' } as const;
type Verb = keyof typeof VERBS;

/** `toolcrib approvals`: lists, shows and answers approval requests. It runs no calls. */
export function answerApprovals({ words, flags }: Invocation): Promise<ExitCode> {
  const [verb, id] = words;
  requireFitting(verb, flags);
  if (verb === undefined) return withStore(flags, (crib) => listApprovals(crib, flags));
  if (verb !== 'show' && !isVerb(verb))
    throw usage(`approvals takes show, approve, deny or forget, not "${verb}".`, 'approvals');
  if (id === undefined)
    throw usage(`"toolcrib approvals ${verb}" needs an ID. "toolcrib approvals" lists them.`, 'approvals');
  if (verb === 'show') return withStore(flags, (crib) => showApproval(crib, id));
  const remember = flags.remember === undefined ? undefined : readRemember(flags.remember);
  return withStore(flags, async (crib) => {
    const outcome = await act(crib, { verb, id, note: flags.note, remember });
    if (!outcome.ok) throw new ToolcribError('failed', outcome.error.message);
    if (flags.json === true) printApprovals({ approval: toShownApproval(outcome.approval) });
    else print(`${id} ${VERBS[verb]}`);
    if (verb === 'approve' && outcome.approval.isParked) note(whatFollows(outcome.approval));
    return 0;
  });
}

function whatFollows({ id, door }: Approval): string {
  if (door === 'rest' || door === 'mcp') return 'The server that received the call runs it now.';
  return `The call has not run yet. To run it, the caller repeats the same call with --approval ${id}.`;
}

interface Action {
  readonly verb: Verb;
  readonly id: string;
  readonly note: string | undefined;
  readonly remember: Remember | undefined;
}

function act(crib: Crib, { verb, id, note: said, remember }: Action): Promise<ApprovalOutcome> {
  const by: Caller = { id: whoIsHere(), operator: true };
  if (verb === 'forget') return crib.approvals.forget(id, by);
  const decision = defined({ decision: verb, note: said, remember });
  return crib.approvals.answer(id, decision, by);
}

/** Prints one request with its full arguments, which the list cuts. */
async function showApproval(crib: Crib, id: string): Promise<ExitCode> {
  const approval = await crib.approvals.get(id);
  if (approval === undefined)
    throw new ToolcribError(
      'failed',
      `The approval "${id}" was not found. "toolcrib approvals --state all" lists them.`,
    );
  print(escapeInvisible(JSON.stringify({ approval: toShownApproval(approval) }, null, 2)));
  return 0;
}

/** Escapes invisible characters in JSON, including those that change the text direction. */
function escapeInvisible(json: string): string {
  const toCode = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => character.split('').map(toCode).join(''));
}

async function listApprovals(crib: Crib, flags: Flags): Promise<ExitCode> {
  const { state = 'waiting' } = flags;
  const approvals = await crib.approvals.list(state === 'all' ? {} : { state: state as ApprovalState }); // the flag allows only these values
  if (flags.json === true) printApprovals({ approvals: approvals.map(toShownApproval) });
  else if (approvals.length === 0)
    note(state === 'waiting' ? 'No calls are waiting for approval.' : 'No approvals found.');
  else
    printTable(
      ['ID', 'TOOL', 'CALLER', flexible('REASON'), 'EXPIRES', 'STATE', { heading: 'ARGUMENTS', isWhole: true }],
      approvals.map(toRow),
    );
  return 0;
}

function printApprovals(value: unknown): void {
  print(visibleJson(JSON.stringify(value, null, 2)));
}

function toRow(approval: Approval): readonly string[] {
  const { id, tool, caller, reason, question, expiresAt, state } = approval;
  const why = question === undefined ? reason : `it asks: ${question}`;
  const shown = [tool, caller.id ?? '', why].map(visible);
  return [id, ...shown, toTime(expiresAt), state, argumentsLine(approval)];
}

function requireFitting(verb: string | undefined, flags: Flags): void {
  if (verb !== undefined && flags.state !== undefined)
    throw usage('--state only filters the list: use it without a verb.', 'approvals');
  const isAnswer = verb === 'approve' || verb === 'deny';
  if (flags.note !== undefined && !isAnswer) throw usage('--note can only be used with approve or deny.', 'approvals');
  if (flags.remember !== undefined && verb !== 'approve')
    throw usage('--remember can only be used with approve.', 'approvals');
}

function readRemember(text: string): Remember {
  if (text === 'conversation' || text === 'arguments') return text;
  const forMs = readDurationMs(text);
  if (forMs !== undefined) return { forMs };
  throw usage(
    `--remember takes conversation, arguments, or a time such as 30m, 12h or 7d, not "${text}".`,
    'approvals',
  );
}

function isVerb(word: string): word is Verb {
  return Object.hasOwn(VERBS, word);
}
