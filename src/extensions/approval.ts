import { keepBoundNodes } from '../config/policy-schema.ts';
import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { address, choice, object, text, typed, whole } from '../config/schema-node.ts';
import type { ApprovalConfig } from '../config/types/guards.ts';
import { type Ask, mayAsk, type Question, whyAsk } from '../core/approval-request.ts';
import { allowOneRun, endUnbegun, holdCallTime } from '../core/begun-runs.ts';
import { CONFIRM, FORESEE, type Next } from '../core/extension.ts';
import type { MaybePromise } from '../core/json.ts';
import { APPROVAL_MODES } from '../core/policy.ts';
import { requireBounds } from '../core/ports/stored-results.ts';
import { defined } from '../core/read-options.ts';
import { FACTS, TAKE_UP, type ToolCall } from '../core/tool-call.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { readPolicy } from '../define/read-policy.ts';

/** Requests approval once per call, for valid arguments. Without an approver, an answer or a clear yes, the tool does not run. */
export const approval: ExtensionRecord<ApprovalConfig & WithClock> = {
  name: 'approval',
  priority: 750,
  reason: 'requests approval once per call, for valid arguments',
  options: object('Requires approval before a tool runs.', {
    mode: choice(
      APPROVAL_MODES,
      'Mode for tools without a mode of their own or of the profile: dangerous = known to be destructive; cautious = not known to be read-only. Default dangerous.',
    ),
    timeoutMs: whole('Time to answer a request; default five minutes.'),
    webhook: typed(
      'WebhookConfig',
      object(
        'Sends a signed message when a call waits for approval.',
        {
          url: address('The address of the webhook.'),
          secret: text('The name of the secret that signs the message.', { use: 'secretName' }),
        },
        ['url', 'secret'],
      ),
    ),
    ...keepBoundNodes('approval requests that are waiting or running'),
  }),
  codeOptions: ['clock'],
  make(options, ports) {
    const { mode = 'dangerous', timeoutMs } = options;
    requireBounds(options, 'approval()');
    readPolicy({ approval: mode, timeoutMs }, 'approval()');
    const { ask, confirm, foresee, close } = ports.approver(options, ports);
    return {
      defaults: { approval: mode },
      applies: mayAsk,
      wrap(call, next) {
        if (call[FACTS].granted !== undefined) return continueApproved(call, next);
        const question = questionOf(call);
        return question === undefined ? next(call) : runIfApproved(call, next, ask(call, question));
      },
      close: async () => close?.(),
      [CONFIRM]: confirm,
      [FORESEE](call) {
        const question = questionOf(call);
        if (question === undefined) return { verdict: 'pass', says: 'The call requires no approval.' };
        return foresee(call, question);
      },
    };
  },
};

/** The approval required by the policy of the tool, by rules about these arguments, or by both. */
function questionOf(call: ToolCall): Question | undefined {
  const always = whyAsk(call.spec);
  const { asks } = call[FACTS];
  if (always === undefined) return asks;
  if (asks === undefined) return { reason: always, ground: always };
  return { reason: `${always}, and ${asks.reason}`, ground: `${always} ${asks.ground}` };
}

/** Continues a call that was approved before it waited. */
function continueApproved(call: ToolCall, next: Next): MaybePromise<ToolResult> {
  const { granted } = call[FACTS];
  if (granted !== undefined) call[FACTS].approval = granted;
  allowOneRun(call);
  return next(call);
}

async function runIfApproved(call: ToolCall, next: Next, asked: ReturnType<Ask>): Promise<ToolResult> {
  // The timeouts of the calls around this one do not count while an approver decides.
  const goOn = call.parent === undefined ? undefined : holdCallTime(call);
  const permit = await Promise.resolve(asked).finally(goOn);
  if (permit === 'inner') return next(call);
  if ('status' in permit) return permit;
  call[FACTS].approval = defined(permit, ['id', 'by', 'isRemembered']);
  allowOneRun(call);
  const result = await next(permit.takenUp === undefined ? call : call[TAKE_UP](permit.takenUp));
  // An approval is used up only by a run.
  const isUnused = result.status === 'failed' && permit.giveBack !== undefined && endUnbegun(call);
  await (isUnused ? permit.giveBack?.(result) : permit.finish?.(result));
  return result;
}
