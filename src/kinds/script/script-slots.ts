import type { ToolCall } from '../../core/tool-call.ts';
import { type ToolError, toolError } from '../../core/tool-error.ts';
import { RUN } from '../../core/tool-spec.ts';

/** Limits how many scripts run at the same time. */
export interface ScriptSlots {
  /** Waits for a slot; returns a function that frees it, or the error of a call that gets none. */
  take(call: ToolCall, most: MostScripts): Promise<(() => void) | ToolError>;
}

/** Numbers of scripts that run at the same time. */
export interface MostScripts {
  readonly inCrib: number;
  /** Scripts under the profile of the call; absent if the profile has no limit. */
  readonly inProfile?: number | undefined;
}

/** Scripts that may wait for a slot. */
const MOST_WAITING = 100;
/** Scripts inside scripts. */
const DEEPEST = 3;

interface Level {
  running: number;
  readonly waiting: Set<() => void>;
}

/** Creates the slots of a crib. A script inside a script has slots of its own: otherwise both could wait for each other. */
export function createScriptSlots(): ScriptSlots {
  const levels = new Map<string, Level>();
  const levelOf = (name: string): Level => {
    const level = levels.get(name) ?? { running: 0, waiting: new Set() };
    levels.set(name, level);
    return level;
  };
  return {
    async take(call, { inCrib, inProfile }) {
      const depth = scriptsAround(call);
      if (depth > DEEPEST)
        return toolError('denied', `"${call.spec.name}" was not run: scripts may be nested ${DEEPEST} levels deep.`);
      const own =
        inProfile === undefined ? () => {} : await takeOf(levelOf(`${depth} ${call.profile}`), call, inProfile);
      if (typeof own !== 'function') return own;
      const free = await takeOf(levelOf(`${depth}`), call, inCrib);
      if (typeof free === 'function')
        return () => {
          free();
          own();
        };
      own();
      return free;
    },
  };
}

async function takeOf(level: Level, call: ToolCall, most: number): Promise<(() => void) | ToolError> {
  if (level.running >= most) {
    if (level.waiting.size >= MOST_WAITING)
      return toolError('unavailable', 'Too many scripts are waiting. Try again later.', {
        retryable: true,
        retryAfterMs: 1000,
      });
    const ended = await turnOf(call, level);
    if (ended !== undefined) return ended;
  } else level.running++;
  return () => {
    const [next] = level.waiting;
    if (next === undefined) level.running--;
    else next(); // it takes over the slot
  };
}

/** Waits until a slot is free, or the call ends. */
function turnOf(call: ToolCall, { waiting }: Level): Promise<ToolError | undefined> {
  return new Promise((resolve) => {
    let stopListening = (): void => {};
    const go = (reason?: ToolError): void => {
      waiting.delete(next);
      stopListening();
      resolve(reason);
    };
    const next = (): void => go();
    waiting.add(next);
    stopListening = call.onAbort(go);
  });
}

/** The number of scripts that a call is nested in. */
export function scriptsAround(call: ToolCall): number {
  let depth = 0;
  for (let outer = call.parent; outer !== undefined; outer = outer.parent) {
    if (outer.spec[RUN].kind === 'script') depth++;
  }
  return depth;
}
