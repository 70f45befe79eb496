import type { Crib } from '../../../crib/crib.ts';
import { AVAILABLE, COMMANDS, type Command, type ExitCode, type Word } from '../commands.ts';
import { FLAGS, type FlagDefinition, findFlag, GLOBAL_FLAGS } from '../flags.ts';
import { openCrib } from '../open-crib.ts';
import { print } from '../output.ts';
import { flagsOf } from '../parse-command-line.ts';

/** Whoever presses Tab does not wait for a slow source. */
const PATIENCE_MS = 1500;

/** `toolcrib __complete WORDS`: what the last word may become, one a line; nothing where a file name may stand. */
export async function completeWords(words: readonly string[]): Promise<ExitCode> {
  const current = words.at(-1) ?? '';
  const typed = readTyped(words.slice(0, -1));
  const candidates = await candidatesFor(typed, current);
  const fitting = candidates.filter((word) => word.startsWith(current) && /^[\w.@:|=-]+$/.test(word));
  if (fitting.length > 0) print(fitting.join('\n'));
  return 0;
}

/** What stands before the word that is completed. */
interface Typed {
  readonly command: Command | undefined;
  readonly words: readonly string[];
  /** The flag whose value is completed. */
  readonly open: string | undefined;
  readonly config: string | undefined;
}

function readTyped(before: readonly string[]): Typed {
  const words: string[] = [];
  let open: string | undefined;
  let config: string | undefined;
  for (const word of before) {
    if (open !== undefined) {
      if (open === 'config') config = word;
      open = undefined;
    } else if (word.startsWith('--')) open = takesValue(word.slice(2)) ? word.slice(2) : undefined;
    else if (!word.startsWith('-')) words.push(word);
  }
  const command = COMMANDS.find(({ name }) => name === words[0]);
  return { command, words: command === undefined ? words : words.slice(1), open, config };
}

function takesValue(flag: string): boolean {
  return findFlag(flag)?.takes !== undefined;
}

async function candidatesFor(typed: Typed, current: string): Promise<readonly string[]> {
  const { command, open } = typed;
  if (open !== undefined) return valuesOf(open, typed);
  if (current.startsWith('-')) {
    const names = command === undefined ? [...GLOBAL_FLAGS, 'version'] : flagsOf(command);
    return names.map((name) => `--${name}`);
  }
  if (command === undefined) return typed.words.length === 0 ? available() : [];
  const wanted = command.words ?? [];
  return wordCandidates(wanted[Math.min(typed.words.length, wanted.length - 1)], typed);
}

async function valuesOf(flag: string, typed: Typed): Promise<readonly string[]> {
  const { values }: FlagDefinition = FLAGS[flag as keyof typeof FLAGS]; // it takes a value, so it is known
  if (values !== undefined) return values;
  switch (flag) {
    case 'profile':
      return fromCrib(typed, (crib) => crib.profiles());
    case 'bundle':
      return fromCrib(typed, (crib) => crib.bundles.names());
    case 'source':
      return fromCrib(typed, (crib) => crib.sources().map(({ name }) => name));
    case 'tag':
      return fromCrib(typed, (crib) => [...new Set(crib.catalog.specs.flatMap((spec) => spec.tags))]);
    default:
      return [];
  }
}

async function wordCandidates(word: Word | undefined, typed: Typed): Promise<readonly string[]> {
  if (word?.values !== undefined) return word.values;
  switch (word?.completes) {
    case 'command':
      return available();
    case 'tool':
      return fromCrib(typed, (crib) => crib.catalog.specs.map((spec) => spec.name));
    case 'argument':
      return fromCrib(typed, (crib) => argumentsOf(crib, typed.words[0] ?? ''));
    case 'spec':
      return typed.words[0] === 'add' ? [] : fromCrib(typed, (crib) => crib.catalog.specs.map((spec) => spec.name));
    default:
      return [];
  }
}

function argumentsOf(crib: Crib, tool: string): readonly string[] {
  const properties = crib.get(tool)?.input.properties;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties).map((key) => `${key}=`) : [];
}

function available(): readonly string[] {
  return AVAILABLE.map(({ name }) => name);
}

// A configuration that cannot be used has no names to offer; "toolcrib check" says why.
async function fromCrib({ config }: Typed, read: (crib: Crib) => readonly string[]): Promise<readonly string[]> {
  setTimeout(() => process.exit(0), PATIENCE_MS);
  try {
    const crib = await openCrib(config === undefined ? {} : { config });
    return read(crib);
  } catch {
    return [];
  }
}
