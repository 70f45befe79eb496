/** Why something could not be fetched. What is `unreachable` never got there; what is `lost` may have been seen. */
export type FetchFailure = 'refused' | 'unreachable' | 'lost' | 'timeout' | 'cancelled' | 'too_large' | 'malformed';

/** Thrown by `guardedFetch`. The message names the host and nothing else of the address, which may carry secrets. */
export class FetchError extends Error {
  readonly failure: FetchFailure;
  /** True if it is certain that no server has seen the request; set by `guardedFetch`. */
  readonly isUnsent: boolean;
  constructor(
    failure: FetchFailure,
    message: string,
    options: { readonly cause?: unknown; readonly isUnsent?: boolean } = {},
  ) {
    super(message, options);
    this.name = 'FetchError';
    this.failure = failure;
    this.isUnsent = options.isUnsent ?? false;
  }
}
