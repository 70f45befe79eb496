import type { Sdk } from './context.ts';

/** The messages of a request, or why they cannot be read. */
export type RequestBody =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly status: number; readonly code: number; readonly message: string };

/** As much as a request may hold; a call with a megabyte of arguments fits. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Reads a body that says it is JSON. */
export async function readBody({ readRequestBody }: Sdk, request: Request): Promise<RequestBody> {
  try {
    const length = request.headers.get('content-length');
    // A length that is given is kept by the server, and reading it at once is far cheaper than piece by piece.
    const isKept = length !== null && !request.headers.has('transfer-encoding');
    const isBounded = isKept && Number(length) <= MAX_BODY_BYTES;
    const read = isBounded
      ? { tooLarge: false as const, text: await request.text() }
      : await readRequestBody(request, MAX_BODY_BYTES);
    if (read.tooLarge) return refused(413, -32_000, `A request holds at most ${MAX_BODY_BYTES} bytes.`);
    return { ok: true, body: JSON.parse(read.text) };
  } catch {
    return refused(400, -32_700, 'Parse error: the request body is not JSON.');
  }
}

function refused(status: number, code: number, message: string): RequestBody {
  return { ok: false, status, code, message };
}

/** The error of JSON-RPC as HTTP. */
export function errorResponse(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}

/** The single message of a body, whatever it is; undefined for a batch. */
export function singleMessage(body: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : undefined;
}

/** The ids of requests that the client no longer waits for. */
export function cancelledIds(body: unknown): readonly unknown[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    const { method, params } = singleMessage(message) ?? {};
    return method === 'notifications/cancelled' ? [singleMessage(params)?.requestId] : [];
  });
}
