import type { JsonSchema } from '../../core/json.ts';
import { toolError } from '../../core/tool-error.ts';
import { dataToResult, done, type FailedResult, failed, type ToolResult } from '../../core/tool-result.ts';
import type { ScriptEnd, ScriptLimits } from './script-messages.ts';

interface ResultParts {
  readonly lines: readonly string[];
  readonly limits: ScriptLimits;
  /** The output schema of the tool, if it has one. */
  readonly output: JsonSchema | undefined;
  /** True if the caller wrote the code. */
  readonly isFromInput: boolean;
}

/** The result of a script for its caller. */
export function toScriptResult(end: ScriptEnd, parts: ResultParts): ToolResult {
  const { lines } = parts;
  if (end.kind === 'returned') {
    if (end.text !== undefined) return dataToResult(JSON.parse(end.text), parts.output); // made by JSON.stringify in the machine
    return done(lines.length === 0 ? 'The script returned nothing.' : lines.join('\n'));
  }
  const result = failureOf(end, parts);
  if (lines.length === 0) return result;
  const text = `${result.error.message}\n\nConsole output:\n${lines.join('\n')}`;
  return { ...result, content: [{ type: 'text', text }] };
}

function failureOf(end: Exclude<ScriptEnd, { readonly kind: 'returned' }>, parts: ResultParts): FailedResult {
  const { limits } = parts;
  const error = (message: string) => failed(toolError('tool_error', `The script ${message}`));
  switch (end.kind) {
    case 'thrown': {
      const { text, line } = end.error;
      return error(`failed${line === undefined ? '' : ` at line ${line}`}: ${cut(text)}`);
    }
    case 'syntax':
      return syntaxError(end.message, parts);
    case 'cpu':
      return failed(
        toolError('timeout', `The script computed for more than ${limits.cpuMs} ms (executors.script.cpuMs).`),
      );
    case 'memory':
      return error(`used more than ${limits.memoryMb} MB of memory (executors.script.memoryMb).`);
    case 'stack':
      return error(`used more than ${limits.stackKb} KB of stack (executors.script.stackKb).`);
    case 'broken':
      return error('broke its sandbox and was ended, probably because it used too much memory or stack.');
    case 'output': {
      const message = `The script returned more than ${limits.maxOutputBytes} bytes (executors.script.maxOutputBytes). Return less.`;
      return failed(toolError('too_large', message));
    }
    case 'diverged':
      return failed(
        toolError(
          'conflict',
          `The script could not be continued: it took another path than before. ${capital(end.message)}. Start it again.`,
        ),
      );
    case 'unsettled':
      return error('waits for a promise that never settles. Await only calls of tools and search().');
  }
}

function syntaxError(problem: string, { isFromInput }: ResultParts): FailedResult {
  const message = `The code cannot be compiled: ${cut(problem)}. It runs as the body of an async function: import and export are not available.`;
  if (!isFromInput) return failed(toolError('tool_error', message));
  return failed(toolError('invalid_input', message, { issues: [{ path: '/code', message: cut(problem) }] }));
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const LONGEST = 2000;

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text;
}
