import { keepBoundNodes } from '../config/policy-schema.ts';
import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { address, choice, object, text, typed, whole } from '../config/schema-node.ts';
import type { ApprovalConfig } from '../config/types/guards.ts';
import { type Ask, mayAsk, type Question, whyAsk } from '../core/approval-request.ts';
import { allowOneRun, endUnbegun } from '../core/begun-runs.ts';
import { CONFIRM, type Next } from '../core/extension.ts';
import { APPROVAL_MODES } from '../core/policy.ts';
import { requireBounds } from '../core/ports/stored-results.ts';
import { FACTS, TAKE_UP, type ToolCall } from '../core/tool-call.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { readPolicy } from '../define/read-policy.ts';

/** Asks a person once per call, about valid arguments. Nobody to ask, no answer, or no clear yes: not run. */
export const approval: ExtensionRecord<ApprovalConfig & WithClock> = {
  name: 'approval',
  priority: 750,
  reason: 'a person is asked once per call, about valid arguments',
  options: object('Asks a person before a tool runs.', {
    mode: choice(
      APPROVAL_MODES,
      'Where neither tool nor profile speaks: dangerous = known to be destructive; cautious = not known to be read-only. Default dangerous.',
    ),
    timeoutMs: whole('How long it waits for an answer; default five minutes.'),
    webhook: typed(
      'WebhookConfig',
      object(
        'Sends a signed message when a call waits for approval.',
        {
          url: address('Where to.'),
          secret: text('The name of the secret that signs the message.', { use: 'secretName' }),
        },
        ['url', 'secret'],
      ),
    ),
    ...keepBoundNodes('requests for approval that wait or run'),
  }),
  codeOptions: ['clock'],
  make(options, ports) {
    const { mode = 'dangerous', timeoutMs } = options;
    requireBounds(options, 'approval()');
    readPolicy({ approval: mode, timeoutMs }, 'approval()');
    const { ask, confirm, close } = ports.approver(options, ports);
    return {
      defaults: { approval: mode },
      applies: mayAsk,
      wrap(call, next) {
        const question = questionOf(call);
        return question === undefined ? next(call) : runIfApproved(call, next, ask(call, question));
      },
      close: async () => close?.(),
      [CONFIRM]: confirm,
    };
  },
};

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
