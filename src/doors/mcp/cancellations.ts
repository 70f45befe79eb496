/** Calls that are under way and can be ended: by another request of the same client, or because the door closes. */
export interface Cancellations {
  /** Watches a call until it is released; `ended` ends it, too. Without a name no other request can end it. */
  watch(ended: AbortSignal, call?: WatchedCall): Watch;
  /** Ends the call, if it is under way. */
  cancel(call: WatchedCall): void;
  /** Ends all of them, and those to come. */
  close(): void;
  isClosed(): boolean;
}

/** A call that is watched. */
export interface Watch {
  readonly signal: AbortSignal;
  release(): void;
}

/** Ids are counted by each client for itself, hence the session; and nobody ends calls of another caller. */
interface WatchedCall {
  readonly callerId: string | undefined;
  readonly session: string;
  readonly requestId: unknown;
}

/** Older clients say by a request of its own that they no longer wait for another. */
export function createCancellations(): Cancellations {
  const underWay = new Set<AbortController>();
  const named = new Map<string, AbortController>();
  let isClosed = false;
  return {
    watch(ended, call) {
      const controller = new AbortController();
      const key = call === undefined ? undefined : keyOf(call);
      const end = () => controller.abort();
      ended.addEventListener('abort', end);
      if (isClosed || ended.aborted) end();
      underWay.add(controller);
      if (key !== undefined) named.set(key, controller);
      return {
        signal: controller.signal,
        release() {
          ended.removeEventListener('abort', end);
          underWay.delete(controller);
          if (key !== undefined && named.get(key) === controller) named.delete(key);
        },
      };
    },
    cancel: (call) => named.get(keyOf(call))?.abort(),
    close() {
      isClosed = true;
      for (const controller of underWay) controller.abort();
    },
    isClosed: () => isClosed,
  };
}

function keyOf({ callerId = '', session, requestId }: WatchedCall): string {
  return JSON.stringify([callerId, session, requestId]);
}
