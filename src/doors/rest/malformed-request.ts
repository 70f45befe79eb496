import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What the parser says, as status and words. */
const KNOWN: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to come.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Content Too Large', 'The body is too large.'],
};
const OTHER = ['400 Bad Request', 'This is not HTTP.'] as const;

/** Answers what is no request, in the words of all other answers, and hangs up. */
export function answerMalformed(cause: NodeJS.ErrnoException, socket: Duplex): void {
  const { _httpMessage: answering } = socket as { readonly _httpMessage?: ServerResponse | null }; // Node's own name for it
  // What is half said to an earlier request must not be broken into.
  if (cause.code === 'ECONNRESET' || !socket.writable || answering?.headersSent === true) {
    socket.destroy();
    return;
  }
  const [status, message] = KNOWN[cause.code ?? ''] ?? OTHER;
  const error = { code: 'invalid_input', message, retryable: false };
  const body = JSON.stringify({ ok: false, status: 'failed', error });
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
