import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { createBytePieces } from '../byte-pieces.ts';
import { FetchError } from './fetch-error.ts';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The encodings that `readBody` can decode. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** Reads and decompresses a response. `maxBytes` limits it both compressed and decompressed. */
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
  if (Number(response.headers['content-length']) > maxBytes) {
    response.destroy();
    throw tooLarge();
  }
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return collectPlain(response, maxBytes, tooLarge);
  const pieces = createBytePieces();
  await pipeline(response, limit, decoderOf(encoding, response, host), async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of limit(source)) pieces.add(chunk);
  });
  return pieces.take();
}

/** Listens to the stream directly, because a pipeline takes longer than a small response. */
function collectPlain(response: IncomingMessage, maxBytes: number, tooLarge: () => FetchError): Promise<Buffer> {
  const pieces = createBytePieces();
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      pieces.add(chunk);
      if (pieces.length() > maxBytes) response.destroy(tooLarge());
    });
    response.on('error', reject);
    response.on('end', () => resolve(pieces.take()));
    response.on('close', () => reject(CUT_OFF)); // no effect unless the stream closes early
  });
}

const CUT_OFF = Object.assign(new Error('the connection was closed'), { code: 'ERR_STREAM_PREMATURE_CLOSE' });

function decoderOf(encoding: string, response: IncomingMessage, host: string): Transform {
  const create = DECODERS[encoding];
  if (create !== undefined) return create();
  response.destroy();
  throw new FetchError('malformed', `${host} answered with the encoding "${encoding}", which was not requested.`);
}
