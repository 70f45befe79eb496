/** Why something could not be fetched. */
export type FetchFailure = 'refused' | 'unreachable' | 'timeout' | 'cancelled' | 'too_large' | 'malformed';

/** Thrown by `guardedFetch`. The message names the host and nothing else of the address, which may carry secrets. */
export class FetchError extends Error {
  readonly failure: FetchFailure;
  constructor(failure: FetchFailure, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'FetchError';
    this.failure = failure;
  }
}
