import { ToolcribError } from '../../core/tool-error.ts';

/** What only a shell understands, where it stands outside quotes. */
const SHELL_SYNTAX = /[|&;<>`]|\$[({A-Za-z_]/;

/** What a shell would replace even inside double quotes. */
const EXPANSION = /(?<!\\)(?:`|\$[({A-Za-z_])/;

const WORD = /(?:[^\s"'\\]|\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"|'[^']*')+/g;
const PART = /\\([\s\S])|"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|([^"'\\]+)/g;

/**
 * A command line as an argument list: split on white space, quotes respected. There is no shell, so a command that
 * needs one is refused rather than run as something else.
 */
export function splitCommand(command: string): readonly string[] {
  const rest = command.replace(WORD, '').trim();
  if (rest !== '')
    throw refuse(command, `has ${rest.startsWith('\\') ? 'a \\ at its end' : 'a quote that is not closed'}`);
  const words = command.match(WORD) ?? [];
  if (words.length === 0) throw refuse(command, 'is empty');
  return words.map((word) => unquote(word, command));
}

function unquote(word: string, command: string): string {
  return word.replaceAll(PART, (_part, escaped?: string, double?: string, single?: string, bare?: string) => {
    if (escaped !== undefined) return escaped;
    if (single !== undefined) return single;
    const syntax = double === undefined ? SHELL_SYNTAX.exec(bare ?? '') : EXPANSION.exec(double);
    if (syntax !== null) throw refuse(command, `uses "${syntax[0]}", which needs a shell`);
    return bare ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? '';
  });
}

function refuse(command: string, why: string): ToolcribError {
  const shown = command.length > 80 ? `${command.slice(0, 80)}…` : command;
  return new ToolcribError(
    'invalid_run',
    `The command ${JSON.stringify(shown)} ${why}; write it as a list of arguments.`,
  );
}
