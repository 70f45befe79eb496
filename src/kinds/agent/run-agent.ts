import { deferRun, mayBeRepeated } from '../../core/begun-runs.ts';
import type { HostAgent } from '../../core/ports/host-agent.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import { dataToResult, done, failed, type ToolResult } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { toSecretText } from '../../system/secrets/secret-template.ts';
import type { AgentPorts } from './agent-executor.ts';
import type { AgentConfig } from './agent-kind.ts';
import {
  type AgentEnding,
  agentsAround,
  createLedger,
  higherPrices,
  type Ledger,
  limitsOf,
  type Passed,
} from './agent-limits.ts';
import { runLoop } from './agent-loop.ts';
import { type AgentRun, instructionsOf, jsonIn, missingPart, namedModel, promptOf } from './agent-run.ts';
import { type AgentTools, openTools } from './agent-tools.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { createModelClient, type ModelClient } from './model-client.ts';
import type { Endpoint } from './model-exchange.ts';
import { ModelFailure } from './model-failure.ts';
import { openaiChat } from './openai-chat.ts';
import { runHostAgent } from './run-host-agent.ts';

/** One call of an agent that may begin. */
interface Prepared {
  readonly run: AgentRun;
  readonly tools: AgentTools;
  readonly ledger: Ledger;
  readonly fork: Fork;
  /** Absent for an agent of the host. */
  readonly endpoint: Endpoint | undefined;
}

type Fork = ReturnType<ToolCall['fork']>;
/** The ledgers of running agents, by the id of their calls. */
type Ledgers = Map<string, Ledger>;

/** Runs agents: a model or a function of the host that calls the tools of a profile, for the caller, until it answers. */
export interface AgentRunner {
  run(call: ToolCall, run: AgentRun): Promise<ToolResult>;
  /** Ends running agents, and closes all connections. */
  close(): void;
}

export function createAgentRunner(ports: AgentPorts): AgentRunner {
  const client = createModelClient(ports);
  const ledgers: Ledgers = new Map();
  const running = new Set<Fork>();
  let isClosed = false;
  return {
    async run(call, run) {
      const deferred = deferRun(call);
      if (isClosed)
        return failed(toolError('unavailable', `"${call.spec.name}" cannot be called: the crib is closed.`));
      const fork = call.fork();
      running.add(fork);
      let aborted: ToolError | undefined;
      fork.call.onAbort((reason) => {
        aborted = reason;
      });
      try {
        const prepared = await prepare({ call, run, fork }, ports, ledgers);
        if ('code' in prepared) return failed(prepared);
        const { ledger } = prepared;
        ledgers.set(call.id, ledger);
        if (!deferred.begin()) throw call.signal.reason; // cancelled while it waited
        const end = await runPrepared(prepared, ports, client).catch((cause: unknown) => {
          if (aborted !== undefined) return failed(aborted);
          if (!(cause instanceof ModelFailure)) throw cause;
          if (cause.isUnsent && ledger.spent().steps <= 1) deferred.takeBack();
          return { ending: 'model' as const, error: cause.error };
        });
        return withMeta(call, end, ledger);
      } finally {
        ledgers.delete(call.id);
        running.delete(fork);
        fork.abort(toolError('cancelled', 'The agent that made this call has ended.'));
        fork.release();
      }
    },
    close() {
      isClosed = true;
      for (const { abort } of running) abort(toolError('cancelled', 'The crib was closed.'));
      client.close();
    },
  };
}

interface Asked extends Pick<Prepared, 'run' | 'fork'> {
  readonly call: ToolCall;
}

/** Everything that can be refused before the agent begins: its limits, its model, and its profile. */
async function prepare(
  { call, run, fork }: Asked,
  { options, agents }: AgentPorts,
  ledgers: Ledgers,
): Promise<Prepared | ToolError> {
  const limits = limitsOf(options(), run, call);
  if ('code' in limits) return limits;
  const { name } = call.spec;
  const depth = agentsAround(call) + 1;
  if (depth > limits.maxDepth)
    return toolError(
      'denied',
      `"${name}" was not run: agents may be nested ${limits.maxDepth} levels deep (maxDepth).`,
    );
  const missing = missingPart(run, { models: options().models ?? {}, agents: Object.keys(agents) });
  // The message must not show how the tool runs.
  if (missing !== undefined)
    return toolError(
      'unavailable',
      `"${name}" cannot be called: its model is not configured; "toolcrib check" says why.`,
    );
  const endpoint = run.host === undefined ? endpointOf(run, options()) : undefined;
  const around = ledgerAround(call, ledgers);
  const prices = higherPrices(run.prices, endpoint?.prices);
  const ledger = createLedger(limits, prices, around);
  if (prices === undefined && ledger.isCostLimited) {
    const message = `"${name}" cannot be called: its cost is limited (maxCost), but its model has no prices.`;
    return toolError('unavailable', message);
  }
  const tools = await openTools(fork.call, run, depth < limits.maxDepth);
  if ('error' in tools) return tools.error;
  return { run, tools, ledger, fork, endpoint };
}

