import { cribClosed } from '../call/cancellation.ts';
import { messageOf } from '../core/tool-error.ts';
import type { EngineCore } from './engine.ts';
import type { LiveSources } from './sources/live-sources.ts';

/** Maximum time that closing waits for running calls. */
const DRAIN_MS = 10_000;

/** Closes calls, setups, sources, extensions and executors in this order, then flushes the audit log. */
export async function closeEngine(core: EngineCore & { readonly sources: LiveSources }): Promise<void> {
  const { inFlight, lifetime, poller, stops, setups, extensions, trail, warnings, fixed } = core;
  await inFlight.drained(DRAIN_MS);
  lifetime.abort(cribClosed());
  poller.close();
  stops.close();
  await setups.close();
  await core.sources.close();
  for (const part of [...extensions.list(), ...extensions.retired(), ...fixed.executors.values()])
    await closePart(part, warnings.warn);
  await trail?.close();
}

/** An extension or an executor. */
type Part = { readonly name?: string; readonly kind?: string; close?(): Promise<void> };

/** Closes a part. A failure is only a warning, so that the other parts are closed, too. */
async function closePart(part: Part, warn: (message: string) => void): Promise<void> {
  try {
    await part.close?.();
  } catch (cause) {
    warn(`Closing ${part.name ?? part.kind} failed: ${messageOf(cause)}`);
  }
}
