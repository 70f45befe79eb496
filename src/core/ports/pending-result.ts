import { isPromise, type MaybePromise } from '../json.ts';
import { toolError } from '../tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../tool-result.ts';

/** Work of a gate on the result that comes from further in. */
export type After = (result: ToolResult) => MaybePromise<ToolResult>;

/** Turns everything that is not a result into one. */
export interface StepGuard {
  /** Reads what a step returned, or throws. */
  read(value: unknown): MaybePromise<ToolResult>;
  /** The result of a step that threw. */
  refuse(cause: unknown): FailedResult;
}

interface Step {
  readonly after: After;
  readonly guard: StepGuard;
  next: Step | undefined;
  isPast: boolean;
}

/**
 * The result of a call that waits, on its way out through the gates. Built-in gates add what they do with it as steps,
 * and all of them run in one go when the result is there: one promise a call instead of two for each gate. Each step
 * runs once. It never rejects, because the guard of its gate refuses for a step that throws.
 */
export class PendingResult implements PromiseLike<ToolResult> {
  /** The guard of steps that are added: that of the gate that holds the result now. */
  guard: StepGuard;
  #first: Step | undefined;
  #last: Step | undefined;
  /** The result of the last step; undefined while one of them waits. */
  #result: ToolResult | undefined;

  /** Waits for a value. */
  constructor(value: PromiseLike<unknown>, guard: StepGuard) {
    this.guard = guard;
    this.#wait(value, guard);
  }

  /** Adds a step. */
  add(after: After): void {
    this.#add(after);
  }

  /**
   * Adds a step, and returns a function that goes on there at once with another result. The steps before it, which may
   * hold something, still get the result for which they wait; it goes no further.
   */
  addEnd(after: After): (result: ToolResult) => void {
    const end = this.#add(after);
    return (result) => this.#run(end, result);
  }

  toPromise(): Promise<ToolResult> {
    return new Promise((resolve) => {
      this.#add((result) => {
        resolve(result);
        return result;
      });
    });
  }

  /** For code that awaits it. */
  // biome-ignore lint/suspicious/noThenProperty: gates treat it like the promise that it stands for
  then<Done, Failed = never>(
    onDone: (result: ToolResult) => Done | PromiseLike<Done>,
    onFailed?: (cause: unknown) => Failed | PromiseLike<Failed>,
  ): Promise<Done | Failed> {
    return this.toPromise().then(onDone, onFailed);
  }

  #add(after: After): Step {
    const step: Step = { after, guard: this.guard, next: undefined, isPast: false };
    if (this.#last === undefined) this.#first = step;
    else this.#last.next = step;
    this.#last = step;
    if (this.#result !== undefined) this.#run(step, this.#result);
    return step;
  }

  #run(from: Step | undefined, first: ToolResult): void {
    let result = first;
    this.#result = undefined;
    for (let step = from; step !== undefined; step = step.next) {
      if (step.isPast) return; // it has had another result
      step.isPast = true;
      const settled = this.#settle(step, result);
      if (settled === undefined) return; // it waits
      result = settled;
    }
    this.#result = result;
  }

  /** The result of a step; undefined if it waits. */
  #settle(step: Step, result: ToolResult): ToolResult | undefined {
    try {
      return this.#read(step.after(result), step.guard, step);
    } catch (cause) {
      return step.guard.refuse(cause);
    }
  }

  #read(value: unknown, guard: StepGuard, step: Step | undefined): ToolResult | undefined {
    const result = isPromise(value) ? value : guard.read(value);
    if (!isPromise(result)) return result;
    this.#wait(result, guard, step);
    return undefined;
  }

  /** Goes on after `step`, or with the first one, when the value is there. */
  #wait(value: PromiseLike<unknown>, guard: StepGuard, step?: Step): void {
    const goOn = (result: ToolResult) => this.#run(step === undefined ? this.#first : step.next, result);
    const promise = value instanceof Promise ? value : Promise.resolve(value); // another thenable may do anything
    promise.then(
      (settled) => {
        let result: ToolResult | undefined;
        try {
          result = this.#read(settled, guard, step);
        } catch (cause) {
          result = guard.refuse(cause);
        }
        if (result !== undefined) goOn(result);
      },
      (cause) => goOn(guard.refuse(cause)),
    );
  }
}

/** Gives the result to `after` when it is there. What it returns may only be returned by the gate. */
export function afterwards(result: MaybePromise<ToolResult>, after: After): MaybePromise<ToolResult> {
  if (!isPromise(result)) return after(result);
  if (!isPending(result)) return result.then(after);
  result.add(after);
  return result;
}

/** The result as one that can be ended. It waits for a promise that a pipeline did not make. */
export function toPending(result: Promise<ToolResult>): PendingResult {
  return isPending(result) ? result : new PendingResult(result, UNGUARDED);
}

function isPending(result: object): result is PendingResult {
  return result instanceof PendingResult;
}

const UNGUARDED: StepGuard = {
  read: (value) => value as ToolResult, // of a `next` that is not the pipeline's
  refuse: (cause) => failed(toolError('internal', 'The call failed inside an extension.', { cause })),
};
