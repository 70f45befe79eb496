import type { Agent } from 'node:http';
import { keptConnections } from './kept-connections.ts';

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
