import type { Connections } from './connections.ts';

/** Who shares a connection and its state. */
export type Share = 'all' | 'profile' | 'caller' | 'conversation';

/** A server that tools can be called at. */
interface McpServer {
  readonly connections: Connections;
  readonly share: Share;
}

/** The servers of a crib, by the name of their source. */
export interface McpServers {
  get(source: string): McpServer | undefined;
  /** The latest of a name is the one that is asked. */
  add(source: string, server: McpServer): void;
  /** Lets go of a server: calls that are under way finish, and then its connections are closed. */
  remove(source: string, server: McpServer): Promise<void>;
  /** Closes everything, also what is finishing. */
  close(): Promise<void>;
}

export function createMcpServers(): McpServers {
  const servers = new Map<string, readonly McpServer[]>();
  const draining = new Set<Connections>();
  return {
    get: (source) => servers.get(source)?.at(-1),
    add: (source, server) => void servers.set(source, [...(servers.get(source) ?? []), server]),
    async remove(source, server) {
      const others = (servers.get(source) ?? []).filter((other) => other !== server);
      if (others.length === 0) servers.delete(source);
      else servers.set(source, others);
      const { connections } = server;
      draining.add(connections);
      const drained = connections.drain().finally(() => draining.delete(connections));
      // Nobody who changes a configuration waits for calls that run under the old one.
      if (connections.inFlight() === 0) await drained;
    },
    async close() {
      const all = [...[...servers.values()].flat().map(({ connections }) => connections), ...draining];
      servers.clear();
      await Promise.all(all.map((connections) => connections.close()));
    },
  };
}
