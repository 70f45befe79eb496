import { constants } from 'node:os';
import { deferRun } from '../../core/begun-runs.ts';
import type { ExecutorReview } from '../../core/executor.ts';
import { isJson } from '../../core/json.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import { done, type FailedResult, failed, type ToolResult } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { parseJson } from '../../system/parse-json.ts';
import { describeWithheld, isNetworkTrouble } from '../../system/processes/network-trouble.ts';
import { createPrograms, type ProgramEnd, type RunningProgram } from '../../system/processes/programs.ts';
import { type CommandPlan, planCommand, UnfitArgument } from './command-plan.ts';
import { type PreparedProgram, prepareProgram } from './prepare-program.ts';
import { type Preparation, resolveCall } from './resolve-call.ts';
import { reviewCommands } from './review-commands.ts';
import { bubblewrapMark, type FoundSandbox, findSandbox } from './sandbox.ts';
import type { ShellPorts } from './shell-kind.ts';
import type { ShellRun } from './shell-run.ts';

/** Runs and ends commands. */
export interface Commands {
  run(call: ToolCall, run: ShellRun): Promise<ToolResult>;
  /** The reason a call would be refused; starts nothing. */
  precheck(call: ToolCall, run: ShellRun): Promise<ToolError | undefined>;
  review(specs: readonly ToolSpec[]): Promise<ExecutorReview>;
  close(): Promise<void>;
}

/** Output limit of a command, for stdout and stderr each. */
const MAX_BYTES = 10_000_000;

