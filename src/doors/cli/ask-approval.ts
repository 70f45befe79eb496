import type { ApprovalRequest, Approve } from '../../core/caller.ts';
import type { Interruption } from './interrupt.ts';
import { note, paint, toLine, toLines } from './output.ts';
import { whoIsHere } from './who-is-here.ts';

/** Asks on the terminal, one question after the other; where there is none, nobody can be asked. */
export function approveOnTerminal(interruption: Interruption): Approve | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  let before: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = before.then(async () => ({ approved: await ask(request, interruption), by: whoIsHere() }));
    before = answer.catch(() => undefined);
    return answer;
  };
}

async function ask(request: ApprovalRequest, interruption: Interruption): Promise<boolean> {
  if (request.signal.aborted) return false;
  const { confirm, isCancel } = await import('@clack/prompts');
  note(describeRequest(request));
  const answer = await confirm({
    message: `Run ${toLine(request.tool)}?`,
    initialValue: false,
    input: process.stdin,
    output: process.stderr,
    signal: request.signal,
  });
  if (isCancel(answer) && !request.signal.aborted) interruption.interrupt(); // Ctrl-C, which the prompt took itself
  return answer === true;
}

function describeRequest({
  tool,
  title,
  description,
  reason,
  profile,
  caller,
  expiresAt,
  ...request
}: ApprovalRequest): string {
  const rows: readonly (readonly [string, string])[] = [
    ['tool', toLine(title === undefined ? tool : `${tool} (${title})`)],
    ['does', toLine(description)],
    ['arguments', toLines(JSON.stringify(request.arguments, null, 2))],
    ['asks because', toLine(reason)],
    ['profile', toLine(profile)],
    ['caller', toLine(caller.id ?? 'nobody in particular')],
    ['expires', new Date(expiresAt).toISOString()],
  ];
  return rows.map(([key, value]) => `${paint('bold', key.padEnd(12), process.stderr)}  ${value}`).join('\n');
}
