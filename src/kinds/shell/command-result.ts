import { constants } from 'node:os';
import { isJson } from '../../core/json.ts';
import { toolError } from '../../core/tool-error.ts';
import { done, type FailedResult, failed, type ToolResult } from '../../core/tool-result.ts';
import { parseJson } from '../../system/parse-json.ts';
import type { ProgramEnd } from '../../system/processes/programs.ts';
import type { ShellRun } from './shell-run.ts';

/** What a result is made with. */
export interface ResultContext {
  readonly name: string;
  readonly result: ShellRun['result'];
  readonly maxBytes: number;
  readonly isSandboxed: boolean;
}

const MAX_STDERR = 4000;
const MAX_WORDS = 1000;

/** What became of a command, for whoever called. */
export function toCommandResult(end: ProgramEnd, context: ResultContext): ToolResult {
  const { name, maxBytes, isSandboxed } = context;
  if (end.kind === 'failed') return cannotStart(name, end.reason);
  if (end.saidTooMuch)
    return failed(toolError('too_large', `"${name}" said more than ${maxBytes} bytes, and was ended; ask for less.`));
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
  // What is nested too deeply, or a number that is none, nobody could pass on.
  if (isJson(data)) return done(text.trim(), data);
  return failed(toolError('invalid_output', `"${name}" was to print JSON, and printed something else.`));
}

function commandFailed(
  end: Extract<ProgramEnd, { kind: 'ended' }>,
  { name, isSandboxed }: ResultContext,
): FailedResult {
  const { code: exitCode, stdout } = end;
  // Who passes on how a program ended adds 128, as shells do.
  const signal = end.signal ?? (isSandboxed ? signalOf(exitCode) : null);
  const stderr = lastOf(end.stderr, MAX_STDERR);
  const how = signal === null ? `exit code ${exitCode}` : signal;
  const words = lastOf(stderr.trimEnd(), MAX_WORDS);
  const error = toolError('tool_error', `"${name}" ended with ${how}${words === '' ? '.' : `: ${words}`}`);
  const said = lastOf(stdout.subarray(-4 * MAX_STDERR).toString('utf8'), MAX_STDERR);
  return { ...failed(error), data: { exitCode, signal, stderr, ...(said !== '' && { stdout: said }) } };
}

function signalOf(exitCode: number | null): string | null {
  const entry = Object.entries(constants.signals).find(([, number]) => number + 128 === exitCode);
  return entry?.[0] ?? null;
}

const UNKNOWN = 'its program cannot be started';
const NOT_THERE = 'its program, or the folder it runs in, is not there';
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: NOT_THERE,
  ENOTDIR: NOT_THERE,
  // Also where a folder of PATH is not for us.
  EACCES: 'its program may not be run, or is not there',
};

function cannotStart(name: string, reason: string): FailedResult {
  const cause = new Error(`its program cannot be started: ${reason}`);
  if (reason === 'E2BIG')
    return failed(
      toolError('invalid_input', `The arguments of "${name}" are longer than a program can take.`, { cause }),
    );
  const isBusy = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'].includes(reason);
  const why = isBusy ? 'the machine has no room for another program; try again later' : (REASONS[reason] ?? UNKNOWN);
  return failed(toolError('unavailable', `"${name}" cannot be run: ${why}.`, { retryable: isBusy, cause }));
}

function noSandboxMade(name: string, said: string): FailedResult {
  const cause = new Error(lastOf(said, MAX_WORDS));
  return failed(toolError('unavailable', `"${name}" cannot be run: its sandbox could not be made.`, { cause }));
}

/** The end of a text, whole characters only. */
function lastOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = text.slice(-length);
  return `…${/^[\uDC00-\uDFFF]/.test(end) ? end.slice(1) : end}`;
}
