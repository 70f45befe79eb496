import { parseArgs } from 'node:util';
import { didYouMean } from '../../core/read-options.ts';
import { notAvailable, type ToolcribError } from '../../core/tool-error.ts';
import { AVAILABLE, COMMANDS, type Command, type Invocation } from './commands.ts';
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
  const flags = readFlags(tokens);
  const command = findCommand(nameOf(name, flags));
  if (command.isLater === true) {
    throw notAvailable(`"toolcrib ${command.name}"`, '"toolcrib help" lists the available commands');
  }
  if (flags.help === true) return { ...parseCommandLine(['help']), words: name === undefined ? [] : [command.name] };
  requireTaken(flags, command);
  requireWords(words, command);
  return { command, words, flags };
}

// Not strict, so that the error messages are ours.
function tokenize(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, strict: false, allowPositionals: true, tokens: true }).tokens;
}

function nameOf(name: string | undefined, flags: Flags): string {
  if (name !== undefined) return name;
  if (flags.help === true) return 'help';
  if (flags.version === true) return 'version';
  throw usage('Command missing.');
}

/** The command with this name; throws with a suggestion if it does not exist. */
export function findCommand(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const known = AVAILABLE.map((candidate) => candidate.name);
  throw usage(`Unknown command "${name}".${didYouMean(name, known)}`);
}

function readFlags(tokens: readonly Token[]): Flags {
  const given = new Map<string, true | string | string[]>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const definition = findFlag(token.name);
    if (definition === undefined) throw unknownFlag(token.rawName, token.name);
    const value = readValue(token, definition);
    const before = given.get(token.name);
    if (definition.many === true) given.set(token.name, [...(Array.isArray(before) ? before : []), String(value)]);
    else if (before === undefined || before === value) given.set(token.name, value);
    else throw usage(`--${token.name} is given twice with different values.`);
  }
  return Object.fromEntries(given) as Flags; // each name is known, and its value is of the kind its definition says
}

function readValue(token: Token & { kind: 'option' }, { takes, values }: FlagDefinition): true | string {
  if (takes === undefined) {
    if (token.value !== undefined) throw usage(`${token.rawName} does not take a value.`);
    return true;
  }
  const isForgotten = token.value === undefined || (!token.inlineValue && /^-./.test(token.value));
  if (isForgotten) throw usage(`${token.rawName} needs a value: ${token.rawName} ${takes}.`);
  const value = String(token.value);
  if (values !== undefined && !values.includes(value)) {
    throw usage(`${token.rawName} must be one of ${values.join(', ')}, not "${value}".${didYouMean(value, values)}`);
  }
  return value;
}

function requireTaken(flags: Flags, command: Command): void {
  const taken = flagsOf(command);
  const foreign = Object.keys(flags).find((name) => !taken.includes(name));
  if (foreign === undefined) return;
  throw usage(`"toolcrib ${command.name}" does not take --${foreign}.${suggestFlag(foreign, taken)}`, command.name);
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
