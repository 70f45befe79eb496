import type { Executor, ExecutorReview } from '../core/executor.ts';
import { kindOf, type ToolSpec } from '../core/tool-spec.ts';

/** What executors say about the tools that they run; one that has none is not asked. */
export async function reviewTools(
  specs: readonly ToolSpec[],
  executors: ReadonlyMap<string, Executor>,
): Promise<ExecutorReview> {
  const reviews = await Promise.all(
    Array.from(executors.values(), async (executor) => {
      const own = executor.review === undefined ? [] : specs.filter((spec) => kindOf(spec) === executor.kind);
      return own.length === 0 ? undefined : executor.review?.(own);
    }),
  );
  return {
    problems: reviews.flatMap((review) => review?.problems ?? []),
    notes: reviews.flatMap((review) => review?.notes ?? []),
  };
}
