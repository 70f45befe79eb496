import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { object, whole } from '../config/schema-node.ts';
import type { BreakerConfig } from '../config/types/guards.ts';
import { FORESEE, IS_PROBE } from '../core/extension.ts';
import type { TraitsOf } from '../core/ports/extension-ports.ts';
import { afterwards } from '../core/ports/pending-result.ts';
import { sourceTraitsOf } from '../core/source.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { type ToolError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';
import { requireNumber } from '../define/read-policy.ts';

/** A recovered source is used again within 5 s: this pause, one pause of the connection, and the time to connect. */
const LONGEST_OPEN_MS = 2000;
/** Minimum pause, even if the source allows a retry at once. */
const LEAST_OPEN_MS = 100;
/** A probe that takes longer may be a slow or stuck tool, so the next call probes, too. */
const PROBE_MS = 2000;
/** Context of a probe: the retry extension does not repeat it, so it never sleeps. */
const PROBE = { [IS_PROBE]: true };

/** Error codes that mean the source is down, not that the tool rejected its arguments. */
const DEAD: readonly ToolErrorCode[] = ['unavailable', 'upstream', 'timeout'];

interface Circuit {
  failures: number;
  openMs: number;
  /** Time of the next probe; undefined while closed. */
  probeAt: number | undefined;
  lastMessage: string;
}

/** A call that passed the breaker. */
interface Attempt {
  readonly subject: string;
  readonly isProbe: boolean;
}

/** Circuit breaker: fails fast while a source is down, probes with one call at a time, and closes when a probe succeeds. */
export const breaker: ExtensionRecord<BreakerConfig & WithClock> = {
  name: 'breaker',
  priority: 240,
  reason: 'a source that is down takes no slot and no time',
  options: object('Fails calls at once while a source keeps failing (circuit breaker).', {
    failures: whole('Failures in a row that open the circuit; default 5.'),
    openMs: whole(
      'First pause before a probe. It doubles after every failed probe, up to 2 s, or up to this value if it is longer. Default one second.',
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
      // A call that started before the circuit opened carries no news: its failure does not delay the next probe.
      if (circuit.failures < most || (circuit.probeAt !== undefined && !isProbe)) return;
      // The connection reports when to retry, so that the next probe connects at once.
      const pauseMs = Math.max(Math.min(retryAfterMs ?? circuit.openMs, longestMs), LEAST_OPEN_MS);
      circuit.probeAt = clock.now() + pauseMs;
    };

    const note = (attempt: Attempt, result: ToolResult, call: ToolCall): ToolResult => {
      // A call that was ended from outside, by its caller or by a stop of the operator, carries no news.
      const code = result.status !== 'failed' ? undefined : call.signal.aborted ? 'cancelled' : result.error.code;
      if (result.status === 'failed' && code !== undefined && DEAD.includes(code)) noteFailure(attempt, result.error);
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
        return afterwards(result, (settled) => note(attempt, settled, call));
      },
      [FORESEE]({ spec }) {
        const circuit = circuits.get(subjectOf(spec, ports.traitsOf));
        const now = clock.now();
        if (circuit?.probeAt === undefined || now >= circuit.probeAt) return undefined;
        const { error } = refuse(spec, circuit, now);
        return { verdict: 'refuse', says: error.message, error };
      },
    };
  },
};

function newCircuit(openMs: number): Circuit {
  return { failures: 0, openMs, probeAt: undefined, lastMessage: '' };
}

// A cancelled call carries no information about the source, so the next call probes.
function endProbe(circuit: Circuit | undefined, now: number): void {
  if (circuit?.probeAt !== undefined) circuit.probeAt = now;
}

/** Tools of one server share a circuit; other tools have their own. */
function subjectOf(spec: ToolSpec, traitsOf: TraitsOf): string {
  const traits = [traitsOf(spec[RUN].kind), sourceTraitsOf(spec.source)];
  const isApart = traits.some(({ failsWith }) => failsWith === 'tool');
  return isApart ? `${spec.source} ${spec.name}` : spec.source;
}

function refuse({ name, source }: ToolSpec, circuit: Circuit, now: number): FailedResult {
  const retryAfterMs = Math.max(1, Math.ceil((circuit.probeAt ?? now) - now));
  const message = `"${name}" of "${source}" is not called because it failed ${circuit.failures} times in a row (${circuit.lastMessage}). Try again in ${retryAfterMs} ms.`;
  return failed(toolError('unavailable', message, { retryable: true, retryAfterMs }));
}