function ledgerAround(call: ToolCall, ledgers: Ledgers): Ledger | undefined {
  for (let outer = call.parent; outer !== undefined; outer = outer.parent) {
    const ledger = ledgers.get(outer.id);
    if (ledger !== undefined) return ledger;
  }
  return undefined;
}

async function runPrepared(
  { run, tools, ledger, fork, endpoint }: Prepared,
  ports: AgentPorts,
  client: ModelClient,
): Promise<ToolResult | Passed> {
  const { call } = fork;
  const prompt = promptOf(call, run);
  const instructions = instructionsOf(call, run, tools.instructions());
  if (endpoint === undefined) {
    const agent = ports.agents[run.host ?? ''] as HostAgent; // looked up before
    return runHostAgent({ agent, call, tools, ledger, prompt, instructions });
  }
  const { retries = 2 } = ports.options();
  try {
    const end = await runLoop({ call, endpoint, client, tools, ledger, prompt, instructions, retries });
    return 'answer' in end ? toAnswer(client.redact(end.answer), call.spec) : end;
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    const error = toolError('unavailable', `"${call.spec.name}" cannot be called: ${cause.message}`, { cause });
    throw new ModelFailure(error, { isUnsent: true }); // such as too many tools for the API
  }
}

/** The answer as the result; as data, if the tool has an output schema. */
function toAnswer(answer: string, { name, output }: ToolSpec): ToolResult | Passed {
  if (output === undefined) return done(answer);
  const json = jsonIn(answer);
  if (json !== undefined)
    return typeof json.value === 'string' ? done(answer, json.value) : dataToResult(json.value, output);
  const message = `The model of "${name}" did not answer with JSON, which the output schema of the tool requires.`;
  return { ending: 'output', error: toolError('invalid_output', message) };
}

/** The model of a run: its own address, or an entry of the configuration. */
export function endpointOf(run: AgentRun, { models }: Partial<AgentConfig>): Endpoint {
  const { model = '', baseUrl } = run;
  const entry = baseUrl === undefined ? namedModel(models, model) : undefined;
  const { maxOutputTokens = entry?.maxOutputTokens, stream = entry?.stream ?? true } = run;
  const api = (entry ?? run).api === 'anthropic' ? anthropicMessages : openaiChat;
  return {
    api,
    address: api.addressOf(new URL(entry === undefined ? (baseUrl ?? '') : (entry.baseUrl ?? api.baseUrl))),
    model: entry?.model ?? model,
    key: entry === undefined ? (run.key === undefined ? undefined : toSecretText(run.key)) : entry.key,
    headers: entry?.headers ?? {},
    isConfigured: entry !== undefined,
    prices: entry?.prices,
    isStreamed: stream,
    maxOutputTokens,
    parameters: { ...(entry?.parameters as AgentRun['parameters']), ...run.parameters }, // read from JSON or YAML
  };
}

/** Adds what the agent spent, and why it ended. A failure after calls of tools is not to be repeated blindly. */
function withMeta(call: ToolCall, end: ToolResult | Passed, ledger: Ledger): ToolResult {
  const spent = ledger.spent();
  const ended: { readonly ending?: AgentEnding } = 'ending' in end ? { ending: end.ending } : {};
  const meta = { 'toolcrib/agent': { ...spent, ...ended } };
  if (!('ending' in end) && end.status !== 'failed') return { ...end, meta: { ...end.meta, ...meta } };
  const result = 'ending' in end ? failed(end.error) : end;
  const isSafe = spent.calls === 0 || mayBeRepeated(call.spec);
  const { cause } = result.error;
  const warning = ` It had made ${spent.calls} calls of tools before: check before you call it again.`;
  const error = isSafe
    ? result.error
    : toolError(result.error.code, `${result.error.message}${warning}`, { ...(cause !== undefined && { cause }) });
  return { ...result, error, meta: { ...result.meta, ...meta } };
}
