import type { Clock } from '../../core/ports/crib-context.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { createProgressWatch } from '../../system/processes/process-progress.ts';
import { createStartQueue } from '../../system/processes/start-queue.ts';
import type { Connections } from './connections.ts';
import type { SharedStarts } from './start-watch.ts';

/** Who shares a connection and its state. */
export type Share = 'all' | 'profile' | 'caller' | 'conversation';

/** A server that tools can be called at. */
interface McpServer {
  readonly connections: Connections;
  readonly share: Share;
}

/** The servers of a crib, by the name of their source. */
export interface McpServers {
  readonly starts: SharedStarts;
  get(source: string): McpServer | undefined;
  /** The latest of a name is the one that is asked. */
  add(source: string, server: McpServer): void;
  /** From now on its connections are shared so, whatever was said when the server was added. */
  share(source: string, share: Share): void;
  /** Lets go of a server: calls that are under way finish, and then its connections are closed. */
  remove(source: string, server: McpServer): Promise<void>;
  /** Closes everything, also what is finishing. */
  close(): Promise<void>;
}

export function createMcpServers(clock: Clock): McpServers {
  const servers = new Map<string, readonly McpServer[]>();
  const shares = new Map<string, Share>();
  const draining = new Set<Connections>();
  return {
    starts: { queue: createStartQueue(), progress: createProgressWatch(clock) },
    get(source) {
      const server = servers.get(source)?.at(-1);
      return server && { ...server, share: shares.get(source) ?? server.share };
    },
    share: (source, share) => void shares.set(source, share),
    add: (source, server) => void servers.set(source, [...(servers.get(source) ?? []), server]),
    async remove(source, server) {
      const others = (servers.get(source) ?? []).filter((other) => other !== server);
      if (others.length > 0) servers.set(source, others);
      else {
        servers.delete(source);
        shares.delete(source);
      }
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

/** The subject of what everybody shares. */
export const MAIN = '';

/** Whose connection a call uses. Conversations are named by callers, so two callers never share one by its name. */
export function shareSubject(share: Share, { profile, caller, conversation }: ToolCall): string {
  switch (share) {
    case 'all':
      return MAIN;
    case 'profile':
      return JSON.stringify(['profile', profile]);
    case 'caller':
      return JSON.stringify(['caller', caller.id ?? null]);
    case 'conversation':
      return JSON.stringify(['conversation', caller.id ?? null, conversation ?? null]);
  }
}
