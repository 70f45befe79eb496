import type { ApprovalOutcome } from '../../../approvals/approvals.ts';
import type { Approval } from '../../../approvals/shown-approvals.ts';
import { argumentsLine } from '../../../core/approval-text.ts';
import type { Caller } from '../../../core/caller.ts';
import type { ApprovalState } from '../../../core/ports/approval-states.ts';
import type { GrantTerms, Remember } from '../../../core/ports/remember.ts';
import { defined } from '../../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { visible, visibleJson } from '../../../core/visible-text.ts';
import type { Crib } from '../../../crib/crib.ts';
import { toShownApproval, toShownGrant, toTime } from '../../shown.ts';
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
  if (verb === 'grants') return withStore(flags, (crib) => listGrants(crib, flags));
  if (verb !== 'show' && !isVerb(verb))
    throw usage(`approvals takes show, approve, deny, grants or forget, not "${verb}".`, 'approvals');
  if (id === undefined)
    throw usage(`"toolcrib approvals ${verb}" needs an ID. "toolcrib approvals" lists them.`, 'approvals');
  if (verb === 'show') return withStore(flags, (crib) => showApproval(crib, id));
  const remember = rememberOf(flags);
  return withStore(flags, async (crib) => {
    const outcome = await act(crib, { verb, id, note: flags.note, remember });
    if (!outcome.ok) throw new ToolcribError('failed', outcome.error.message);
    if (flags.json === true) printApprovals({ approval: toShownApproval(outcome.approval) });
    else print(`${id} ${VERBS[verb]}`);
    if (verb === 'approve' && outcome.approval.isParked) note(whatFollows(outcome.approval));
    return 0;
  });
}

function whatFollows({ id, door, batch }: Approval): string {
  if (batch !== undefined && door === 'cli')
    return `The script goes on when its command is repeated with --approval ${id}.`;
  if (batch !== undefined) return 'The script goes on once all of its waiting calls are answered.';
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
      approvals.flatMap(toRows),
    );
  return 0;
}

function printApprovals(value: unknown): void {
  print(visibleJson(JSON.stringify(value, null, 2)));
}

/** One row for a request; for a batch one row, and one for each call. */
function toRows(approval: Approval): readonly (readonly string[])[] {
  const { id, tool, caller, reason, question, expiresAt, state, items } = approval;
  const why = question === undefined ? reason : `it asks: ${question}`;
  const shown = [tool, caller.id ?? '', why].map(visible);
  const row = [id, ...shown, toTime(expiresAt), state];
  if (items === undefined) return [[...row, argumentsLine(approval)]];
  const calls = items.map((item) => [
    `- ${item.id}`,
    ...[item.tool, caller.id ?? '', item.reason].map(visible),
    toTime(item.expiresAt),
    item.state,
    argumentsLine(item),
  ]);
  return [[...row, `${items.length} calls:`], ...calls];
}

async function listGrants(crib: Crib, flags: Flags): Promise<ExitCode> {
  const grants = (await crib.approvals.grants()).map(toShownGrant);
  if (flags.json === true) printApprovals({ grants });
  else if (grants.length === 0) note('No approvals are remembered.');
  else
    printTable(
      ['ID', 'TOOL', 'CALLER', 'BY', 'EXPIRES', 'USES LEFT', { heading: 'REMEMBERED', isWhole: true }],
      grants.map(({ id, tool = '', caller, by, expiresAt, usesLeft, remember, arguments: given }) => [
        id,
        ...[tool, caller?.id ?? '', by].map(visible),
        expiresAt,
        usesLeft === undefined ? '' : String(usesLeft),
        `${visibleJson(JSON.stringify(remember ?? ''))} ${argumentsLine({ arguments: given ?? {} })}`,
      ]),
    );
  return 0;
}

function requireFitting(verb: string | undefined, flags: Flags): void {
  if (verb !== undefined && flags.state !== undefined)
    throw usage('--state only filters the list: use it without a verb.', 'approvals');
  const isAnswer = verb === 'approve' || verb === 'deny';
  if (flags.note !== undefined && !isAnswer) throw usage('--note can only be used with approve or deny.', 'approvals');
  for (const flag of ['remember', 'uses', 'vary'] as const)
    if (flags[flag] !== undefined && verb !== 'approve')
      throw usage(`--${flag} can only be used with approve.`, 'approvals');
}

function rememberOf({ remember, uses, vary }: Flags): Remember | undefined {
  const scope = remember === undefined ? undefined : readRemember(remember);
  if (uses === undefined && vary === undefined) return scope;
  if (uses === undefined) throw usage('--vary needs --uses: the number of further calls.', 'approvals');
  if (typeof scope !== 'object')
    throw usage('--uses needs an end: --remember with a time such as 30m, 12h or 7d.', 'approvals');
  if (!/^[0-9]{1,9}$/.test(uses)) throw usage(`--uses takes a whole number, not "${uses}".`, 'approvals');
  return { ...scope, uses: Number(uses), ...(vary !== undefined && { vary: readVary(vary) }) };
}

function readVary(text: string): NonNullable<GrantTerms['vary']> {
  try {
    return JSON.parse(text); // the crib checks it
  } catch (cause) {
    const example = `'{"amount":{"maximum":100}}'`;
    throw usage(`--vary takes a JSON object such as ${example}: ${messageOf(cause)}`, 'approvals');
  }
}

function readRemember(text: string): 'conversation' | 'arguments' | { readonly forMs: number } {
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
