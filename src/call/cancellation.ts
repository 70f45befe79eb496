import { hasBegun } from '../core/begun-runs.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import { type CallFacts, FACTS } from '../core/tool-call.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

type Listener = (reason: ToolError) => void;

/** The key that marks the end of the crib or its server as a reason. Its meaning for a call depends on how far the call is. */
const ENDING: unique symbol = Symbol('toolcrib.ending');

function ending(error: ToolError): ToolError {
  return Object.defineProperty(error, ENDING, { value: true, enumerable: false });
}

/** The reason for ending calls when the crib or its server closes; `explainEnd` adapts it to each call. */
export function cribClosed(): ToolError {
  return ending(toolError('cancelled', 'The crib was closed.'));
}

/** Adapts the end of the crib or its server to a call; returns other reasons unchanged. */
export function explainEnd(reason: ToolError, spec: ToolSpec, facts: CallFacts): ToolError {
  return ENDING in reason ? ending(endOf(spec, facts)) : reason;
}

/** The error for a call that ends with the crib or its server. */
function endOf({ name, effects }: ToolSpec, facts: CallFacts): ToolError {
  const closed = 'The crib was closed before';
  if (!hasBegun({ [FACTS]: facts }))
    return toolError('cancelled', `${closed} "${name}" began, so it was not run. Call it again.`, { retryable: true });
  if (effects.readOnly === true || effects.idempotent === true)
    return toolError('cancelled', `${closed} "${name}" returned. It can be called again.`, { retryable: true });
  const message = `${closed} "${name}" returned. It may have taken effect: check before you call again.`;
  return toolError('unknown_outcome', message);
}

/** An owner that can explain a reason for itself. */
interface Explaining {
  explain(reason: ToolError): ToolError;
}

/** A listener or follower in the list of a cancellation. Linked, because the list of a crib has one for every running call. */
interface Link {
  readonly target: Listener | Cancellation;
  previous: Link | undefined;
  next: Link | undefined;
  isLinked: boolean;
}

/** The cancellation state of a call or a part of it. Signals and subscriptions are created lazily. */
export class Cancellation {
  readonly #parent: Cancellation | undefined;
  readonly #outside: AbortSignal | undefined;
  readonly #owner: Explaining | undefined;
  #reason: ToolError | undefined;
  #controller: AbortController | undefined;
  #first: Link | undefined;
  #last: Link | undefined;
  /** Its place in the list of the parent. */
  #following: Link | undefined;
  #onOutsideAbort: (() => void) | undefined;
  #isReleased = false;

  /** Follows `parent` and an external signal. */
  constructor(parent: Cancellation | undefined, outside?: AbortSignal, owner?: Explaining) {
    this.#parent = parent;
    this.#outside = outside;
    this.#owner = owner;
  }

