import type { Call } from '../../call/call.ts';
import type { Cancellation } from '../../call/cancellation.ts';
import { endUnbegun, mayBeRepeated } from '../../core/begun-runs.ts';
import { FACTS, type ToolCall } from '../../core/tool-call.ts';
import { toolError } from '../../core/tool-error.ts';

/** A call in flight in this process, without its arguments. */
export interface RunningCall {
  readonly callId: string;
  readonly parentId?: string;
  readonly tool: string;
  readonly source: string;
  readonly profile: string;
  readonly door: string;
  readonly caller?: string;
  readonly conversation?: string;
  readonly turn?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The calls in flight of a crib. Calls that end synchronously are never in flight. */
export interface RunningCalls {
  list(): readonly RunningCall[];
  /** Cancels the calls for which `isMeant` holds, and returns their number. `by` is the caller who cancels. */
  cancel(isMeant: (call: RunningCall) => boolean, by: string): number;
}

/** Lists and cancels the calls that follow a lifetime. `now` is the clock of the start of calls. */
export function createRunningCalls(lifetime: Cancellation, now: () => number): RunningCalls {
  const running = () => lifetime.followers() as readonly Call[]; // the calls of the crib follow its lifetime
  const shown = (call: ToolCall): RunningCall => toRunning(call, Date.now() - (now() - call[FACTS].startedAt));
  return {
    list: () => running().map(shown),
    cancel(isMeant, by) {
      const meant = running().filter((call) => isMeant(shown(call)));
      // Nested calls first: each gets its own reason, not that of the call around it.
      const inwards = meant.toSorted((a, b) => depthOf(b) - depthOf(a));
      for (const call of inwards) call.cancellation.abort(cancelledError(call, by));
      return meant.length;
    },
  };
}

function toRunning(call: ToolCall, at: number): RunningCall {
  const { id, parent, spec, profile, door, caller, conversation, turn } = call;
  return {
    callId: id,
    ...(parent !== undefined && { parentId: parent.id }),
    tool: spec.name,
    source: spec.source,
    profile,
    door,
    ...(caller.id !== undefined && { caller: caller.id }),
    ...(conversation !== undefined && { conversation }),
    ...(turn !== undefined && { turn }),
    at: Math.round(at),
  };
}

function depthOf(call: ToolCall): number {
  return call.parent === undefined ? 0 : 1 + depthOf(call.parent);
}

function cancelledError(call: ToolCall, by: string) {
  const { name } = call.spec;
  if (endUnbegun(call)) return toolError('cancelled', `"${name}" was cancelled by ${by} before it began.`);
  if (mayBeRepeated(call.spec)) return toolError('cancelled', `"${name}" was cancelled by ${by}.`);
  const message = `"${name}" was cancelled by ${by} while it ran. It may have taken effect: check before you call it again.`;
  return toolError('unknown_outcome', message);
}
