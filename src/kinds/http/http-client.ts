import { type DeferredRun, deferRun } from '../../core/begun-runs.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { type ToolError, toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult } from '../../core/tool-result.ts';
import { BriefSet } from '../../system/brief-map.ts';
import { createAgentPool } from '../../system/fetch/agent-pool.ts';
import { FetchError } from '../../system/fetch/fetch-error.ts';
import {
  type FetchedResponse,
  type GuardedFetchOptions,
  guardedFetch,
  isNamedHost,
} from '../../system/fetch/guarded-fetch.ts';
import { createRedact } from '../../system/secrets/redact.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import { answerFailure, type Failing, fetchFailure } from './answer-failure.ts';
import {
  type Authorizer,
  addressOf,
  type BuiltRequest,
  buildRequest,
  type Credentials,
  createAuthorizer,
  findSecrets,
  headersOf,
  originOf,
} from './build-request.ts';
import type { HttpRun } from './http-run.ts';
import { readAnswer } from './read-answer.ts';
import { planRequest, type RequestPlan } from './request-plan.ts';

/** Options for sending requests. */
export interface HttpPorts {
  readonly clock: Clock;
  readonly secrets: Secrets;
  /** Private hosts that are allowed; read for each call. */
  allowPrivate(): readonly string[];
  /** True for an address of the crib itself. */
  readonly isOwn?: GuardedFetchOptions['isOwn'];
  /** The DNS resolver; the system's if absent. */
  readonly resolve?: GuardedFetchOptions['resolve'];
}

/** Sends the requests of `http` tools over pooled connections. */
export interface HttpClient {
  send(call: ToolCall, run: HttpRun): Promise<ToolResult>;
  /** Cancels pending requests and closes all connections. */
  close(): void;
}

/** Used if neither the tool nor its profile sets a timeout. */
const USUAL_TIMEOUT_MS = 60_000;

export function createHttpClient(ports: HttpPorts): HttpClient {
  const plans = new WeakMap<HttpRun, RequestPlan>();
  const underWay = new BriefSet<AbortController>();
  const pool = createAgentPool();
  const redact = createRedact(ports.secrets);
  const ending = new AbortController();
  const { isOwn, resolve } = ports;
  const rules = { ...(isOwn !== undefined && { isOwn }), ...(resolve !== undefined && { resolve }) };
  const reach = () => ({ ...rules, allowPrivate: ports.allowPrivate() });
  const authorizer = createAuthorizer({ ...ports, reach: () => ({ ...reach(), signal: ending.signal }) });

  const planOf = (run: HttpRun): RequestPlan => {
    const known = plans.get(run) ?? planRequest(run);
    plans.set(run, known);
    return known;
  };

  const fetchOnce = (exchange: Exchange, credentials: Credentials): Promise<FetchedResponse> => {
    const { plan, request, call, signal } = exchange;
    const timeoutMs = call.spec.policy.timeoutMs ?? USUAL_TIMEOUT_MS;
    return guardedFetch(addressOf(request, credentials), {
      ...reach(),
      agentFor: pool.agentFor,
      method: plan.method,
      headers: headersOf(request, credentials),
      ...(request.body !== undefined && { body: request.body }),
      isBodySecret: plan.isBodySecret,
      maxBytes: plan.maxBytes,
      timeoutMs,
      headerTimeoutMs: timeoutMs,
      signal,
    });
  };

  const exchange = async (call: ToolCall, plan: RequestPlan, begun: Begun): Promise<FetchedResponse> => {
    const { signal } = begun;
    const origin = originOf(plan, call);
    const { host } = origin;
    if (plan.isSecret && origin.protocol === 'http:' && !isNamedHost(origin, ports.allowPrivate()))
      throw new FetchError(
        'refused',
        'Credentials are not sent over plain http, except to hosts listed in allowPrivate.',
      );
    const secrets = await unlessAborted(findSecrets(plan, ports.secrets, host), signal);
    const request = buildRequest(plan, call, { origin, secrets });
    return fetchAuthorized({ plan, request, call, host, ...begun }, authorizer, fetchOnce);
  };

  return {
    async send(call, run) {
      const deferred = deferRun(call);
      if (ending.signal.aborted)
        return failed(toolError('unavailable', `"${call.spec.name}" cannot be called: the crib is closed.`));
      if (call.signal.aborted) return failed(toolError('cancelled', `The call to "${call.spec.name}" was cancelled.`));
      const plan = planOf(run);
      const failing: Failing = { spec: call.spec, method: plan.method, redact };
      const controller = new AbortController();
      let reason: ToolError | undefined;
      const stopListening = call.onAbort((why) => {
        reason = why;
        controller.abort();
      });
      const remove = underWay.add(controller);
      try {
        const answer = await exchange(call, plan, { signal: controller.signal, deferred });
        if (answer.status >= 200 && answer.status < 300) return readAnswer(answer, plan, call.spec.name);
        return failed(answerFailure(answer, failing));
      } catch (cause) {
        const failure = reason ?? fetchFailure(cause, failing);
        if (failure === undefined) throw cause;
        return failed(failure);
      } finally {
        remove();
        stopListening();
      }
    },
    close() {
      ending.abort();
      for (const controller of underWay.values()) controller.abort();
      pool.close();
    },
  };
}

/** The state of a call that has begun. */
interface Begun {
  readonly signal: AbortSignal;
  readonly deferred: DeferredRun;
}

interface Exchange extends Begun {
  readonly plan: RequestPlan;
  readonly request: BuiltRequest;
  readonly call: ToolCall;
  readonly host: string;
}

/**
 * Sends a request with its credentials. If the server rejects a fetched token, the token is fetched again and the
 * request sent once more. By RFC 9110 a request answered with 401 was not applied, so both count as one run.
 */
async function fetchAuthorized(
  exchange: Exchange,
  { authorize }: Authorizer,
  fetchOnce: (exchange: Exchange, credentials: Credentials) => Promise<FetchedResponse>,
): Promise<FetchedResponse> {
  const { plan, host, signal, deferred } = exchange;
  const credentials = await unlessAborted(authorize(plan.auth, host), signal);
  if (!deferred.begin()) throw new FetchError('cancelled', 'The call ended before its request was sent.');
  const answer = await fetchOnce(exchange, credentials).catch((cause: unknown) => {
    if (cause instanceof FetchError && cause.isUnsent) deferred.takeBack();
    throw cause;
  });
  if (answer.status !== 401 || credentials.token === undefined) return answer;
  const { kept, text } = credentials.token;
  await unlessAborted(kept.replace(text), signal);
  return fetchOnce(exchange, await unlessAborted(authorize(plan.auth, host), signal));
}

/** Stops waiting on abort; shared work, such as fetching a token, goes on. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new FetchError('cancelled', 'The caller stopped waiting.'));
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}
