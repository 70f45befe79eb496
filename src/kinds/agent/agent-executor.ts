import type { KindPorts } from '../../config/records.ts';
import type { Executor, ExecutorReview } from '../../core/executor.ts';
import { RUN, type ToolSpec } from '../../core/tool-spec.ts';
import type { AgentConfig } from './agent-kind.ts';
import { AGENT_RUN_SCHEMA, type AgentRun, checkAgentRun, type Known, missingPart } from './agent-run.ts';
import type { ModelPorts } from './model-exchange.ts';
import type { AgentRunner } from './run-agent.ts';

/** Options for running agents. */
export interface AgentPorts extends ModelPorts, Pick<KindPorts, 'agents'> {
  options(): Partial<AgentConfig>;
}

/** Runs tools that are agents. The loop and the client of models are loaded with the first call. */
export function agentExecutor(ports: AgentPorts): Executor {
  const { options, agents } = ports;
  let runner: AgentRunner | undefined;
  let isClosed = false;
  const load = async (): Promise<AgentRunner> => {
    const { createAgentRunner } = await import('./run-agent.ts');
    runner ??= createAgentRunner(ports);
    if (isClosed) runner.close(); // while it was being loaded
    return runner;
  };
  return {
    kind: 'agent',
    runSchema: AGENT_RUN_SCHEMA,
    check: (run, spec) => checkAgentRun(run as AgentRun, spec), // the schema was checked first
    review: (specs) => reviewAgents(specs, { models: options().models ?? {}, agents: Object.keys(agents) }),
    async execute(call, run) {
      return (runner ?? (await load())).run(call, run as AgentRun); // checked when the spec was loaded
    },
    async close() {
      isClosed = true;
      runner?.close();
    },
  };
}

/** Tools whose model or agent is not there, and tools with the usual timeout, which is short for an agent. */
function reviewAgents(specs: readonly ToolSpec[], known: Known): ExecutorReview {
  const problems = specs.flatMap((spec) => {
    const missing = missingPart(spec[RUN] as AgentRun, known); // specs of this kind
    return missing === undefined ? [] : [`"${spec.name}" cannot be called: ${missing}`];
  });
  const short = specs.filter(({ policy }) => policy.timeoutMs === undefined).map(({ name }) => name);
  if (short.length === 0) return { problems, notes: [] };
  const note = `Agents without policy.timeoutMs end after the usual timeout of calls: ${short.join(', ')}.`;
  return { problems, notes: [note] };
}
