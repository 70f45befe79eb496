import type { Executor, ExecutorReview } from '../core/executor.ts';
import { messageOf } from '../core/tool-error.ts';
import { kindOf, type ToolSpec } from '../core/tool-spec.ts';

/** What executors say about the tools that they run; one that has none is not asked. */
export async function reviewTools(
  specs: readonly ToolSpec[],
  executors: ReadonlyMap<string, Executor>,
): Promise<ExecutorReview> {
  const reviews = await Promise.all(Array.from(executors.values(), (executor) => reviewOf(executor, specs)));
  return {
    problems: reviews.flatMap((review) => review?.problems ?? []),
    notes: reviews.flatMap((review) => review?.notes ?? []),
  };
}

async function reviewOf(executor: Executor, specs: readonly ToolSpec[]): Promise<ExecutorReview | undefined> {
  const own = executor.review === undefined ? [] : specs.filter((spec) => kindOf(spec) === executor.kind);
  if (own.length === 0) return undefined;
  try {
    return await executor.review?.(own);
  } catch (cause) {
    // An executor may be code of another author; a server starts without its review.
    return { problems: [`The executor "${executor.kind}" cannot review its tools: ${messageOf(cause)}`], notes: [] };
  }
}
