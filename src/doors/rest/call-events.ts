import { replayOf } from '../../core/begun-runs.ts';
import { defined } from '../../core/read-options.ts';
import { FACTS, type ToolCall } from '../../core/tool-call.ts';
import { type ToolResult, tokensOf } from '../../core/tool-result.ts';

/** A call that ends within this time is reported by its end alone. */
const AT_ONCE_MS = 25;

type TellStart = (event: 'calls-started', data: object) => void;

/** Reports calls that began and still run. Most calls end at once, so this halves the number of events. */
export function watchStarts(tell: TellStart): { add(call: ToolCall): void; drop(call: ToolCall): void; stop(): void } {
  const begun = new Set<ToolCall>();
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    timer = undefined;
    for (const call of begun) tell('calls-started', toShownStart(call));
    begun.clear();
  };
  return {
    add(call) {
      begun.add(call);
      timer ??= setTimeout(report, AT_ONCE_MS).unref();
    },
    drop: (call) => begun.delete(call),
    stop: () => clearTimeout(timer),
  };
}

/** The event of a call that began, without its arguments. */
function toShownStart(call: ToolCall) {
  const { id, spec, profile, caller, door, parent, conversation, turn } = call;
  return {
    callId: id,
    ...(parent !== undefined && { parentId: parent.id }),
    tool: spec.name,
    source: spec.source,
    profile,
    ...defined({ caller: caller.id, conversation, turn }),
    door,
    at: new Date(call[FACTS].startedAt).toISOString(),
  };
}

/** The event of an ended call, without arguments and result: authorized callers look them up. */
export function toShownEnd(call: ToolCall, result: ToolResult) {
  const { startedAt, approval } = call[FACTS];
  const { at, ...began } = toShownStart(call);
  const tokens = tokensOf(result);
  const elapsedMs = Math.max(0, performance.timeOrigin + performance.now() - startedAt);
  return {
    ...began,
    outcome: result.status === 'failed' ? result.error.code : result.status,
    ...(replayOf(call) !== undefined && { isReplayed: true }),
    ...(approval !== undefined && { approval: { by: approval.by, id: approval.id } }),
    ...(tokens !== undefined && { tokens }),
    durationMs: Math.round(elapsedMs * 1000) / 1000,
    at,
  };
}
