import type { Clock } from './ports/crib-context.ts';
import { FACTS, type ToolCall } from './tool-call.ts';

/** What times a call. All of it stands still while something holds it. */
export interface CallTime {
  holds: number;
  readonly timers: Set<CallTimer>;
}

interface CallTimer {
  pause(): void;
  resume(): void;
}

interface TimerOptions {
  readonly clock: Clock;
  readonly timeMs: number;
  onEnd(): void;
}

function timeOf(call: ToolCall): CallTime {
  const facts = call[FACTS];
  facts.time ??= { holds: 0, timers: new Set() };
  return facts.time;
}

/** Times a call; returns how to stop. Time in which the call is held does not count. */
export function startCallTimer(call: ToolCall, { clock, timeMs, onEnd }: TimerOptions): () => void {
  const time = timeOf(call);
  let leftMs = timeMs;
  let since = 0;
  let stopTimer: (() => void) | undefined;
  const timer: CallTimer = {
    pause() {
      stopTimer?.();
      stopTimer = undefined;
      leftMs -= clock.now() - since;
    },
    resume() {
      since = clock.now();
      stopTimer = clock.setTimer(Math.max(leftMs, 1), onEnd);
    },
  };
  time.timers.add(timer);
  if (time.holds === 0) timer.resume();
  return () => {
    time.timers.delete(timer);
    stopTimer?.();
  };
}

/** Lets the time of a call stand still, and that of the calls around it, which wait for it. Returns how to let it go on. */
export function holdCallTime(call: ToolCall): () => void {
  const held: CallTime[] = [];
  for (let one: ToolCall | undefined = call; one !== undefined; one = one.parent) held.push(timeOf(one));
  for (const time of held) {
    if (time.holds === 0) for (const timer of time.timers) timer.pause();
    time.holds++;
  }
  return () => {
    for (const time of held.splice(0)) {
      time.holds--;
      if (time.holds === 0) for (const timer of time.timers) timer.resume();
    }
  };
}
