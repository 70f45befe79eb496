import { basename } from 'node:path';
import { type ToolError, toolError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { PythonFailure } from './python-failure.ts';
import type { PythonAnswer } from './python-workers.ts';

/** What a worker that gave no answer means for whoever called. A call that was lost may be tried again only if doing it twice does no harm. */
export function pythonFailure(failure: PythonFailure, { name, effects }: ToolSpec): ToolError {
  const cause = failure;
  switch (failure.kind) {
    case 'unreachable':
      return toolError('unavailable', `"${name}" cannot be called: ${failure.message}.`, { cause });
    case 'busy':
      return toolError('unavailable', `"${name}" cannot be called now, since ${failure.message}; try again later.`, {
        retryable: true,
        cause,
      });
    case 'lost':
      return effects.idempotent === true || effects.readOnly === true
        ? toolError('unavailable', `The Python process of "${name}" ended before it answered.`, {
            retryable: true,
            cause,
          })
        : toolError(
            'unknown_outcome',
            `The Python process of "${name}" ended before it answered. It may have done what was asked: look before you try again.`,
            { cause },
          );
    case 'cancelled':
      return toolError('cancelled', `The call of "${name}" was cancelled.`, { cause });
  }
}

type Failing = Extract<PythonAnswer, { readonly kind: 'fail' }>;

/** What a function that gave no result means for whoever called. Where in its program it failed is for the log alone. */
export function answerFailure(
  { reason, message, trace }: Failing,
  { tool, module }: { readonly tool: string; readonly module: string },
): ToolError {
  switch (reason) {
    case 'raised':
      return toolError('tool_error', message, trace === undefined ? {} : { cause: new Error(trace) });
    case 'cancelled':
      return toolError('tool_error', `"${tool}" cancelled itself.`);
    case 'invalid':
      return toolError('invalid_input', `The arguments of "${tool}" do not fit: ${message}.`);
    case 'value':
      return toolError(
        'invalid_output',
        `The tool returned something of which ${message}; a tool must return JSON, text or nothing.`,
      );
    case 'large':
      return toolError('too_large', `"${tool}" answered with more than can be taken (${message}); ask for less.`);
    case 'missing':
      return toolError('unavailable', `"${tool}" cannot be called: its module ${basename(module)} ${message}.`);
  }
}
