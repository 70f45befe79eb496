import { packageVersion } from '../../../system/package-version.ts';
import type { Command, CommandWord, ExitCode, Invocation } from '../command.ts';
import { AVAILABLE, COMMANDS } from '../commands.ts';
import { type FlagName, findFlag, GLOBAL_FLAGS } from '../flags.ts';
import { paint, print, printJson } from '../output.ts';
import { findCommand } from '../parse-command-line.ts';

/** `toolcrib help [COMMAND]`. */
export async function printHelp({ words, flags }: Invocation): Promise<ExitCode> {
  const [name] = words;
  if (flags.json === true) printJson({ commands: AVAILABLE.map(toListed) });
  else print(name === undefined ? overview() : helpOf(findCommand(name)));
  return 0;
}

function overview(): string {
  return [
    'Usage: toolcrib COMMAND [--config FILE] [--profile NAME] [--json]',
    'One tool layer for AI agents: check, list and call the tools of a toolcrib.yaml.',
    heading('Commands'),
    ...rows(AVAILABLE.map((command) => [synopsis(command), command.summary])),
    heading('Flags of every command'),
    ...rows([...GLOBAL_FLAGS, 'version'].map((flag) => flagRow(flag))),
    heading('Not available in this version'),
    `  ${COMMANDS.filter(({ isLater }) => isLater)
      .map((command) => command.name)
      .join(', ')}`,
    heading('Exit code'),
    '  0 success, 1 the call failed or was refused, 2 wrong usage or configuration, 130 interrupted',
    '',
    'Results go to stdout, everything else to stderr. "toolcrib help COMMAND" explains one command.',
  ].join('\n');
}

function helpOf(command: Command): string {
  const { summary, flags = [], examples = [] } = command;
  const uses = flags.length > 0 ? ' [FLAGS]' : '';
  return [
    `Usage: toolcrib ${synopsis(command)}${uses}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...(flags.length === 0 ? [] : [heading('Flags'), ...rows(flags.map((flag) => flagRow(flag, command)))]),
    heading('Flags of every command'),
    ...rows(GLOBAL_FLAGS.map((flag) => flagRow(flag, command))),
    ...(examples.length === 0 ? [] : [heading('Examples'), ...examples.map((example) => `  ${example}`)]),
  ].join('\n');
}

/** The command with its words. */
export function synopsis({ name, words = [] }: Command): string {
  return [name, ...words.map(toWord)].join(' ');
}

function toWord({ name, values, optional, many }: CommandWord): string {
  const text = `${values?.join('|') ?? name}${many === true ? ' ...' : ''}`;
  return optional === true ? `[${text}]` : text;
}

/** A flag with its value, and its meaning. */
export function flagRow(name: string, command?: Command): readonly [string, string] {
  const { takes, short, summary, values } = findFlag(name) ?? { summary: '' };
  const listed = command?.values?.[name as FlagName] ?? values; // undefined for other names
  const value = takes === undefined ? '' : ` ${listed?.join('|') ?? takes}`;
  return [`--${name}${value}${short === undefined ? '' : `, -${short}`}`, summary];
}

function rows(pairs: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.min(34, Math.max(...pairs.map(([left]) => left.length)));
  return pairs.map(([left, right]) =>
    left.length > width ? `  ${left}\n  ${' '.repeat(width)}  ${right}` : `  ${left.padEnd(width)}  ${right}`,
  );
}

function heading(text: string): string {
  return `\n${paint('bold', text)}`;
}

function toListed({ name, summary, flags = [] }: Command) {
  return { name, summary, flags: [...flags, ...GLOBAL_FLAGS] };
}

/** `toolcrib --version`. */
export async function printVersion({ flags }: Invocation): Promise<ExitCode> {
  const version = packageVersion();
  if (flags.json === true) printJson({ version, node: process.versions.node });
  else print(version);
  return 0;
}
