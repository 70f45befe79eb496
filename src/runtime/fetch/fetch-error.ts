/** Why something could not be fetched. What is `unreachable` never got there; what is `lost` may have been seen. */
export type FetchFailure = 'refused' | 'unreachable' | 'lost' | 'timeout' | 'cancelled' | 'too_large' | 'malformed';

/** Thrown by `guardedFetch`. The message names the host and nothing else of the address, which may carry secrets. */
export class FetchError extends Error {
  readonly failure: FetchFailure;
  constructor(failure: FetchFailure, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'FetchError';
    this.failure = failure;
  }
}