/** Creates the runner; nothing starts before the first command. */
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
        if (reason !== undefined) return failed(reason); // cancelled before it started
        if (isClosed || !deferred.begin()) return closed(call);
        running = programs.run({ ...prepared.program, maxBytes: MAX_BYTES });
        const end = await running.ended;
        if (end.kind === 'failed') deferred.takeBack(); // nothing was started
        if (reason !== undefined) return failed(reason);
        if (isClosed) return closed(call);
        return toCommandResult(end, {
          name: call.spec.name,
          result: run.result,
          isSandboxed: prepared.program.isContained,
          networkHint: networkHintOf(run, prepared, ports),
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
 * Caches the sandbox probe. It is repeated when PATH leads to another bubblewrap or to none; after a busy machine, by
 * the next call. Once a sandbox was available, no command runs without one because it went away.
 */
function rememberSandbox(): (path: string | undefined) => Promise<FoundSandbox> {
  let last: { readonly mark: string; readonly looking: Promise<FoundSandbox> } | undefined;
  let wasThere = false;
  const look = async (path: string | undefined): Promise<FoundSandbox> => {
    const found = await findSandbox(path);
    if (!found.ok && found.mayPass) last = undefined;
    wasThere ||= found.ok;
    if (found.ok || !wasThere) return found;
    return { ...found, mayPass: true, reason: `${found.reason}, although a sandbox was available before` };
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
  return toolError('unavailable', `"${name}" cannot run: ${REASONS[cause.code] ?? cause.message}.`, { cause });
}

/** Reasons that may be shown to callers; the details are for the operator. */
const REASONS: Readonly<Record<string, string>> = {
  missing_secret: 'a secret that it needs is missing',
  unknown_secret: 'a secret that it needs is missing',
  missing_folder: 'a folder that it needs does not exist',
  missing_program: 'its program is not found',
  outside_folder: 'its cwd or one of its folders is not allowed',
  loose_link: 'a folder that it may write contains a link to files of the crib; toolcrib check names it',
};

function closed({ spec: { name } }: ToolCall): ToolResult {
  return failed(toolError('unavailable', `"${name}" was stopped because the crib is closed.`));
}

/** Options for making a result. */
interface ResultContext {
  readonly name: string;
  readonly result: ShellRun['result'];
  readonly isSandboxed: boolean;
  /** A hint about the network, derived from the output of the command. */
  networkHint(said: string): string;
}

const MAX_STDERR = 4000;
const MAX_WORDS = 1000;

/** Converts the end of a command into a result. */
function toCommandResult(end: ProgramEnd, context: ResultContext): ToolResult {
  const { name, isSandboxed } = context;
  if (end.kind === 'failed') return cannotStart(name, end.reason);
  if (end.saidTooMuch)
    return failed(
      toolError('too_large', `"${name}" was stopped because it printed more than ${MAX_BYTES} bytes; ask for less.`),
    );
  if (isSandboxed && end.code === 1 && end.stderr.startsWith('bwrap: ')) return noSandboxMade(name, end.stderr);
  if (end.code !== 0) return commandFailed(end, context);
  const result = answerOf(end.stdout.toString('utf8'), context);
  const stderr = lastOf(end.stderr, MAX_STDERR);
  return stderr === '' ? result : { ...result, meta: { 'toolcrib/stderr': stderr } };
}

function answerOf(text: string, { name, result = 'text' }: ResultContext): ToolResult {
  if (result === 'text') return done(text);
  if (result === 'lines') return done(text, text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/));
  const data = parseJson(text);
  // JSON that is nested too deeply or has an invalid number cannot be passed on.
  if (isJson(data)) return done(text.trim(), data);
  return failed(toolError('invalid_output', `"${name}" did not print valid JSON.`));
}

function commandFailed(
  end: Extract<ProgramEnd, { kind: 'ended' }>,
  { name, isSandboxed, networkHint }: ResultContext,
): FailedResult {
  const { code: exitCode, stdout } = end;
  // Programs that pass on an exit status add 128, as shells do.
  const signal = end.signal ?? (isSandboxed ? signalOf(exitCode) : null);
  const stderr = lastOf(end.stderr, MAX_STDERR);
  const how = signal === null ? `exit code ${exitCode}` : signal;
  const words = lastOf(stderr.trimEnd(), MAX_WORDS);
  const hint = networkHint(stderr);
  const why = words === '' ? '.' : `: ${words}`;
  const error = toolError('tool_error', `"${name}" ended with ${how}${why}${hint === '' ? '' : `\n${hint}`}`);
  const said = lastOf(stdout.subarray(-4 * MAX_STDERR).toString('utf8'), MAX_STDERR);
  return { ...failed(error), data: { exitCode, signal, stderr, ...(said !== '' && { stdout: said }) } };
}

/** Explains network failures, which only the operator can fix. */
function networkHintOf(run: ShellRun, { program }: PreparedProgram, { env }: ShellPorts): ResultContext['networkHint'] {
  return (said) => {
    const hasNetwork = !program.isContained || run.sandbox?.network !== false;
    if (!hasNetwork) return isNetworkTrouble(said) ? 'Its sandbox has no network: sandbox.network is false.' : '';
    return describeWithheld({
      said,
      env,
      given: program.env,
      cure: 'set the ones that it needs in the env of its run',
    });
  };
}

function signalOf(exitCode: number | null): string | null {
  const entry = Object.entries(constants.signals).find(([, number]) => number + 128 === exitCode);
  return entry?.[0] ?? null;
}

const UNKNOWN = 'its program cannot be started';
const NOT_THERE = 'its program or its cwd does not exist';
const REFUSALS: Readonly<Record<string, string>> = {
  ENOENT: NOT_THERE,
  ENOTDIR: NOT_THERE,
  // Also if a folder of PATH is not accessible.
  EACCES: 'its program is not executable or does not exist',
};

function cannotStart(name: string, reason: string): FailedResult {
  const cause = new Error(`its program cannot be started: ${reason}`);
  if (reason === 'E2BIG')
    return failed(
      toolError('invalid_input', `The arguments of "${name}" are too long for a program; pass less.`, { cause }),
    );
  const isBusy = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'].includes(reason);
  const why = isBusy
    ? 'the machine has no resources for another process; try again later'
    : (REFUSALS[reason] ?? UNKNOWN);
  return failed(toolError('unavailable', `"${name}" cannot run: ${why}.`, { retryable: isBusy, cause }));
}

function noSandboxMade(name: string, said: string): FailedResult {
  const cause = new Error(lastOf(said, MAX_WORDS));
  return failed(toolError('unavailable', `"${name}" cannot run: its sandbox could not be created.`, { cause }));
}

/** The end of a text, without splitting a character. */
function lastOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = text.slice(-length);
  return `…${/^[\uDC00-\uDFFF]/.test(end) ? end.slice(1) : end}`;
}
