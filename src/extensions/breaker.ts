import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { object, whole } from '../config/schema-node.ts';
import type { BreakerConfig } from '../config/types/guards.ts';
import { IS_PROBE } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
import type { TraitsOf } from '../core/ports/extension-ports.ts';
import { type ToolError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';
import { requireNumber } from '../define/read-policy.ts';

/** A source that is back is used within 5 s: this pause, one of whoever connects to it, and the connecting. */
const LONGEST_OPEN_MS = 2000;
/** A source that says that it may be asked again at once is not asked by every call for all that. */
const LEAST_OPEN_MS = 100;
/** A probe that takes longer may be a slow tool, or one that never ends: the next call probes as well. */
const PROBE_MS = 2000;
/** What a probe carries for the retry extension: it is not tried again, so that it never sleeps. */
const PROBE = { [IS_PROBE]: true };

/** What says that nobody is there, rather than that the tool did not like what it was asked. */
const DEAD: readonly ToolErrorCode[] = ['unavailable', 'upstream', 'timeout'];

/** Sources behind which there is no server. */
const SOURCES_APART = ['code', 'inline'];

interface Circuit {
  failures: number;
  openMs: number;
  /** When the next call may probe; undefined while closed. */
  probeAt: number | undefined;
  lastMessage: string;
}

/** What a call that went through the breaker was for it. */
interface Attempt {
  readonly subject: string;
  readonly isProbe: boolean;
}

/** Fails fast while a source is down, lets one call through to see whether it is back, and closes again when it is. */
export const breaker: ExtensionRecord<BreakerConfig & WithClock> = {
  name: 'breaker',
  priority: 240,
  reason: 'what is known to be down costs no slot and no waiting',
  options: object('Leaves a source alone for a while that keeps failing.', {
    failures: whole('After how many failures in a row; default 5.'),
    openMs: whole(
      'How long at first; twice as long after every probe that fails, up to 2 s, or this value where it is longer. Default one second.',
    ),
  }),
  codeOptions: ['clock'],
  make(options, ports) {
    const { failures: most = 5, openMs = 1000, clock = ports.clock } = options;
    requireNumber(most, 1, 'breaker(): failures');
    requireNumber(openMs, 1, 'breaker(): openMs');
    const longestMs = Math.max(openMs, LONGEST_OPEN_MS);
    const circuits = new Map<string, Circuit>();

    const noteFailure = ({ subject, isProbe }: Attempt, { message, retryAfterMs }: ToolError): void => {
      const circuit = circuits.get(subject) ?? newCircuit(openMs);
      circuits.set(subject, circuit);
      circuit.failures++;
      circuit.lastMessage = message;
      if (isProbe) circuit.openMs = Math.min(circuit.openMs * 2, longestMs);
      // What was under way before says nothing new, however late it fails: it does not put the next probe off.
      if (circuit.failures < most || (circuit.probeAt !== undefined && !isProbe)) return;
      // Who connects to the source says when that may be tried again, so that the next probe connects at once.
      const pauseMs = Math.max(Math.min(retryAfterMs ?? circuit.openMs, longestMs), LEAST_OPEN_MS);
      circuit.probeAt = clock.now() + pauseMs;
    };

    const note = (attempt: Attempt, result: ToolResult): ToolResult => {
      const code = result.status === 'failed' ? result.error.code : undefined;
      if (result.status === 'failed' && DEAD.includes(result.error.code)) noteFailure(attempt, result.error);
      else if (code !== 'cancelled') circuits.delete(attempt.subject);
      else if (attempt.isProbe) endProbe(circuits.get(attempt.subject), clock.now());
      return result;
    };

    return {
      applies: (spec) => ports.traitsOf(spec[RUN].kind).failsWith !== 'nothing',
      wrap(call, next) {
        const subject = subjectOf(call.spec, ports.traitsOf);
        const circuit = circuits.get(subject);
        const attempt = { subject, isProbe: circuit?.probeAt !== undefined };
        if (circuit?.probeAt !== undefined) {
          const now = clock.now();
          if (now < circuit.probeAt) return refuse(call.spec, circuit, now);
          circuit.probeAt = now + PROBE_MS;
        }
        const result = next(attempt.isProbe ? call.with(PROBE) : call);
        return isPromise(result) ? result.then((settled) => note(attempt, settled)) : note(attempt, result);
      },
    };
  },
};

function newCircuit(openMs: number): Circuit {
  return { failures: 0, openMs, probeAt: undefined, lastMessage: '' };
}

// A call that was called off says nothing about the source; the next one probes.
function endProbe(circuit: Circuit | undefined, now: number): void {
  if (circuit?.probeAt !== undefined) circuit.probeAt = now;
}

/** Tools of a server fail together; others each for themselves. */
function subjectOf(spec: ToolSpec, traitsOf: TraitsOf): string {
  const isApart = traitsOf(spec[RUN].kind).failsWith === 'tool' || SOURCES_APART.includes(spec.source);
  return isApart ? `${spec.source} ${spec.name}` : spec.source;
}

function refuse({ name, source }: ToolSpec, circuit: Circuit, now: number): FailedResult {
  const retryAfterMs = Math.max(1, Math.ceil((circuit.probeAt ?? now) - now));
  const message = `"${name}" of "${source}" is left alone because it failed ${circuit.failures} times in a row (${circuit.lastMessage}); try again in ${retryAfterMs} ms.`;
  return failed(toolError('unavailable', message, { retryable: true, retryAfterMs }));
}
