import { type Agent, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

/** A connection pool for many hosts. */
export interface AgentPool {
  agentFor(url: URL, mayBePrivate: boolean): Agent;
  /** Closes all connections, also those in use. */
  close(): void;
}

/** Creates a pool. Connections opened under looser rules are not reused for requests under stricter ones. */
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
 * Creates an agent that keeps connections alive. A connection that the server closes while it is idle is dropped at once:
 * Node's own agent would reuse it, and it would be unknown whether the server saw that request.
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
