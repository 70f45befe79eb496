import { parseArgs } from 'node:util';
import { didYouMean } from '../../core/read-options.ts';
import { notAvailable, type ToolcribError } from '../../core/tool-error.ts';
import type { Command, Invocation } from './command.ts';
import { AVAILABLE, COMMANDS } from './commands.ts';
import { FLAGS, type FlagDefinition, type FlagName, type Flags, findFlag, GLOBAL_FLAGS, usage } from './flags.ts';

/** A valid command line. */
export interface ParsedCommandLine extends Invocation {
  readonly command: Command;
}

const OPTIONS = Object.fromEntries(
  Object.entries<FlagDefinition>(FLAGS).map(([name, { takes, short }]) => [
    name,
    {
      type: takes === undefined ? 'boolean' : 'string',
      multiple: true,
      ...(short !== undefined && { short }),
    } as const,
  ]),
);

type Token = ReturnType<typeof tokenize>[number];

/** Parses arguments into a command with its words and flags; throws a usage error for invalid ones. */
export function parseCommandLine(args: readonly string[]): ParsedCommandLine {
  const tokens = tokenize(args);
  const [name, ...words] = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  const given = readFlags(tokens);
  const command = findCommand(nameOf(name, given));
  if (command.isLater === true) {
    throw notAvailable(`"toolcrib ${command.name}"`, '"toolcrib help" lists the available commands');
  }
  if (given.has('help')) return { ...parseCommandLine(['help']), words: name === undefined ? [] : [command.name] };
  requireTaken(given, command);
  requireWords(words, command);
  return { command, words, ...toFlags(given, command) };
}

// Not strict, so that the error messages are ours.
function tokenize(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, strict: false, allowPositionals: true, tokens: true }).tokens;
}

function nameOf(name: string | undefined, given: Given): string {
  if (name !== undefined) return name;
  if (given.has('help')) return 'help';
  if (given.has('version')) return 'version';
  throw usage('Command missing.');
}

/** The command with this name; throws with a suggestion if it does not exist. */
export function findCommand(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const known = AVAILABLE.map((candidate) => candidate.name);
  throw usage(`Unknown command "${name}".${didYouMean(name, known)}`);
}

/** All values of each flag, in their order. */
type Given = ReadonlyMap<string, readonly (true | string)[]>;

function readFlags(tokens: readonly Token[]): Given {
  const given = new Map<string, (true | string)[]>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const definition = findFlag(token.name);
    if (definition === undefined) throw unknownFlag(token.rawName, token.name);
    given.set(token.name, [...(given.get(token.name) ?? []), readValue(token, definition)]);
  }
  return given;
}

function toFlags(given: Given, { repeats = [] }: Command): Pick<Invocation, 'flags' | 'lists'> {
  const isRepeated = (name: string) => repeats.some((repeated) => repeated === name);
  const [lists, single] = [true, false].map((wanted) => [...given].filter(([name]) => isRepeated(name) === wanted));
  const flags = single?.map(([name, values]) => {
    if (findFlag(name)?.many === true) return [name, values];
    if (new Set(values).size > 1) throw usage(`--${name} is given twice with different values.`);
    return [name, values[0]];
  });
  return {
    flags: Object.fromEntries(flags ?? []) as Flags, // each name is known, and its value is of the kind its definition says
    lists: Object.fromEntries(lists ?? []),
  };
}

function readValue(token: Token & { kind: 'option' }, { takes, values }: FlagDefinition): true | string {
  if (takes === undefined) {
    if (token.value !== undefined) throw usage(`${token.rawName} does not take a value.`);
    return true;
  }
  const isForgotten = token.value === undefined || (!token.inlineValue && /^-\D/.test(token.value));
  if (isForgotten) throw usage(`${token.rawName} needs a value: ${token.rawName} ${takes}.`);
  const value = String(token.value);
  requireListed(token.rawName, value, values);
  return value;
}

function requireListed(flag: string, value: string, values: readonly string[] | undefined): void {
  if (values === undefined || values.includes(value)) return;
  throw usage(`${flag} must be one of ${values.join(', ')}, not "${value}".${didYouMean(value, values)}`);
}

function requireTaken(given: Given, command: Command): void {
  const taken = flagsOf(command);
  const foreign = [...given.keys()].find((name) => !taken.includes(name));
  if (foreign !== undefined)
    throw usage(`"toolcrib ${command.name}" does not take --${foreign}.${suggestFlag(foreign, taken)}`, command.name);
  for (const [name, allowed] of Object.entries(command.values ?? {}))
    for (const value of given.get(name) ?? []) requireListed(`--${name}`, String(value), allowed);
}

function requireWords(words: readonly string[], command: Command): void {
  const wanted = command.words ?? [];
  const missing = wanted.find((word, index) => word.optional !== true && words[index] === undefined);
  if (missing !== undefined) throw usage(`"toolcrib ${command.name}" needs ${missing.name}.`, command.name);
  if (wanted.some((word) => word.many === true) || words.length <= wanted.length) return;
  throw usage(`"toolcrib ${command.name}" does not take the extra argument "${words[wanted.length]}".`, command.name);
}

/** The names of all flags of a command. */
export function flagsOf(command: Command): readonly string[] {
  return [...(command.flags ?? []), ...GLOBAL_FLAGS];
}

function unknownFlag(rawName: string, name: string): ToolcribError {
  const known = Object.keys(FLAGS) as FlagName[]; // the keys of a literal
  return usage(`Unknown flag ${rawName}.${suggestFlag(name, known)}`);
}

function suggestFlag(name: string, known: readonly string[]): string {
  return didYouMean(
    `--${name}`,
    known.map((candidate) => `--${candidate}`),
  );
}
