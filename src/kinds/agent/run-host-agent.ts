import type { AgentChest, HostAgent } from '../../core/ports/host-agent.ts';
import { readOptions } from '../../core/read-options.ts';
import type { CallRequest, ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, type ToolError } from '../../core/tool-error.ts';
import { type CallAnswer, failed, type ToolResult, toResult } from '../../core/tool-result.ts';
import type { Ledger, Passed } from './agent-limits.ts';
import { type AgentTools, mapAtMost } from './agent-tools.ts';

/** An agent that is a function of the host. */
interface HostedAgent {
  readonly agent: HostAgent;
  /** A fork of the call, which ends with the agent. */
  readonly call: ToolCall;
  readonly tools: AgentTools;
  readonly ledger: Ledger;
  readonly prompt: string;
  readonly instructions: string;
}

/** Calls a function of the host. Resolves when it answers, passes a limit or is aborted, whatever it does afterwards. */
export function runHostAgent({
  agent,
  call,
  tools,
  ledger,
  prompt,
  instructions,
}: HostedAgent): Promise<ToolResult | Passed> {
  const { approve: _approve, ...caller } = call.caller;
  return new Promise((resolve, reject) => {
    let passed: Passed | undefined;
    const stopListening = call.onAbort((reason) => resolve(passed ?? failed(reason)));
    const pass = (limit: Passed): ToolError => {
      passed ??= limit;
      resolve(passed);
      return limit.error;
    };
    const request = {
      prompt,
      instructions,
      input: call.input,
      caller,
      profile: tools.profile,
      chest: chestOf(tools, ledger, pass),
      signal: call.signal,
      report: (progress: Parameters<ToolCall['report']>[0]) => call.report(progress),
      spend(usage = {}) {
        const over = ledger.beginStep();
        ledger.spend(readUsage(usage));
        const limit = over ?? ledger.reached();
        if (limit !== undefined) pass(limit);
      },
    } satisfies Parameters<HostAgent>[0];
    const answer = async () => toResult(await agent(Object.freeze(request)), call.spec.output);
    answer()
      .then((result) => resolve(passed ?? result), reject)
      .finally(stopListening);
  });
}

const USAGE = ['inputTokens', 'outputTokens', 'cachedInputTokens'] as const;

function readUsage(given: object) {
  const usage = readOptions<Record<(typeof USAGE)[number], number>>(given, USAGE, 'spend()');
  for (const [key, value] of Object.entries(usage))
    if (typeof value !== 'number' || !(value >= 0))
      throw new ToolcribError('invalid_option', `spend(): ${key} must be a number of at least 0.`);
  return usage;
}

function chestOf(tools: AgentTools, ledger: Ledger, pass: (limit: Passed) => ToolError): AgentChest {
  const call: AgentChest['call'] = async (name, input = {}, options = {}) => {
    const limit = ledger.beginCalls(1);
    return limit === undefined ? tools.call(name, input, options.signal) : failed(pass(limit));
  };
  return {
    list: () => tools.shown(),
    search: (query, options) => tools.search(query, options),
    call,
    async callAll(calls) {
      if (!Array.isArray(calls)) throw new ToolcribError('invalid_option', 'callAll() needs a list of calls.');
      const answer = async (asked: CallRequest, index: number): Promise<CallAnswer> => {
        const { id = `call_${index}`, name = '', input } = Object(asked) as Partial<CallRequest>; // the crib checks name and input
        return { id, name, result: await call(name, input) };
      };
      const numbered = Array.from(calls, (asked: CallRequest, index) => ({ asked, index }));
      return mapAtMost(numbered, ledger.limits.parallelCalls, ({ asked, index }) => answer(asked, index));
    },
  };
}
