import type { Clock } from '../../core/ports/crib-context.ts';
import { keepDigits } from '../../system/exact-json.ts';
import { createAgentPool } from '../../system/fetch/agent-pool.ts';
import { createRedact } from '../../system/secrets/redact.ts';
import type { ModelReply, ModelRequest } from './model-api.ts';
import { type Endpoint, exchangeWithModel, type ModelPorts, type SentRequest } from './model-exchange.ts';
import { ModelFailure, requestFailure } from './model-failure.ts';

/** Options of one request. */
interface AskOptions extends Omit<SentRequest, 'body' | 'failing'> {
  /** The name of the agent's tool. */
  readonly name: string;
  readonly retries: number;
}

/** Sends requests to model servers over pooled connections. */
export interface ModelClient {
  /** Throws a `ModelFailure`. */
  ask(endpoint: Endpoint, request: ModelRequest, options: AskOptions): Promise<ModelReply>;
  /** Removes the values of secrets from a text. */
  redact(text: string): string;
  close(): void;
}

const FIRST_DELAY_MS = 500;
/** With a longer delay the caller decides. */
const LONGEST_DELAY_MS = 30_000;
const CHARACTERS_PER_TOKEN = 4;

export function createModelClient(ports: ModelPorts): ModelClient {
  const pool = createAgentPool();
  const redact = createRedact(ports.secrets);
  const wire = { ...ports, pool };

  const askOnce = async (endpoint: Endpoint, sent: SentRequest): Promise<ModelReply> => {
    try {
      const reply = await exchangeWithModel(wire, endpoint, sent);
      return { ...reply, usage: reply.usage ?? estimated(sent.body, reply) };
    } catch (cause) {
      throw requestFailure(cause, sent.failing);
    }
  };

  return {
    redact,
    async ask(endpoint, request, { retries, name, ...options }) {
      const body = JSON.stringify(endpoint.api.bodyOf(request, endpoint.address), keepDigits);
      const sent = { ...options, body, failing: { name, redact } };
      for (let attempt = 0; ; attempt++) {
        try {
          return await askOnce(endpoint, sent);
        } catch (cause) {
          const isLast = attempt >= retries || options.signal.aborted;
          if (isLast || !(cause instanceof ModelFailure) || !cause.mayPass) throw cause;
          const delayMs = cause.error.retryAfterMs ?? FIRST_DELAY_MS * 2 ** attempt;
          if (delayMs > LONGEST_DELAY_MS) throw cause;
          await pause(ports.clock, delayMs, options.signal);
        }
      }
    },
    close: () => pool.close(),
  };
}

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = clock.setTimer(delayMs, end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

/** A server that counts no tokens must not make the limits useless. */
function estimated(body: string, { text, calls }: ModelReply): ModelReply['usage'] {
  const said = text.length + JSON.stringify(calls, keepDigits).length;
  return {
    inputTokens: Math.ceil(body.length / CHARACTERS_PER_TOKEN),
    outputTokens: Math.ceil(said / CHARACTERS_PER_TOKEN),
  };
}
