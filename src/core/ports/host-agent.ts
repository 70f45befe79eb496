import type { Caller } from '../caller.ts';
import type { JsonObject, MaybePromise } from '../json.ts';
import type { SearchHit, SearchRequest } from '../retriever.ts';
import type { CallRequest, Progress } from '../tool-call.ts';
import type { CallAnswer, ToolResult } from '../tool-result.ts';
import type { ToolSpec } from '../tool-spec.ts';

/** Tokens of one answer of a model. `cachedInputTokens` are part of `inputTokens`. */
export interface AgentUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
}

/** The tools of an agent. Every call passes all gates, on behalf of the caller, nested in the call of the agent. */
export interface AgentChest {
  /** The tools to show to the model. */
  list(): readonly ToolSpec[];
  search(
    request: SearchRequest,
    options?: { readonly limit?: number; readonly expand?: boolean },
  ): Promise<readonly SearchHit[]>;
  call(name: string, input?: unknown, options?: { readonly signal?: AbortSignal }): Promise<ToolResult>;
  callAll(calls: readonly CallRequest[]): Promise<readonly CallAnswer[]>;
}

/** One task for an agent of the host. */
export interface AgentRequest {
  /** The task in words: the `prompt` of the run with the arguments, or the arguments alone. */
  readonly prompt: string;
  /** The instructions of the run and of the profile's bundles, for a system prompt. */
  readonly instructions: string;
  /** The arguments of the call. */
  readonly input: JsonObject;
  readonly caller: Omit<Caller, 'approve'>;
  /** The profile of the tools. */
  readonly profile: string;
  readonly chest: AgentChest;
  /** Aborts when the call is cancelled, times out, or passes a limit. */
  readonly signal: AbortSignal;
  report(progress: Progress): void;
  /** Counts one answer of the model: a step with its tokens. The agent is ended when it passes a limit. */
  spend(usage?: AgentUsage): void;
}

/** An agent of the host: a function that answers with text, JSON or a `ToolResult`. */
export type HostAgent = (request: AgentRequest) => MaybePromise<unknown>;
