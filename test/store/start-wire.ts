import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A wire to a server of this machine that can be cut. */
export interface Wire {
  readonly port: number;
  /** Breaks every connection, without a word to either end. */
  cut(): void;
  /** Breaks the next connection over which a transaction with this text was committed, before that is answered. */
  cutAtCommit(text: string): void;
  close(): void;
}

/** Lays a wire to a port. */
export async function startWire(to: number): Promise<Wire> {
  const sockets = new Set<Socket>();
  let awaited: string | undefined;
  const listener = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    let isMeant = false;
    near.on('data', (chunk: Buffer) => {
      isMeant ||= awaited !== undefined && chunk.includes(awaited);
      if (!isMeant || !chunk.includes('COMMIT')) return;
      awaited = undefined;
      far.unpipe(near);
      far.once('data', () => near.resetAndDestroy()); // it is committed
      far.resume();
    });
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  const cutAtCommit = (text: string) => {
    awaited = text;
  };
  const close = () => {
    listener.close();
    cut();
  };
  return { port: address.port, cut, cutAtCommit, close };
}
