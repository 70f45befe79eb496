import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

/**
 * Keeps connections for the next request. One that the other side has ended while nobody used it is gone at once: Node's
 * own agent would hand it out once more, and nobody could tell whether that request was seen.
 */
export function keptConnections(protocol: string): HttpAgent {
  const agent = new (protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true });
  const keep = agent.keepSocketAlive.bind(agent);
  const reuse = agent.reuseSocket.bind(agent);
  agent.keepSocketAlive = (socket) => {
    socket.once('end', destroy);
    return keep(socket);
  };
  agent.reuseSocket = (socket, request) => {
    socket.off('end', destroy);
    reuse(socket, request);
  };
  return agent;
}

function destroy(this: Duplex): void {
  this.destroy();
}
