import type { Crib } from '../../crib/crib.ts';
import { type Answer, refuse, toResponse } from './answers.ts';
import { type Identify, letIn } from './authenticate.ts';
import type { EventFeed } from './event-feed.ts';
import type { PageSessions } from './page-sessions.ts';
import { type Check, createQueryReader, type Read, readBody } from './read-request.ts';
import type { Route } from './route.ts';

/** What all routes are run with. */
export interface RunnerOptions {
  readonly crib: Crib;
  readonly identify: Identify;
  readonly feed: EventFeed;
  readonly sessions: PageSessions;
  readonly check: Check;
  readonly maxBodyBytes: number;
}

/** Answers one request to a route; `params` are the varying parts of its path. */
export type AnswerRequest = (request: Request, params: Readonly<Record<string, string>>) => Promise<Response>;

const NO_BODY: Read = { value: {} };

/** One path for every route: who asks, what they send, and only then what is asked for. */
export function createRunner(options: RunnerOptions): (route: Route) => AnswerRequest {
  const { crib, identify, feed, sessions, check, maxBodyBytes } = options;
  return (route) => {
    const readQuery = createQueryReader(route.query ?? {}, check);
    const readBodyOf = async (request: Request): Promise<Read> => {
      if (route.body === undefined) return NO_BODY;
      const text = await textOf(request, maxBodyBytes);
      if (typeof text !== 'string') return { refusal: text };
      return readBody(text, request.headers.get('content-type'), { schema: route.body, check });
    };
    return async (request, params) => {
      const asker = letIn(await identify(request), route.who, request);
      if ('status' in asker) return toResponse(asker);
      const query = readQuery(new URL(request.url));
      if ('refusal' in query) return toResponse(query.refusal);
      const body = await readBodyOf(request);
      if ('refusal' in body) return toResponse(body.refusal);
      const asked = { crib, asker, params, query: query.value, body: body.value, request, feed, sessions, identify };
      const answer = await route.run(asked);
      return answer instanceof Response ? answer : toResponse(answer);
    };
  };
}

/** The text of a body, or why there is none. */
async function textOf(request: Request, maxBytes: number): Promise<string | Answer> {
  try {
    const bounded = await withBoundedBody(request, maxBytes);
    if (bounded !== undefined) return await bounded.text();
    const message = `The body has more than ${maxBytes} bytes, which is the most that is taken.`;
    return refuse(413, { code: 'too_large', message, retryable: false });
  } catch {
    // Only who is gone leaves a body that cannot be read to its end.
    return refuse(499, { code: 'cancelled', message: 'The request ended before all of it had come.', retryable: true });
  }
}

/** The request with a body that is known to be no larger, or undefined if it is. What says its length is not read for that. */
async function withBoundedBody(request: Request, maxBytes: number): Promise<Request | undefined> {
  if (request.method === 'GET' || request.method === 'HEAD') return request;
  const length = request.headers.get('content-length');
  if (length !== null && !request.headers.has('transfer-encoding'))
    return Number(length) > maxBytes ? undefined : request;
  if (request.body === null) return request;
  const bytes = await readUpTo(request.body, maxBytes);
  if (bytes === undefined) return undefined;
  const { method, headers, signal } = request;
  return new Request(request.url, { method, headers, signal, body: bytes });
}

async function readUpTo(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) return undefined; // leaving the loop cancels the rest
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
