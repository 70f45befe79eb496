import { type Agent, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

/** Keeps connections for many hosts. */
export interface AgentPool {
  agentFor(url: URL, mayBePrivate: boolean): Agent;
  /** Ends all connections, used or not. */
  close(): void;
}

/** Makes a pool. A connection that was opened under looser rules is not for requests that are held to stricter ones. */
export function createAgentPool(): AgentPool {
  const agents = new Map<string, Agent>();
  return {
    agentFor({ protocol }, mayBePrivate) {
      const key = `${protocol} ${mayBePrivate}`;
      const agent = agents.get(key) ?? keptConnections(protocol);
      agents.set(key, agent);
      return agent;
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

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
