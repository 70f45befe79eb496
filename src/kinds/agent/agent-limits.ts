import type { AgentPrices } from '../../config/types/agents.ts';
import type { AgentUsage } from '../../core/ports/host-agent.ts';
import { readOptions } from '../../core/read-options.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import { RUN } from '../../core/tool-spec.ts';
import type { AgentConfig } from './agent-kind.ts';
import type { AgentRun } from './agent-run.ts';

/** The limits of one call of an agent. */
export interface AgentLimits {
  readonly maxDepth: number;
  readonly maxSteps: number;
  readonly maxCalls: number;
  readonly parallelCalls: number;
  readonly maxTokens: number;
  readonly maxCost: number;
  readonly maxResultChars: number;
  readonly requestTimeoutMs: number;
}

const USUAL: AgentLimits = {
  maxDepth: 3,
  maxSteps: 20,
  maxCalls: 100,
  parallelCalls: 8,
  maxTokens: 500_000,
  maxCost: Number.POSITIVE_INFINITY,
  maxResultChars: 50_000,
  requestTimeoutMs: 120_000,
};
const KEYS = Object.keys(USUAL) as readonly (keyof AgentLimits)[]; // its own keys

/** The limits of an agent: those of the configuration, tightened by its run and the setting `agent` of the profile. */
export function limitsOf(options: Partial<AgentConfig>, run: AgentRun, call: ToolCall): AgentLimits | ToolError {
  const configured = { ...USUAL, ...pick(options) };
  try {
    const { agent = {} } = call.settings;
    const setting = readOptions<Record<keyof AgentLimits, unknown>>(agent, KEYS, 'The setting "agent"');
    return tightened(tightened(configured, pick(run)), setting);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    const message = `"${call.spec.name}" cannot be called under profile "${call.profile}": ${cause.message}`;
    return toolError('unavailable', message, { cause });
  }
}

function pick(given: Partial<Record<keyof AgentLimits, unknown>>): Partial<AgentLimits> {
  return Object.fromEntries(KEYS.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])));
}

function tightened(limits: AgentLimits, own: Partial<Record<keyof AgentLimits, unknown>>): AgentLimits {
  const entries = Object.entries(own).map(([key, value]) => [key, least(limits, key as keyof AgentLimits, value)]); // one of KEYS
  return { ...limits, ...Object.fromEntries(entries) };
}

function least(limits: AgentLimits, key: keyof AgentLimits, value: unknown): number {
  const isValid = key === 'maxCost' ? Number(value) >= 0 : Number.isInteger(value) && Number(value) > 0;
  if (typeof value === 'number' && isValid) return Math.min(limits[key], value);
  const what = key === 'maxCost' ? 'a number of at least 0' : 'a whole number above 0';
  throw new ToolcribError('invalid_option', `${key} in the setting "agent" must be ${what}.`);
}

/** The number of agents that a call is nested in. */
export function agentsAround(call: ToolCall): number {
  let depth = 0;
  for (let outer = call.parent; outer !== undefined; outer = outer.parent)
    if (outer.spec[RUN].kind === 'agent') depth++;
  return depth;
}

/** The reason why an agent was ended before it answered. */
export type AgentEnding = 'steps' | 'calls' | 'tokens' | 'cost' | 'length' | 'refusal' | 'model' | 'output';

/** The spending of one call of an agent, as `meta` of its result shows it. */
interface Spent {
  readonly steps: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost?: number;
}

/** A limit that an agent has passed. */
export interface Passed {
  readonly ending: AgentEnding;
  readonly error: ToolError;
}

/** Counts what an agent spends, and says when a limit is passed. Tokens and cost also count for the agents around it. */
export interface Ledger {
  readonly limits: AgentLimits;
  /** True if the cost of this agent or of one around it is limited. */
  readonly isCostLimited: boolean;
  spent(): Spent;
  /** Begins a request to the model. */
  beginStep(): Passed | undefined;
  beginCalls(count: number): Passed | undefined;
  spend(usage: AgentUsage): void;
  /** Adds tokens of an agent inside this one. */
  add(tokens: number, cost: number): void;
  /** The limit on tokens or cost that this agent or one around it has reached. */
  reached(): Passed | undefined;
}

/** Creates the ledger of one call. */
export function createLedger(limits: AgentLimits, prices: AgentPrices | undefined, around: Ledger | undefined): Ledger {
  let [steps, calls, inputTokens, outputTokens, cost] = [0, 0, 0, 0, 0];
  let [inside, insideCost] = [0, 0];
  const reached = (): Passed | undefined => {
    if (inputTokens + outputTokens + inside >= limits.maxTokens)
      return passed('tokens', `used ${limits.maxTokens} tokens (maxTokens)`);
    if (cost + insideCost > 0 && cost + insideCost >= limits.maxCost)
      return passed('cost', `cost ${limits.maxCost} (maxCost)`);
    return around?.reached();
  };
  const ledger: Ledger = {
    limits,
    isCostLimited: Number.isFinite(limits.maxCost) || around?.isCostLimited === true,
    spent: () => ({ steps, calls, inputTokens, outputTokens, ...(prices !== undefined && { cost: rounded(cost) }) }),
    beginStep() {
      if (steps >= limits.maxSteps) return passed('steps', `made ${steps} requests to its model (maxSteps)`);
      const over = reached();
      if (over === undefined) steps++;
      return over;
    },
    beginCalls(count) {
      if (calls + count > limits.maxCalls)
        return passed('calls', `asked for more than ${limits.maxCalls} calls of tools (maxCalls)`);
      calls += count;
      return undefined;
    },
    spend(usage) {
      const [input, output] = [tokensOf(usage.inputTokens), tokensOf(usage.outputTokens)];
      const cached = Math.min(tokensOf(usage.cachedInputTokens), input);
      const price = prices === undefined ? 0 : costOf({ input, output, cached }, prices);
      inputTokens += input;
      outputTokens += output;
      cost += price;
      around?.add(input + output, price);
    },
    add(tokens, price) {
      inside += tokens;
      insideCost += price;
      around?.add(tokens, price);
    },
    reached,
  };
  return ledger;
}

function passed(ending: AgentEnding, what: string): Passed {
  const message = `The agent was ended because it ${what}, and had not answered. Ask for less, or let the operator raise the limit.`;
  return { ending, error: toolError('tool_error', message) };
}

/** A server can send anything as a number of tokens. */
function tokensOf(count: unknown): number {
  return typeof count === 'number' && Number.isFinite(count) && count > 0 ? Math.ceil(count) : 0;
}

interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

function costOf({ input, output, cached }: Tokens, prices: AgentPrices): number {
  const fresh = (input - cached) * prices.input;
  return (fresh + cached * (prices.cachedInput ?? prices.input) + output * prices.output) / 1_000_000;
}

/** The prices of a run raise those of its model, and never lower them: a spec of a remote list must not lift a limit on cost. */
export function higherPrices(own: AgentPrices | undefined, ofModel: AgentPrices | undefined): AgentPrices | undefined {
  if (own === undefined || ofModel === undefined) return own ?? ofModel;
  return {
    input: Math.max(own.input, ofModel.input),
    output: Math.max(own.output, ofModel.output),
    cachedInput: Math.max(own.cachedInput ?? own.input, ofModel.cachedInput ?? ofModel.input),
  };
}

function rounded(cost: number): number {
  return Number(cost.toPrecision(12));
}
