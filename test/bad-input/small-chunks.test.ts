import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createNodeRequest } from '../../src/doors/node-request.ts';
import { readEventAnswer } from '../../src/kinds/mcp/event-answer.ts';
import { createBytePieces } from '../../src/system/byte-pieces.ts';
import { readBody } from '../../src/system/fetch/guarded-body.ts';
import { createLineSplitter } from '../../src/system/processes/child-output.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const response = (body: Readable) => Object.assign(body, { headers: {} }) as unknown as IncomingMessage; // what is read of one

/** Each reads what it gets, and what comes after that. */
const READERS: Readonly<Record<string, (body: Readable) => unknown>> = {
  'an answer as events': (body) => readEventAnswer(body, { id: 1, tooLarge: () => new Error(), onMessage() {} }),
  'a response': (body) => readBody(response(body), 'example.com', 1_000_000),
  'the output of a program': (body) => body.on('data', createLineSplitter(1_000_000, { onLine() {}, onTooLong() {} })),
  'a request': (body) => {
    const incoming = Object.assign(new IncomingMessage(new Socket()), { headers: { host: 'a' } });
    body.on('data', (chunk) => incoming.push(chunk));
    return createNodeRequest(incoming, new ServerResponse(incoming)).text();
  },
};

it.each(Object.keys(READERS))('%s in chunks of one byte is not kept as one object for each byte', async (name) => {
  const body = new Readable({ read() {} });
  void READERS[name]?.(body);
  const chunks: WeakRef<ArrayBuffer>[] = [];
  for (let count = 0; count < 1000; count++) {
    const chunk = Buffer.from(new ArrayBuffer(1));
    chunks.push(new WeakRef(chunk.buffer));
    body.push(chunk);
    // Each is read before the next comes, or the stream joins them.
    for (let tick = 0; tick < 8 && body.readableLength > 0; tick++)
      await new Promise<void>((next) => process.nextTick(next));
    expect(body.readableLength).toBe(0);
  }
  await new Promise((resolve) => setTimeout(resolve)); // a WeakRef keeps its object until the end of the turn
  collectGarbage();
  expect(body.readable).toBe(true); // it is still needed, and so is its reader
  expect(chunks.filter((chunk) => chunk.deref() !== undefined).length).toBeLessThan(300);
});

it.each([0, 1, 2, 255, 256, 257, 1000])('%i pieces are the same bytes again', (count) => {
  const pieces = createBytePieces();
  for (let turn = 0; turn < 2; turn++) {
    const all = Array.from({ length: count }, (_, index) => Buffer.from(`${index},`));
    for (const piece of all) pieces.add(piece);
    expect(pieces.length()).toBe(Buffer.concat(all).length);
    expect(pieces.take()).toEqual(Buffer.concat(all));
    expect(pieces.length()).toBe(0);
  }
});
