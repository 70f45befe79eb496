import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { FetchError } from '../../../system/fetch/fetch-error.ts';
import { MAX_MESSAGE_BYTES } from './wire-message.ts';

/** True for an answer that comes in events. */
export function isEventStream({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

const WITHOUT_BODY = [204, 205, 304];

/** An answer as the web knows it. A whole one is bounded as a whole, a stream by the event: it may go on for ever. */
export async function toResponse(
  message: IncomingMessage,
  host: string,
  onFailure: (failure: unknown) => void,
): Promise<Response> {
  const { statusCode: status = 500 } = message;
  const headers = headersOf(message);
  if (WITHOUT_BODY.includes(status)) message.resume();
  if (WITHOUT_BODY.includes(status)) return new Response(null, { status, headers });
  if (!isEventStream(message)) return toWhole(message, await collect(message, host));
  const events = Readable.from(boundEvents(message, host, onFailure));
  return new Response(Readable.toWeb(events) as ReadableStream<Uint8Array>, { status, headers }); // Node's own type of the same
}

/** The same for one whose body was read already. */
export function toWhole(message: IncomingMessage, body: Uint8Array<ArrayBuffer>): Response {
  const { statusCode: status = 500 } = message;
  return new Response(body, { status, headers: headersOf(message) });
}

function headersOf({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, String(value)]);
}

/** Reads a whole answer; rejects if it breaks off or is too large. */
export function collect(message: IncomingMessage, host: string): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_MESSAGE_BYTES) message.destroy(tooLarge(host));
      else chunks.push(chunk);
    });
    message.on('end', () => resolve(Buffer.concat(chunks)));
    message.on('error', reject);
    message.on('close', () => reject(new Error(`${host} ended the connection before it had answered.`)));
  });
}

async function* boundEvents(
  message: IncomingMessage,
  host: string,
  onFailure: (failure: unknown) => void,
): AsyncGenerator<Buffer> {
  let length = 0;
  let last: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      const seen = Buffer.concat([last, chunk]); // the empty line that ends an event may have been cut in two
      const end = Math.max(...ENDS.map((mark) => seen.lastIndexOf(mark)));
      length = end === -1 ? length + chunk.length : seen.length - end;
      if (length > MAX_MESSAGE_BYTES) throw tooLarge(host);
      last = chunk.subarray(-3);
      yield chunk;
    }
  } catch (cause) {
    onFailure(cause);
    throw cause;
  }
}

const ENDS = ['\n\n', '\r\n\r\n', '\r\r'];

function tooLarge(host: string): FetchError {
  return new FetchError('too_large', `${host} answered with more than ${MAX_MESSAGE_BYTES} bytes.`);
}
