import type { IncomingMessage } from 'node:http';
import type { KindPorts } from '../../config/records.ts';
import type { AgentPrices } from '../../config/types/agents.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { createBytePieces } from '../../system/byte-pieces.ts';
import type { AgentPool } from '../../system/fetch/agent-pool.ts';
import { FetchError, isNeverSent, readRetryAfterMs } from '../../system/fetch/fetch-error.ts';
import { isNamedHost, toFetchError } from '../../system/fetch/guarded-fetch.ts';
import { streamedFetch } from '../../system/fetch/streamed-fetch.ts';
import { fillAll, type SecretText } from '../../system/secrets/secret-template.ts';
import { BadReply, errorIn, eventsIn, isTooDeep, type ModelApi, type ModelReply } from './model-api.ts';
import { answeredFailure, type FailedRequest, ModelFailure } from './model-failure.ts';

/** A model with its server. */
export interface Endpoint {
  readonly api: ModelApi;
  readonly address: URL;
  readonly model: string;
  readonly key: SecretText | undefined;
  readonly headers: Readonly<Record<string, SecretText>>;
  /** True if the configuration names the server, which then may be on a private network. */
  readonly isConfigured: boolean;
  readonly prices: AgentPrices | undefined;
  readonly isStreamed: boolean;
  readonly maxOutputTokens: number | undefined;
  readonly parameters: JsonObject;
}

/** Options for sending requests. */
export interface ModelPorts extends Pick<KindPorts, 'clock' | 'secrets' | 'isOwn'> {
  /** Private hosts that tools may name. */
  allowPrivate(): readonly string[];
}

/** The connection of one request. */
interface Wire extends ModelPorts {
  readonly pool: AgentPool;
}

/** One request as it is sent. */
export interface SentRequest {
  readonly body: string;
  readonly signal: AbortSignal;
  /** The request fails if the server sends nothing for this time. */
  readonly timeoutMs: number;
  readonly traceparent: string | undefined;
  readonly failing: FailedRequest;
}

/** Sends one request and reads its reply, whole or as a stream. */
export async function exchangeWithModel(wire: Wire, endpoint: Endpoint, sent: SentRequest): Promise<ModelReply> {
  const { address, isConfigured } = endpoint;
  const silence = createSilence(wire.clock, sent, address.host);
  try {
    const mayBePrivate = isConfigured || isNamedHost(address, wire.allowPrivate());
    const headers = await headersOf(wire, endpoint, mayBePrivate);
    silence.restart();
    const response = await streamedFetch(address, {
      method: 'POST',
      headers: { ...headers, ...(sent.traceparent !== undefined && { traceparent: sent.traceparent }) },
      body: sent.body,
      signal: silence.signal,
      mayBePrivate,
      isOwn: wire.isOwn,
      agent: wire.pool.agentFor(address, mayBePrivate),
    });
    return await readReply(response, endpoint, { ...sent, onChunk: silence.restart });
  } catch (cause) {
    if (cause instanceof ModelFailure || cause instanceof BadReply || cause instanceof ToolcribError) throw cause;
    const failure = toFetchError(cause, address.host, silence.signal);
    if (silence.signal.aborted || !isNeverSent(cause)) throw failure;
    throw new FetchError(failure.failure, failure.message, { cause: failure.cause, isUnsent: true });
  } finally {
    silence.stop();
  }
}

async function headersOf({ secrets }: Wire, { api, address, key, headers }: Endpoint, isNamed: boolean) {
  const hasSecret = key !== undefined || Object.keys(headers).length > 0;
  if (hasSecret && address.protocol === 'http:' && !isNamed)
    throw new FetchError('refused', 'The key of a model is not sent over plain http.');
  // A key that stands in the configuration itself must not appear in an output, either.
  if (typeof key === 'string') secrets.hide('key of a model', key);
  const fill = (text: SecretText) => secrets.fill(text, { host: address.host });
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...api.headersOf(key === undefined ? undefined : await fill(key)),
    ...(await fillAll(lowerCase(headers), fill)),
  };
}

function lowerCase(headers: Endpoint['headers']): Endpoint['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

interface Reading extends Pick<SentRequest, 'failing'> {
  onChunk(): void;
}

async function readReply(
  response: IncomingMessage,
  { api, address }: Endpoint,
  { failing, onChunk }: Reading,
): Promise<ModelReply> {
  const { statusCode: status = 0, headers } = response;
  const chunks = bounded(response, address.host, onChunk);
  if (status < 200 || status > 299) {
    const said = errorIn(parsed(await textOf(chunks)));
    throw answeredFailure({ status, said, retryAfterMs: readRetryAfterMs(headers) }, failing);
  }
  const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
  return api.read(isStream ? await api.join(eventsIn(chunks)) : requireJson(await textOf(chunks)));
}

/** A signal that aborts with the call, or when the server is silent for too long. */
function createSilence(clock: Clock, { signal: outer, timeoutMs }: SentRequest, host: string) {
  const controller = new AbortController();
  const follow = () => controller.abort(outer.reason);
  outer.addEventListener('abort', follow);
  if (outer.aborted) follow();
  let stopTimer = (): void => {};
  return {
    signal: controller.signal,
    restart(): void {
      stopTimer();
      const end = () => controller.abort(new FetchError('timeout', `${host} sent nothing for ${timeoutMs} ms.`));
      stopTimer = clock.setTimer(timeoutMs, end);
    },
    stop(): void {
      stopTimer();
      outer.removeEventListener('abort', follow);
    },
  };
}

const MAX_REPLY_BYTES = 10_000_000;

async function* bounded(response: IncomingMessage, host: string, onChunk: () => void): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    onChunk();
    length += chunk.length;
    if (length > MAX_REPLY_BYTES)
      throw new FetchError('too_large', `${host} answered with more than ${MAX_REPLY_BYTES} bytes.`);
    yield chunk;
  }
}

async function textOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  const pieces = createBytePieces();
  for await (const chunk of chunks) pieces.add(chunk);
  return pieces.take().toString();
}

/** The JSON of an error, or its text as the message. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { error: text };
  }
}

function requireJson(text: string): unknown {
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    throw new BadReply('it is not JSON');
  }
  const said = errorIn(reply);
  if (said !== undefined) throw new BadReply('it is an error', said);
  if (isTooDeep(reply)) throw new BadReply('it is nested too deeply');
  return reply;
}
