import { usage } from '../arguments/usage.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { print } from '../output/output.ts';

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

/** `toolcrib completion SHELL`: a script that asks `toolcrib __complete` for every word. */
export async function printCompletion({ words }: Invocation): Promise<ExitCode> {
  const [shell = ''] = words;
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) throw usage(`There is no completion for "${shell}"; there is for bash, zsh and fish.`);
  print(script);
  return 0;
}
