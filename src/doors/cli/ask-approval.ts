import type { ApprovalRequest, Approve } from '../../core/caller.ts';
import { approvalText } from '../../core/text/approval-text.ts';
import type { Interruption } from './interrupt.ts';
import { note, toLine } from './output/output.ts';
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
  note(approvalText(request));
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