  get reason(): ToolError | undefined {
    if (this.#reason !== undefined) return this.#reason;
    if (this.#outside?.aborted) return cancelled();
    const inherited = this.#parent?.reason;
    return inherited === undefined ? undefined : this.#explain(inherited);
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    this.#controller = new AbortController();
    const { reason } = this;
    if (reason !== undefined) this.#controller.abort(abortError(reason));
    else if (!this.#isReleased) this.#follow();
    return this.#controller.signal;
  }

  abort(reason: ToolError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(abortError(reason));
    this.abortFollowers(reason);
    this.#unlink();
  }

  /** Aborts all current followers, but no later ones. */
  abortFollowers(reason: ToolError): void {
    for (const { target, isLinked } of this.#links()) {
      if (!isLinked) continue; // one before it has removed it
      if (typeof target === 'function') target(reason);
      else target.abort(target.#explain(reason));
    }
  }

  /** The owners of all cancellations that follow this one, directly or through others. */
  followers(): readonly Explaining[] {
    return this.#links().flatMap(({ target }) => {
      if (typeof target === 'function') return [];
      return target.#owner === undefined ? target.followers() : [target.#owner, ...target.followers()];
    });
  }

  onAbort(listener: Listener): () => void {
    const { reason } = this;
    if (reason !== undefined) {
      // Deferred, so that the caller can store the returned function first.
      queueMicrotask(() => listener(reason));
      return () => {};
    }
    if (this.#isReleased) return () => {};
    this.#follow();
    const link = this.#add(listener);
    return () => this.#remove(link);
  }

  /**
   * The call is over, and listeners no longer hear of it. It follows its parent, which may live much longer, only as
   * long as calls that it has made go on. Followers that are being aborted stay.
   */
  release(): void {
    if (this.#reason !== undefined) return;
    this.#isReleased = true;
    this.#unlinkOutside();
    for (const link of this.#links()) if (typeof link.target === 'function') this.#remove(link);
    if (this.#first === undefined) this.#unlink();
  }

  #unlinkOutside(): void {
    if (this.#onOutsideAbort !== undefined) this.#outside?.removeEventListener('abort', this.#onOutsideAbort);
    this.#onOutsideAbort = undefined;
  }

  #unlink(): void {
    if (this.#parent !== undefined && this.#following !== undefined) this.#parent.#remove(this.#following);
    this.#following = undefined;
    this.#unlinkOutside();
    while (this.#last !== undefined) this.#remove(this.#last);
  }

  #explain(reason: ToolError): ToolError {
    return this.#owner === undefined ? reason : this.#owner.explain(reason);
  }

  #follow(): void {
    if (this.#parent !== undefined && this.#following === undefined) {
      this.#parent.#follow();
      this.#following = this.#parent.#add(this);
    }
    if (this.#outside === undefined || this.#onOutsideAbort !== undefined || this.#isReleased) return;
    this.#onOutsideAbort = () => this.abort(cancelled());
    this.#outside.addEventListener('abort', this.#onOutsideAbort, { once: true });
  }

  #add(target: Link['target']): Link {
    const link: Link = { target, previous: this.#last, next: undefined, isLinked: true };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    return link;
  }

  #remove(link: Link): void {
    if (!link.isLinked) return;
    const { previous, next } = link;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A function that removes it may live long; it must not keep others in memory.
    link.previous = undefined;
    link.next = undefined;
    link.isLinked = false;
    if (this.#isReleased && this.#first === undefined) this.#unlink();
  }

  #links(): readonly Link[] {
    const links: Link[] = [];
    for (let link = this.#first; link !== undefined; link = link.next) links.push(link);
    return links;
  }
}

/** A copy of a call with its own cancellation. The copy alone, which a tool gets, cannot abort it. */
export class Fork<Copy> {
  readonly call: Copy;
  readonly #cancellation: Cancellation;

  constructor(call: Copy, cancellation: Cancellation) {
    this.call = call;
    this.#cancellation = cancellation;
  }

  abort(reason: ToolError): void {
    this.#cancellation.abort(reason);
  }

  release(): void {
    this.#cancellation.release();
  }
}

function cancelled(): ToolError {
  return toolError('cancelled', 'The call was cancelled.');
}

function abortError(reason: ToolError): Error {
  const name = reason.code === 'timeout' ? 'TimeoutError' : 'AbortError';
  return Object.assign(new Error(reason.message), { name });
}

/** Counts running work, so that closing can wait for it. */
export interface InFlight {
  enter(): void;
  leave(): void;
  /** Resolves when no work is running, or after `limitMs`. */
  drained(limitMs: number): Promise<void>;
}

export function createInFlight(clock: Clock): InFlight {
  let count = 0;
  let onIdle: (() => void) | undefined;
  return {
    enter() {
      count++;
    },
    leave() {
      count--;
      if (count === 0) onIdle?.();
    },
    drained(limitMs) {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const stopTimer = clock.setTimer(limitMs, resolve);
        onIdle = () => {
          stopTimer();
          resolve();
        };
      });
    },
  };
}
