import type { Command, CommandWord, ExitCode, Invocation } from '../command.ts';
import { AVAILABLE, COMMANDS } from '../commands.ts';
import { FLAGS, type FlagDefinition, type FlagName, findFlag, GLOBAL_FLAGS, usage } from '../flags.ts';
import { type KeptNames, readNames } from '../kept-names.ts';
import { print } from '../output.ts';
import { flagsOf } from '../parse-command-line.ts';

/**
 * `toolcrib __complete WORDS`: prints the completions of the last word, one per line; none where the shell completes file
 * names. The user has only pressed Tab, maybe in an untrusted folder, so the configuration is neither read nor started:
 * the names come from the cache of earlier commands.
 */
export async function completeWords(words: readonly string[]): Promise<ExitCode> {
  const current = words.at(-1) ?? '';
  const typed = readTyped(words.slice(0, -1));
  const fitting = candidatesFor(typed, current).filter((word) => word.startsWith(current));
  if (fitting.length > 0) print(fitting.join('\n'));
  return 0;
}

/** The parsed words before the completed one. */
interface Typed {
  readonly command: Command | undefined;
  readonly words: readonly string[];
  /** The flag whose value is being completed. */
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
    } else if (word.startsWith('--config=')) config = word.slice('--config='.length);
    else if (word.startsWith('--')) open = takesValue(word.slice(2)) ? word.slice(2) : undefined;
    else if (!word.startsWith('-')) words.push(word);
  }
  const command = COMMANDS.find(({ name }) => name === words[0]);
  return { command, words: command === undefined ? words : words.slice(1), open, config };
}

function takesValue(flag: string): boolean {
  return findFlag(flag)?.takes !== undefined;
}

function candidatesFor(typed: Typed, current: string): readonly string[] {
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

function valuesOf(flag: string, { config, command }: Typed): readonly string[] {
  const name = flag as FlagName; // it takes a value, so it is known
  const definition: FlagDefinition = FLAGS[name];
  const values = command?.values?.[name] ?? definition.values;
  if (values !== undefined) return values;
  switch (flag) {
    case 'profile':
      return readNames(config).profiles;
    case 'bundle':
      return readNames(config).bundles;
    case 'source':
      return readNames(config).sources;
    case 'tag':
      return readNames(config).tags;
    case 'tool':
      return toolsOf(readNames(config));
    default:
      return [];
  }
}

function wordCandidates(word: CommandWord | undefined, { config, words: [first = ''] }: Typed): readonly string[] {
  if (word?.values !== undefined) return word.values;
  switch (word?.completes) {
    case 'command':
      return available();
    case 'tool':
      return toolsOf(readNames(config));
    case 'argument':
      return (readNames(config).tools.get(first) ?? []).map((argument) => `${argument}=`);
    case 'source':
      return readNames(config).sources;
    case 'target':
      return targetsOf(readNames(config));
    case 'spec':
      return first === 'add' ? [] : toolsOf(readNames(config));
    default:
      return [];
  }
}

function toolsOf({ tools }: KeptNames): readonly string[] {
  return [...tools.keys()];
}

/** The targets of an emergency stop. */
function targetsOf({ tools, sources, profiles }: KeptNames): readonly string[] {
  const named = { tool: [...tools.keys()], source: sources, profile: profiles };
  return ['all', ...Object.entries(named).flatMap(([kind, names]) => names.map((name) => `${kind}:${name}`))];
}

function available(): readonly string[] {
  return AVAILABLE.map(({ name }) => name);
}

const BASH = `# toolcrib completion for bash: source <(toolcrib completion bash)
_toolcrib() {
  local IFS=$'\\n'
  COMPREPLY=($(toolcrib __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _toolcrib toolcrib`;

const ZSH = `#compdef toolcrib
# toolcrib completion for zsh: source <(toolcrib completion zsh)
_toolcrib() {
  local -a found
  found=("\${(@f)$(toolcrib __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  if (( \${#found} == 0 )); then _files; return; fi
  compadd -- "\${(@)found:#*=}"
  compadd -S '' -- "\${(@M)found:#*=}"
}
if [[ "\${funcstack[1]}" == _toolcrib ]]; then _toolcrib "$@"; else compdef _toolcrib toolcrib; fi`;

const FISH = `# toolcrib completion for fish: toolcrib completion fish | source
function __toolcrib_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (toolcrib __complete $words[2..-1] "$current" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c toolcrib -f -a '(__toolcrib_complete)'`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

/** `toolcrib completion SHELL`: prints a script that runs `toolcrib __complete` for every word. */
export async function printCompletion({ words }: Invocation): Promise<ExitCode> {
  const [shell = ''] = words;
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) throw usage(`Completion for "${shell}" is not supported; choose bash, zsh or fish.`);
  print(script);
  return 0;
}
