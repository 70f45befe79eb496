/**
 * Why a worker gave no answer: it could not be started, so that nothing was run; it ended meanwhile; too many wait; or
 * nobody wants the answer any more.
 */
export type PythonFailureKind = 'unreachable' | 'lost' | 'busy' | 'cancelled';

/** A request that a worker did not answer. */
export class PythonFailure extends Error {
  readonly kind: PythonFailureKind;
  constructor(kind: PythonFailureKind, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'PythonFailure';
    this.kind = kind;
  }
}
