import { answerLaws } from './answer-laws.ts';
import { endingLaws } from './ending-laws.ts';
import type { ExecutorSubject } from './executor-subject.ts';
import { runLaws } from './run-laws.ts';

/** One law, for any test runner: `test(name, run)`. */
export interface ContractTest {
  readonly name: string;
  /** Rejects if the executor breaks it. */
  run(): Promise<void>;
}

/** What every executor keeps to: how its runs are checked, how it answers, and that nothing outlives a call. */
export function executorContract(subject: ExecutorSubject): readonly ContractTest[] {
  return [...runLaws(subject), ...answerLaws(subject), ...endingLaws(subject)];
}
