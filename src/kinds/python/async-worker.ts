import type { Clock } from '../../core/ports/ports.ts';
import { calledOff, GRACE_MS, type Lane, type StartWorker } from './blocking-pool.ts';
import type { PythonWorker, Question } from './python-worker.ts';

interface Shared {
  readonly worker: PythonWorker;
  /** What it has in hand, and its number there. */
  readonly questions: Map<Question, number>;
  /** Those that nobody wants answered, each with how to stop waiting for its end. */
  readonly calledOff: Map<Question, () => void>;
}

export interface TogetherOptions {
  readonly start: StartWorker;
  readonly clock: Clock;
}

/** One worker with an event loop for all async functions. One that does not come back when asked to is ended with all that it has in hand. */
export function workersTogether({ start, clock }: TogetherOptions): Lane {
  const all = new Set<Shared>();
  let current: Shared | undefined;
  let isRetired = false;

  const open = (): Shared => {
    const shared: Shared = {
      worker: start(() => {
        all.delete(shared);
        if (current === shared) current = undefined;
      }),
      questions: new Map(),
      calledOff: new Map(),
    };
    all.add(shared);
    return shared;
  };
  const release = (shared: Shared): void => {
    if (shared.questions.size > 0) return;
    shared.worker.keepAlive(false);
    if (shared !== current || isRetired) void shared.worker.end(GRACE_MS);
  };
  const end = (shared: Shared): Promise<void> => {
    if (current === shared) current = undefined;
    return shared.worker.end(GRACE_MS);
  };
  const put = (shared: Shared, question: Question): void => {
    const over = (): boolean => {
      shared.questions.delete(question);
      release(shared);
      shared.calledOff.get(question)?.();
      return shared.calledOff.delete(question);
    };
    shared.worker.keepAlive(true);
    shared.questions.set(question, 0);
    const id = shared.worker.ask({
      request: question.request,
      onAnswer(answer) {
        if (answer.kind === 'again' && answer.why.stale === true && current === shared) current = undefined;
        if (answer.kind === 'yield') return shared.calledOff.has(question) ? undefined : question.onAnswer(answer);
        if (over()) question.onLost(calledOff());
        else question.onAnswer(answer);
      },
      onLost: (failure) => question.onLost(over() ? calledOff() : failure),
    });
    if (shared.questions.has(question)) shared.questions.set(question, id);
  };
  const callOff = (shared: Shared, question: Question): void => {
    const id = shared.questions.get(question);
    if (id === undefined) return;
    shared.calledOff.set(
      question,
      clock.setTimer(GRACE_MS, () => void end(shared)),
    );
    shared.worker.cancel(id);
  };

  return {
    ask(question) {
      if (question.begin?.() === false) {
        queueMicrotask(() => question.onLost(calledOff()));
        return () => {};
      }
      current ??= open();
      const shared = current;
      put(shared, question);
      return () => callOff(shared, question);
    },
    retire() {
      isRetired = true;
      for (const shared of all) release(shared);
    },
    async close() {
      isRetired = true;
      await Promise.all([...all].map(end));
    },
  };
}
