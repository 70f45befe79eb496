import { approvalText } from '../../core/approval-text.ts';
import type { ApprovalRequest, Approve } from '../../core/caller.ts';
import type { Flags } from './flags.ts';
import { whoIsHere } from './open-crib.ts';
import { type Interruption, note, toLine } from './output.ts';

/** The approver of a command: `--yes`, or the user at the terminal. */
export function approverOf({ yes }: Flags, interruption: Interruption): Approve | undefined {
  return yes === true ? () => ({ approved: true, note: '--yes', by: whoIsHere() }) : approveOnTerminal(interruption);
}

/** Asks on the terminal, one question at a time; undefined if stdin or stderr is not a terminal. */
function approveOnTerminal(interruption: Interruption): Approve | undefined {
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
    message: request.question === undefined ? `Run ${toLine(request.tool)}?` : 'Yes?',
    initialValue: false,
    input: process.stdin,
    output: process.stderr,
    signal: request.signal,
  });
  if (isCancel(answer) && !request.signal.aborted) interruption.interrupt(); // Ctrl-C, which the prompt handled itself
  return answer === true;
}
