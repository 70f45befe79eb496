// @ts-check

/** An answer of more than may be read. */
export class TooLarge extends Error {}

/** The server could not be reached: it has not seen the query. */
export class Unreachable extends Error {}

/**
 * Sends a query, and reads no more of the answer than it may have.
 * @param {{ endpoint: URL, headers: Readonly<Record<string, string>>, body: string, maxBytes: number, signal: AbortSignal }} query
 * @returns {Promise<{ status: number, retryAfter: string | null, text: string }>}
 */
export async function sendQuery({ endpoint, headers, body, maxBytes, signal }) {
  signal.throwIfAborted();
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      ...headers,
    },
    body,
    signal,
    redirect: 'manual', // the token and the arguments are for this host and no other
  }).catch((cause) => {
    throw isUnreachable(cause) ? new Unreachable('The server cannot be reached.', { cause }) : cause;
  });
  const text = await readText(response, maxBytes);
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
}

/**
 * Leaving the loop ends the request: nothing more is read, and the connection is closed.
 * @param {Response} response
 * @param {number} maxBytes
 */
async function readText({ body }, maxBytes) {
  const decoder = new TextDecoder();
  let text = '';
  let readBytes = 0;
  for await (const chunk of body ?? []) {
    readBytes += chunk.length;
    if (readBytes > maxBytes) throw new TooLarge(`The answer has more than ${maxBytes} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** @param {unknown} error */
function isUnreachable(error) {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(code);
}
