import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { describe, readOptions } from '../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { isSecretTemplate, secretsIn } from '../secrets/secret-template.ts';
import { FetchError, type FetchFailure } from './fetch-error.ts';
import type { GuardedFetchOptions } from './guarded-fetch.ts';

/** A webhook; `secret` names the secret that signs its messages. */
export interface Hook {
  readonly url: string;
  readonly secret: string;
}

/** Options for creating a webhook. */
export interface WebhookOptions {
  readonly url: string;
  /** The HMAC-SHA256 of a text, as hex. */
  sign(text: string): Promise<string>;
  readonly clock: Clock;
  warn(message: string): void;
  /** The time in milliseconds since 1970, for timestamps. */
  readonly now?: () => number;
}

/** Sends messages in the background. A message that cannot be delivered is reported and dropped. */
export interface Webhook {
  send(message: JsonObject): void;
  /** Waits up to five seconds for messages that are being sent. */
  close(): Promise<void>;
}

const MAX_WAITING = 1000;
const AT_ONCE = 4;
const PAUSES_MS = [1000, 5000];
const CLOSE_MS = 5000;
const LIMITS: GuardedFetchOptions = {
  // The operator chose this address, so it may be private; redirects are not followed.
  allowPrivate: 'first',
  maxRedirects: 0,
  maxBytes: 65_536,
  headerTimeoutMs: 5000,
  timeoutMs: 10_000,
};

/** Sends each message by signed POST and retries after transient failures. */
export function createWebhook(options: WebhookOptions): Webhook {
  const { clock, warn } = options;
  const waiting: string[] = [];
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  const deliver = async (body: string): Promise<void> => {
    for (const pauseMs of [...PAUSES_MS, undefined]) {
      const failure = await post(body, options, stopping.signal);
      if (failure === undefined || stopping.signal.aborted) return;
      if (!failure.mayPass || pauseMs === undefined)
        return warn(`The webhook message was not delivered: ${failure.message}`);
      await pause(pauseMs, clock, stopping.signal);
    }
  };
  const pump = (): void => {
    while (running.size < AT_ONCE) {
      const body = waiting.shift();
      if (body === undefined) return;
      const run = deliver(body).finally(() => {
        running.delete(run);
        pump();
      });
      running.add(run);
    }
  };
  const drained = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running);
  };
  return {
    send(message) {
      if (stopping.signal.aborted) return;
      if (waiting.length >= MAX_WAITING) return warn('The webhook message was dropped: its queue is full.');
      waiting.push(JSON.stringify(message));
      pump();
    },
    async close() {
      let stopTimer = () => {};
      const late = new Promise<void>((resolve) => {
        stopTimer = clock.setTimer(CLOSE_MS, resolve);
      });
      await Promise.race([drained(), late]);
      stopTimer();
      stopping.abort();
    },
  };
}

interface Failure {
  readonly message: string;
  /** True if a retry may help. */
  readonly mayPass: boolean;
}

const PASSING: readonly FetchFailure[] = ['unreachable', 'lost', 'timeout'];

async function post(body: string, options: WebhookOptions, signal: AbortSignal): Promise<Failure | undefined> {
  const { url, now = Date.now } = options;
  try {
    const timestamp = String(Math.floor(now() / 1000));
    const signature = await options.sign(`${timestamp}.${body}`);
    const headers = {
      'content-type': 'application/json',
      'toolcrib-timestamp': timestamp,
      'toolcrib-signature': `sha256=${signature}`,
    };
    const { guardedFetch } = await import('./guarded-fetch.ts'); // loads node:http, and most cribs have no webhook
    const { status } = await guardedFetch(url, { ...LIMITS, method: 'POST', headers, body, signal });
    if (status >= 200 && status < 300) return undefined;
    return {
      message: `${new URL(url).host} answered with status ${status}.`,
      mayPass: status >= 500 || status === 429 || status === 408,
    };
  } catch (cause) {
    return { message: messageOf(cause), mayPass: cause instanceof FetchError && PASSING.includes(cause.failure) };
  }
}

/** Ends early on abort. */
function pause(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stopTimer();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stopTimer = clock.setTimer(delayMs, end);
    signal.addEventListener('abort', end);
  });
}

/** Validates a webhook. */
export function readWebhook(value: unknown, what: string): Hook | undefined {
  if (value === undefined) return undefined;
  const { url, secret } = readOptions<{ url: unknown; secret: unknown }>(value, ['url', 'secret'], what);
  if (typeof url !== 'string' || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new ToolcribError('invalid_option', `${what}: url must be an http or https address, got ${describe(url)}.`);
  const name = isSecretTemplate(secret) ? secretsIn(secret)[0] : secret;
  if (typeof name === 'string' && name !== '') return { url, secret: name };
  throw new ToolcribError('invalid_option', `${what}: secret must name the secret that signs the messages.`);
}
