import { ok } from 'node:assert/strict';
import type { MaybePromise } from '../core/json.ts';
import type { LiveSource, Source, SourceContext } from '../core/source.ts';
import { within } from './one-call.ts';
import type { SourceSubject } from './source-subject.ts';

/** Runs a test with a source that was started for it, and is closed whatever becomes of it. */
export async function withLive(subject: SourceSubject, test: (live: LiveSource) => MaybePromise<void>): Promise<void> {
  const source = await subject.create();
  ok(typeof source?.name === 'string' && typeof source.start === 'function', 'A source has a name and start().');
  const { started, abort } = startOf(source);
  const live = await within(started, 'start() does not end.');
  try {
    await test(live);
  } finally {
    abort();
    await within(live.close(), 'close() does not end.');
  }
}

/** A source on its way. */
interface StartedSource {
  readonly started: Promise<LiveSource>;
  /** As when the crib closes. */
  abort(): void;
}

/** Starts a source as a crib would. */
export function startOf(source: Source): StartedSource {
  const closing = new AbortController();
  const context: SourceContext = { clock: CLOCK, services: {}, signal: closing.signal, warn: () => {} };
  const started = (async () => source.start(context))(); // a throw is a rejection, too
  return { started, abort: () => closing.abort() };
}

const CLOCK: SourceContext['clock'] = {
  now: () => performance.timeOrigin + performance.now(),
  setTimer(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};
