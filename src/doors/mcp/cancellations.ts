/** Calls that are under way and can be ended by another request of the same client. */
export interface Cancellations {
  /** Watches a call until it is released. */
  watch(call: WatchedCall, ended: AbortSignal): { readonly signal: AbortSignal; release(): void };
  /** Ends the call, if it is under way. */
  cancel(call: WatchedCall): void;
}

/** Ids are counted by each client for itself, hence the session; and nobody ends calls of another caller. */
interface WatchedCall {
  readonly callerId: string | undefined;
  readonly session: string;
  readonly requestId: unknown;
}

/** Older clients say by a request of its own that they no longer wait for another. */
export function createCancellations(): Cancellations {
  const underWay = new Map<string, AbortController>();
  return {
    watch(call, ended) {
      const controller = new AbortController();
      const key = keyOf(call);
      underWay.set(key, controller);
      return {
        signal: AbortSignal.any([ended, controller.signal]),
        release() {
          if (underWay.get(key) === controller) underWay.delete(key);
        },
      };
    },
    cancel: (call) => underWay.get(keyOf(call))?.abort(),
  };
}

function keyOf({ callerId = '', session, requestId }: WatchedCall): string {
  return JSON.stringify([callerId, session, requestId]);
}
