import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { FetchError } from '../fetch/fetch-error.ts';
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
  const headers = Object.entries(message.headers).map(([name, value]): [string, string] => [name, String(value)]);
  if (WITHOUT_BODY.includes(status)) message.resume();
  if (WITHOUT_BODY.includes(status)) return new Response(null, { status, headers });
  if (!isEventStream(message)) return new Response(await collect(message, host), { status, headers });
  const events = Readable.from(boundEvents(message, host, onFailure));
  return new Response(Readable.toWeb(events) as ReadableStream<Uint8Array>, { status, headers }); // Node's own type of the same
}

async function collect(message: IncomingMessage, host: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    length += chunk.length;
    if (length > MAX_MESSAGE_BYTES) throw tooLarge(host);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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
