import type { Extension } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
import type { Clock } from '../core/ports.ts';
import { type ToolErrorCode, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';

export interface BreakerOptions {
  /** After how many failures in a row it opens; 5 if absent. */
  readonly failures?: number;
  /** How long it stays open at first; twice as long after every probe that fails. One second if absent. */
  readonly openMs?: number;
}

const LONGEST_OPEN_MS = 60_000;

/** What says that nobody is there, rather than that the tool did not like what it was asked. */
const DEAD: readonly ToolErrorCode[] = ['unavailable', 'upstream', 'timeout'];

/** Kinds of which every tool reaches something of its own; a function in this process cannot be down at all. */
const KINDS_APART = ['http', 'shell', 'script', 'python', 'agent'];
/** Sources behind which there is no server. */
const SOURCES_APART = ['code', 'inline'];

interface Circuit {
  failures: number;
  openMs: number;
  /** Undefined while closed. */
  openUntil: number | undefined;
  isProbing: boolean;
  lastMessage: string;
}

/** Fails fast while a source is down, lets one call through to see whether it is back, and closes again when it is. */
export function breaker(options: BreakerOptions & { readonly clock: Clock }): Extension {
  const { clock, failures: most = 5, openMs = 1000 } = options;
  const circuits = new Map<string, Circuit>();

  const note = (subject: string, circuit: Circuit | undefined, result: ToolResult): ToolResult => {
    if (result.status !== 'failed' || !DEAD.includes(result.error.code)) {
      // A call that was called off says nothing about the source; the next one probes.
      if (result.status === 'failed' && result.error.code === 'cancelled') endProbe(circuit);
      else circuits.delete(subject);
      return result;
    }
    const failing = circuits.get(subject) ?? newCircuit(openMs);
    circuits.set(subject, failing);
    failing.failures++;
    failing.lastMessage = result.error.message;
    if (failing.isProbing) failing.openMs = Math.min(failing.openMs * 2, LONGEST_OPEN_MS);
    failing.isProbing = false;
    if (failing.failures >= most) failing.openUntil = clock.now() + failing.openMs;
    return result;
  };

  return {
    name: 'breaker',
    priority: 240,
    unsafeOrder: true,
    applies: (spec) => spec[RUN].kind !== 'function',
    wrap(call, next) {
      const subject = subjectOf(call.spec);
      const circuit = circuits.get(subject);
      if (circuit?.openUntil !== undefined) {
        const now = clock.now();
        if (circuit.isProbing || now < circuit.openUntil) return refuse(call.spec, circuit, now);
        circuit.isProbing = true;
      }
      const result = next(call);
      return isPromise(result)
        ? result.then((settled) => note(subject, circuit, settled))
        : note(subject, circuit, result);
    },
  };
}

function newCircuit(openMs: number): Circuit {
  return { failures: 0, openMs, openUntil: undefined, isProbing: false, lastMessage: '' };
}

function endProbe(circuit: Circuit | undefined): void {
  if (circuit !== undefined) circuit.isProbing = false;
}

/** Tools of a server fail together; others each for themselves. */
function subjectOf(spec: ToolSpec): string {
  const isApart = KINDS_APART.includes(spec[RUN].kind) || SOURCES_APART.includes(spec.source);
  return isApart ? `${spec.source} ${spec.name}` : spec.source;
}

function refuse({ name, source }: ToolSpec, circuit: Circuit, now: number): FailedResult {
  const retryAfterMs = Math.max(1, Math.ceil((circuit.openUntil ?? now) - now));
  const message = `"${name}" of "${source}" is left alone because it failed ${circuit.failures} times in a row (${circuit.lastMessage}); try again in ${retryAfterMs} ms.`;
  return failed(toolError('unavailable', message, { retryable: true, retryAfterMs }));
}
