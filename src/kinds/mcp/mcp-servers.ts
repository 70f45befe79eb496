import type { Clock } from '../../core/ports/crib-context.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { createProgressWatch } from '../../system/processes/process-progress.ts';
import { createStartQueue } from '../../system/processes/start-queue.ts';
import type { Connections } from './connections.ts';
import type { SharedStarts } from './start-watch.ts';

/** Scope within which callers share a connection and its state. */
export type Share = 'all' | 'profile' | 'caller' | 'conversation';

/** A server that runs calls. */
interface McpServer {
  readonly connections: Connections;
  readonly share: Share;
}

/** The servers of a crib, by the name of their source. */
export interface McpServers {
  readonly starts: SharedStarts;
  get(source: string): McpServer | undefined;
  /** Adds a server. The latest one of a name receives the calls. */
  add(source: string, server: McpServer): void;
  /** Changes how connections of a source are shared from now on. */
  share(source: string, share: Share): void;
  /** Removes a server: calls in flight finish, then its connections are closed. */
  remove(source: string, server: McpServer): Promise<void>;
  /** Closes everything, including draining connections. */
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
      // A configuration change does not wait for calls that run under the old one.
      if (connections.inFlight() === 0) await drained;
    },
    async close() {
      const all = [...[...servers.values()].flat().map(({ connections }) => connections), ...draining];
      servers.clear();
      await Promise.all(all.map((connections) => connections.close()));
    },
  };
}

/** The subject of the connection shared by all callers. */
export const MAIN = '';

/** The subject whose connection a call uses. Callers choose conversation ids, so the caller id is part of the key. */
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
