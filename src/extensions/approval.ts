import type { ApprovalOptions, ApprovalPorts } from '../core/approval.ts';
import { type Ask, mayAsk, type Question, whyAsk } from '../core/approval.ts';
import { allowOneRun, endUnbegun } from '../core/begun-runs.ts';
import type { Extension, Next } from '../core/extension.ts';
import { FACTS, TAKE_UP, type ToolCall } from '../core/tool-call.ts';
import type { ToolResult } from '../core/tool-result.ts';

/** Asks a person once per call, about valid arguments. Nobody to ask, no answer, or no clear yes: not run. */
export function approval(options: Pick<ApprovalOptions, 'mode'> & ApprovalPorts): Extension {
  const { mode = 'dangerous', ask } = options;
  return {
    name: 'approval',
    priority: 750,
    unsafeOrder: true,
    defaults: { approval: mode },
    applies: mayAsk,
    wrap(call, next) {
      const question = questionOf(call);
      return question === undefined ? next(call) : runIfApproved(call, next, ask(call, question));
    },
    close: async () => options.close?.(),
  };
}

/** What the policy of the tool asks, and what the rules ask about these arguments. */
function questionOf(call: ToolCall): Question | undefined {
  const always = whyAsk(call.spec);
  const { asks } = call[FACTS];
  if (always === undefined) return asks;
  if (asks === undefined) return { reason: always, ground: always };
  return { reason: `${always}, and ${asks.reason}`, ground: `${always} ${asks.ground}` };
}

async function runIfApproved(call: ToolCall, next: Next, asked: ReturnType<Ask>): Promise<ToolResult> {
  const permit = await asked;
  if ('status' in permit) return permit;
  call[FACTS].approval = { id: permit.id, by: permit.by };
  allowOneRun(call);
  const result = await next(permit.takenUp === undefined ? call : call[TAKE_UP](permit.takenUp));
  // A yes is used by a run, and by nothing else.
  const isUnused = result.status === 'failed' && permit.giveBack !== undefined && endUnbegun(call);
  await (isUnused ? permit.giveBack?.(result) : permit.finish?.(result));
  return result;
}
