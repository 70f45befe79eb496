/** The request with a body that is known to be no larger, or undefined if it is. What says its length is not read for that. */
export async function withBoundedBody(request: Request, maxBytes: number): Promise<Request | undefined> {
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
