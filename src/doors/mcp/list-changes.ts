import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { CribServer } from '../../crib/serving/crib-server.ts';
import type { Listing } from './listings.ts';

/** Tells clients that their list has changed: each only of what it sees, so that hidden tools stay hidden. */
export interface ListChanges {
  /** Calls back when the listing is another one; returns how to stop. */
  follow(look: () => Promise<Listing>, changed: () => void): () => void;
  close(): void;
}

/** Watches a crib while somebody follows. */
export function createListChanges({ onListings }: Pick<CribServer, 'onListings'>): ListChanges {
  const lookers = new Set<() => void>();
  let stop = () => {};
  const lookAll = () => {
    for (const look of lookers) look();
  };
  return {
    follow(look, changed) {
      if (lookers.size === 0) stop = onListings(lookAll);
      const see = () => look().catch(() => undefined); // the profile is gone, and so is what it listed
      // One look after the other: of two that overtake each other the older one would win.
      let isSeen = false;
      let last = see().finally(() => {
        isSeen = true;
      });
      const lookAgain = () => {
        const isEarly = !isSeen; // the first look may see this change already, and whoever follows never saw the list before it
        last = last.then(async (before) => {
          const now = await see();
          if ((isEarly || now !== before) && lookers.has(lookAgain)) changed();
          return now;
        });
      };
      lookers.add(lookAgain);
      return () => {
        if (lookers.delete(lookAgain) && lookers.size === 0) stop();
      };
    },
    close() {
      lookers.clear();
      stop();
    },
  };
}

/** Where the protocol's package looks for news: each stream that it opens follows the listing of its own client. */
export function createEventBus(follow: (changed: () => void) => () => void): ServerEventBus {
  return {
    publish: () => {},
    subscribe: (listener) => follow(() => listener({ kind: 'tools_list_changed' })),
  };
}
