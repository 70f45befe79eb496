import { type ToolError, toolError } from '../core/tool-error.ts';

type Listener = (reason: ToolError) => void;

/** Whether a call, or a part of it, has been called off. Signals and subscriptions are made only when somebody looks. */
export class Cancellation {
  readonly #parent: Cancellation | undefined;
  readonly #outside: AbortSignal | undefined;
  #reason: ToolError | undefined;
  #controller: AbortController | undefined;
  #listeners: Set<Listener> | undefined;
  #stopFollowing: (() => void) | undefined;

  /** Follows `parent`, and a signal that comes from outside. */
  constructor(parent: Cancellation | undefined, outside?: AbortSignal) {
    this.#parent = parent;
    this.#outside = outside;
  }

  get reason(): ToolError | undefined {
    if (this.#reason !== undefined) return this.#reason;
    return this.#outside?.aborted ? cancelled() : this.#parent?.reason;
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    this.#controller = new AbortController();
    const { reason } = this;
    if (reason === undefined) this.#follow();
    else this.#controller.abort(abortError(reason));
    return this.#controller.signal;
  }

  abort(reason: ToolError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(abortError(reason));
    for (const listener of this.#listeners ?? []) listener(reason);
    this.release();
  }

  onAbort(listener: Listener): () => void {
    const { reason } = this;
    if (reason !== undefined) {
      // Later, so that whoever listens has its own clean-up in hand first.
      queueMicrotask(() => listener(reason));
      return () => {};
    }
    this.#follow();
    this.#listeners ??= new Set();
    const listeners = this.#listeners;
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Lets go of the parent and of the signal from outside, which may live much longer. */
  release(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    this.#listeners = undefined;
  }

  #follow(): void {
    if (this.#stopFollowing !== undefined) return;
    const outside = this.#outside;
    const onOutsideAbort = () => this.abort(cancelled());
    outside?.addEventListener('abort', onOutsideAbort, { once: true });
    const stopParent = this.#parent?.onAbort((reason) => this.abort(reason));
    this.#stopFollowing = () => {
      outside?.removeEventListener('abort', onOutsideAbort);
      stopParent?.();
    };
  }
}

function cancelled(): ToolError {
  return toolError('cancelled', 'The call was cancelled.');
}

function abortError(reason: ToolError): Error {
  const name = reason.code === 'timeout' ? 'TimeoutError' : 'AbortError';
  return Object.assign(new Error(reason.message), { name });
}
