import type { NestedTools, ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult } from '../../core/tool-result.ts';
import { RUN, type ToolSpec } from '../../core/tool-spec.ts';
import type { AgentRun } from './agent-run.ts';

/** The tools of one agent: those of its profile, for the caller of the agent. */
export interface AgentTools extends Pick<NestedTools, 'search' | 'instructions'> {
  readonly profile: string;
  /** The tools to show to the model. */
  shown(): readonly ToolSpec[];
  call(name: string, input: unknown, signal?: AbortSignal): Promise<ToolResult>;
}

/** Opens the profile of an agent for the caller: its own profile, or another one by the grant of `delegate`. */
export async function openTools(
  call: ToolCall,
  { profile = call.profile }: AgentRun,
  mayHoldAgents: boolean,
): Promise<AgentTools | { readonly error: ToolError }> {
  const opened = profile === call.profile ? { ok: true as const, chest: call.tools } : await call.delegate(profile);
  if (!opened.ok) return { error: opened.error };
  const { chest } = opened;
  return {
    profile,
    search: (query, options) => chest.search(query, options),
    instructions: () => chest.instructions(),
    shown: () => chest.shown().filter((spec) => mayHoldAgents || spec[RUN].kind !== 'agent'),
    async call(name, input, signal) {
      const options = { park: false, ...(signal !== undefined && { signal }) } as const;
      return withoutWaiting(await chest.call(name, input, options), name);
    },
  };
}

/** An agent cannot wait for an answer that comes later, so it is told that the call was not made. */
function withoutWaiting(result: ToolResult, name: string): ToolResult {
  if (result.status === 'done') return result;
  if (result.status === 'failed' && !isWithoutApprover(result.error)) return result;
  const message = `"${name}" was not run: it requires an answer first (an approval, or more input), and no approver is present. An agent cannot approve a call or wait for the approval. Go on without it, and say in your answer that the call was not made.`;
  return failed(toolError('denied', message));
}

function isWithoutApprover({ cause }: ToolError): boolean {
  return cause instanceof ToolcribError && cause.code === 'no_approver';
}

/** Runs tasks in their order, at most so many at the same time. */
export async function mapAtMost<T, U>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<U>,
): Promise<readonly U[]> {
  const results: U[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as T); // index is in the list
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}
