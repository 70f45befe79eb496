/** Thrown when a check becomes too expensive. */
export class TooMuchWorkError extends Error {
  constructor() {
    super('the check takes too much work');
    this.name = 'TooMuchWorkError';
  }
}

/** The work allowance of one check. Counted, not timed, so that the same input always gives the same result. */
export interface WorkLimit {
  /** Starts a new check with this many units. */
  start(units: number): void;
  /** Throws a `TooMuchWorkError` when the allowance is used up. */
  spend(units: number): void;
}

/** A unit is about one step of the regular expression engine: at most 12 ns. */
export function createWorkLimit(): WorkLimit {
  let left = 0;
  return {
    start(units) {
      left = units;
    },
    spend(units) {
      left -= units;
      if (left < 0) throw new TooMuchWorkError();
    },
  };
}
