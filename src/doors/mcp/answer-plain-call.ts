import type { CallToolResult } from '@modelcontextprotocol/server';
import type { McpAnswer, OpenDoor } from './answer-request.ts';
import { callTool } from './call-tool.ts';
import type { Visit } from './desk.ts';
import type { Era } from './output-schema.ts';
import { toPlainAnswer } from './plain-answer.ts';
import type { PlainCall } from './plain-call.ts';
import { guarded, selfOf } from './tool-server.ts';

/** A plain call, and the request that it came by. */
interface PlainRequest {
  readonly request: Request;
  readonly body: unknown;
  readonly call: PlainCall;
  readonly visit: Visit;
}

/** Calls the tool, and has the protocol's package write only the answers that are not plain: it does a lot for each request. */
export async function answerPlainCall(
  door: OpenDoor,
  { request, body, call, visit }: PlainRequest,
): Promise<McpAnswer> {
  const { desk, handler, visits, cancellations } = door;
  const traceparent = request.headers.get('traceparent') ?? undefined;
  const asked = { ...call, traceparent, signal: request.signal, responses: undefined, requestState: undefined };
  const outcome = guarded(desk, () => callTool(desk, visit, asked));
  const result = await settledSoon(outcome, call.era);
  if (cancellations.isClosed()) return new Response(null, { status: 499 });
  const text = result === undefined ? undefined : toPlainAnswer(result, call, selfOf(desk));
  if (text !== undefined) return { status: 200, text };
  return visits.run({ ...visit, outcome }, () => handler.fetch(request, { parsedBody: body }));
}

/** How long an older client hears nothing; after that the answer comes as an event, and until then signs of life. */
const SILENCE_MS = 1000;

/** Undefined for a call that fails, and for one that takes its time where the client is to be told that it goes on. */
function settledSoon(outcome: Promise<CallToolResult>, era: Era): Promise<CallToolResult | undefined> {
  if (era === 'modern') return outcome.catch(() => undefined);
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SILENCE_MS, undefined);
    const settle = (result?: CallToolResult) => {
      clearTimeout(timer);
      resolve(result);
    };
    outcome.then(settle, () => settle());
  });
}
