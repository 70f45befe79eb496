import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

/** Requests that are being answered. */
export interface OpenRequests {
  /** From now on a connection ends with its answer. */
  end(): void;
  /** Resolves when there are none any more, or after `maxMs`. */
  drained(maxMs: number): Promise<void>;
}

/** Answers the requests of a server and knows which are under way. */
export function trackRequests(server: Server, answer: RequestListener): OpenRequests {
  const open = new Set<ServerResponse>();
  let onEmpty: (() => void) | undefined;
  let isEnding = false;
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isEnding) outgoing.shouldKeepAlive = false;
    open.add(outgoing);
    outgoing.once('close', () => {
      open.delete(outgoing);
      if (open.size === 0) onEmpty?.();
    });
    answer(incoming, outgoing);
  });
  return {
    end() {
      isEnding = true;
      for (const outgoing of open) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
    },
    drained(maxMs) {
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, maxMs);
        onEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
        if (open.size === 0) onEmpty();
      });
    },
  };
}
