import type { AgentPrices } from '../../config/types/agents.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { AgentConfig } from './agent-kind.ts';
import { jsonIn, missingPart } from './agent-run.ts';
import { createModelClient } from './model-client.ts';
import type { ModelPorts } from './model-exchange.ts';
import { ModelFailure } from './model-failure.ts';
import { endpointOf } from './run-agent.ts';

/** One question without tools. */
interface Question {
  readonly instructions: string;
  readonly prompt: string;
  readonly signal: AbortSignal;
}

/** A model of `executors.agent.models` that answers single questions. */
export interface ModelAsker {
  readonly host: string;
  readonly prices: AgentPrices | undefined;
  /** The JSON of the answer; undefined if it is not JSON or not complete. Throws a `ToolcribError` if the server fails. */
  ask(question: Question): Promise<{ readonly value: unknown } | undefined>;
  close(): void;
}

/** Opens a model by its name in the configuration. Throws for an unknown name. */
export function openModel(name: string, options: Partial<AgentConfig>, ports: ModelPorts): ModelAsker {
  const run = { kind: 'agent', model: name } as const;
  const missing = missingPart(run, { models: options.models ?? {}, agents: [] });
  if (missing !== undefined) throw new ToolcribError('invalid_config', missing);
  const endpoint = endpointOf(run, options);
  const { api, model, isStreamed, maxOutputTokens, parameters } = endpoint;
  const { retries = 2, requestTimeoutMs: timeoutMs = 120_000 } = options;
  const client = createModelClient(ports);
  return {
    host: endpoint.address.host,
    prices: endpoint.prices,
    async ask({ instructions, prompt, signal }) {
      const messages = [api.firstMessage(prompt)];
      const request = { model, instructions, messages, tools: [], isStreamed, maxOutputTokens, parameters };
      try {
        const settings = { name, retries, signal, timeoutMs, traceparent: undefined };
        const { text, stop } = await client.ask(endpoint, request, settings);
        return stop === 'answer' ? jsonIn(text) : undefined;
      } catch (cause) {
        if (!(cause instanceof ModelFailure)) throw cause;
        throw new ToolcribError('failed', client.redact(cause.message), { cause });
      }
    },
    close: () => client.close(),
  };
}
