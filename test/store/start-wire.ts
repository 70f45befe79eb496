import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A wire to a server of this machine that can be cut. */
export interface Wire {
  readonly port: number;
  /** Breaks every connection, without a word to either end. */
  cut(): void;
  close(): void;
}

/** Lays a wire to a port. */
export async function startWire(to: number): Promise<Wire> {
  const sockets = new Set<Socket>();
  const listener = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  const close = () => {
    listener.close();
    cut();
  };
  return { port: address.port, cut, close };
}
