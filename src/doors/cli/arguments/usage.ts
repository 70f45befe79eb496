import { ToolcribError } from '../../../core/tool-error.ts';

/** A mistake on the command line, with where to read more. */
export function usage(message: string, command?: string): ToolcribError {
  const more = command === undefined ? 'toolcrib help' : `toolcrib help ${command}`;
  return new ToolcribError('usage', `${message} See "${more}".`);
}
