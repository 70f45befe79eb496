import { deferRun } from '../../core/begun-runs.ts';
import type { ExecutorReview } from '../../core/executor.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { createPrograms, type RunningProgram } from '../../system/processes/programs.ts';
import { type CommandPlan, planCommand } from './command-plan.ts';
import { toCommandResult } from './command-result.ts';
import { UnfitArgument } from './fill-command.ts';
import type { ShellPorts } from './kind.ts';
import { type PreparedProgram, prepareProgram } from './prepare-program.ts';
import { type Preparation, resolveCall } from './resolve-call.ts';
import { reviewCommands } from './review-commands.ts';
import { bubblewrapMark, type FoundSandbox, findSandbox } from './sandbox/sandbox.ts';
import type { ShellRun } from './shell-run.ts';

/** Runs commands, and ends them. */
export interface Commands {
  run(call: ToolCall, run: ShellRun): Promise<ToolResult>;
  /** Why a call would be refused; starts nothing. */
  precheck(call: ToolCall, run: ShellRun): Promise<ToolError | undefined>;
  review(specs: readonly ToolSpec[]): Promise<ExecutorReview>;
  close(): Promise<void>;
}

/** How much a command may say, on each of its outputs. */
const MAX_BYTES = 10_000_000;

/** Nothing is started before the first command. */
export function createCommands(ports: ShellPorts): Commands {
  const programs = createPrograms();
  const plans = new WeakMap<ShellRun, CommandPlan>();
  const sandboxOf = rememberSandbox();
  let isClosed = false;
  const planOf = (run: ShellRun, call: ToolCall): CommandPlan => {
    const plan = plans.get(run) ?? planCommand(run, call.spec);
    plans.set(run, plan);
    return plan;
  };
  const prepare = (call: ToolCall, run: ShellRun): Preparation => ({
    call,
    run,
    plan: planOf(run, call),
    ports,
    findSandbox: () => sandboxOf(ports.env.PATH),
  });
  return {
    async precheck(call, run) {
      try {
        await resolveCall(prepare(call, run));
        return undefined;
      } catch (cause) {
        return refusal(cause, call);
      }
    },
    review: async (specs) => reviewCommands(specs, ports, await sandboxOf(ports.env.PATH)),
    async run(call, run) {
      const deferred = deferRun(call);
      let reason: ToolError | undefined;
      let running: RunningProgram | undefined;
      let prepared: PreparedProgram | undefined;
      const stopListening = call.onAbort((aborted) => {
        reason = aborted;
        running?.stop();
      });
      try {
        prepared = await prepareProgram(prepare(call, run));
        if (reason !== undefined) return failed(reason); // called off before it began
        if (isClosed || !deferred.begin()) return closed(call);
        running = programs.run({ ...prepared.program, maxBytes: MAX_BYTES });
        const end = await running.ended;
        if (end.kind === 'failed') deferred.takeBack(); // nothing was started
        if (reason !== undefined) return failed(reason);
        if (isClosed) return closed(call);
        return toCommandResult(end, {
          name: call.spec.name,
          result: run.result,
          maxBytes: MAX_BYTES,
          isSandboxed: prepared.program.isContained,
        });
      } catch (cause) {
        return failed(reason ?? refusal(cause, call));
      } finally {
        prepared?.release();
        stopListening();
      }
    },
    async close() {
      isClosed = true;
      await programs.close();
    },
  };
}

/**
 * It is tried out once, and again where the PATH leads to another one or to none; where the machine was only busy, by the
 * next call. Once there was one, no command runs without because it went away.
 */
function rememberSandbox(): (path: string | undefined) => Promise<FoundSandbox> {
  let last: { readonly mark: string; readonly looking: Promise<FoundSandbox> } | undefined;
  let wasThere = false;
  const look = async (path: string | undefined): Promise<FoundSandbox> => {
    const found = await findSandbox(path);
    if (!found.ok && found.mayPass) last = undefined;
    wasThere ||= found.ok;
    if (found.ok || !wasThere) return found;
    return { ...found, mayPass: true, reason: `${found.reason}, and there was one before` };
  };
  return (path) => {
    const mark = bubblewrapMark(path);
    if (last?.mark !== mark) last = { mark, looking: look(path) };
    return last.looking;
  };
}

function refusal(cause: unknown, { spec: { name } }: ToolCall): ToolError {
  if (cause instanceof UnfitArgument) {
    const message = `The arguments of "${name}" are not valid; correct them and call again.`;
    return toolError('invalid_input', message, { issues: [cause.issue] });
  }
  if (!(cause instanceof ToolcribError)) throw cause;
  return toolError('unavailable', `"${name}" cannot be run: ${REASONS[cause.code] ?? cause.message}.`, { cause });
}

/** What may be said of what whoever set the tool up has to mend. */
const REASONS: Readonly<Record<string, string>> = {
  missing_secret: 'a secret that it needs is missing',
  unknown_secret: 'a secret that it needs is missing',
  missing_folder: 'a folder that it needs is not there',
  missing_program: 'its program is not there',
  outside_folder: 'the folder it runs in is not one that it may use',
  loose_link: 'a folder that it may write holds a link by which the crib finds its files; toolcrib check names it',
};

function closed({ spec: { name } }: ToolCall): ToolResult {
  return failed(toolError('unavailable', `"${name}" was ended, because the crib is closed.`));
}
