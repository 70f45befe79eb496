import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { FetchError } from './fetch-error.ts';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** What `readBody` can decode. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** Reads and decompresses an answer. It may have `maxBytes` both on the way and when it is unpacked. */
export async function readBody(response: IncomingMessage, host: string, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new FetchError('too_large', `${host} answered with more than ${maxBytes} bytes.`);
  const limit = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let length = 0;
    for await (const chunk of source) {
      length += chunk.length;
      if (length > maxBytes) throw tooLarge();
      yield chunk;
    }
  };
  const chunks: Buffer[] = [];
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of limit(source)) chunks.push(chunk);
  };
  if (Number(response.headers['content-length']) > maxBytes) {
    response.destroy();
    throw tooLarge();
  }
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') await pipeline(response, collect);
  else await pipeline(response, limit, decoderOf(encoding, response, host), collect);
  return Buffer.concat(chunks);
}

function decoderOf(encoding: string, response: IncomingMessage, host: string): Transform {
  const create = DECODERS[encoding];
  if (create !== undefined) return create();
  response.destroy();
  throw new FetchError('malformed', `${host} answered in the encoding "${encoding}", which was not asked for.`);
}
