import { ToolcribError } from '../../../../core/tool-error.ts';

/** What reading one description may cost: a small one can refer to itself in ways that take for ever to follow. */
export interface Work {
  spend(steps: number): void;
}

/** Many times what the largest honest descriptions take. */
const MAX_STEPS = 5_000_000;

/** Thrown when it is too much: then the description is refused, not only an operation. */
export class TooMuchWorkError extends ToolcribError {
  constructor() {
    super('invalid_description', 'it takes too much work to read: it is too large, or refers to itself too often');
  }
}

export function createWork(): Work {
  let left = MAX_STEPS;
  return {
    spend(steps) {
      left -= steps;
      if (left < 0) throw new TooMuchWorkError();
    },
  };
}
