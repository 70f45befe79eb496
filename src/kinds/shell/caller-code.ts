import { hasSecret, namesIn, type Template } from '../../specs/template.ts';
import type { CommandPlan } from './command-plan.ts';
import { type Interpreter, interpreterOf, isShell, STARTERS } from './interpreters.ts';

/** True for an argument whose values cannot be code: a number or the like. */
type IsHarmless = (name: string) => boolean;

const SHELL_OPTION = /^([-+][A-Za-z]*[cC]|--com[a-z]*$)/;
/** A shell option that contains its script. */
const SHELL_GLUED = /^--com[a-z]*=/;

/** Variables that control which code a program loads or starts, by themselves or as options of it. */
const CODE_VARIABLE = new RegExp(
  `^(${[
    '(LD_|DYLD_|PYTHON|GIT_CONFIG|GIT_SSH|LUA_|OPENSSL_|BASH_FUNC_|R_PROFILE|(npm|NPM)_(config|CONFIG)_).*',
    '(GCONV_|GIT_EXEC_|NODE_|CLASS|AWKLIB|AWK)?PATH|GLIBC_TUNABLES|DOTNET_STARTUP_HOOKS|NODE_REPL_EXTERNAL_MODULE',
    '(GIT_|GIT_SEQUENCE_|SUDO_|SYSTEMD_|HG)?EDITOR|VISUAL|(GIT_|MAN|SYSTEMD_)?PAGER|BROWSER|LESS(OPEN|CLOSE)',
    '(BASH_)?ENV|ZDOTDIR|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PS4|IFS|PHPRC|PHP_INI_SCAN_DIR',
    '(GIT|SSH|SUDO)_ASKPASS|GIT_(EXTERNAL_DIFF|PROXY_COMMAND)|(SVN_SSH|CVS_RSH|RSYNC_RSH|RSYNC_CONNECT_PROG)',
    '(NODE|BUN|_JAVA|JAVA_TOOL|JDK_JAVA|TAR)_OPTIONS|PERL5?(LIB|OPT|DB)|RUBY(LIB|OPT)|MAKE(FLAGS|FILES)|RIPGREP_CONFIG_PATH',
  ].join('|')})$`,
);

/** True for a variable that controls which code a program loads or starts. */
export function isCodeVariable(name: string): boolean {
  return CODE_VARIABLE.test(name);
}

/** Variables that the dynamic loader reads before a program's own code runs. */
export const LOADER_VARIABLE = /^(LD_.*|GCONV_PATH|GLIBC_TUNABLES)$/;

/** Finds caller text that would be read as code: as part of a script, or in a variable that selects code. */
export function checkCode(plan: CommandPlan, isHarmless: IsHarmless): readonly string[] {
  const scripts = [...scriptsOf(plan), ...readScriptsOf(plan)];
  const inScripts = new Set(scripts.flatMap(namesIn).filter((name) => !isHarmless(name)));
  const variables = plan.env.filter(([variable]) => isCodeVariable(variable));
  return [
    ...[...inScripts].map(
      (name) =>
        `{${name}} would be read as part of the script: pass it as an argument after the script (in sh: write "$1" in the script, and add a name and {${name}} after it)`,
    ),
    ...variables.flatMap(([variable, template]) =>
      namesIn(template)
        .filter((name) => !isHarmless(name))
        .map((name) => `{${name}} would control which code runs: ${variable} must not contain text of the caller`),
    ),
    // It is passed as an argument of bubblewrap.
    ...variables
      .filter(([variable, template]) => LOADER_VARIABLE.test(variable) && hasSecret(template))
      .map(([variable]) => `${variable} must not be a secret, because other users of the machine could see it`),
  ];
}

/** Scripts among the arguments. The interpreter may be at any position: other programs (env, find, timeout) start it. */
function scriptsOf(plan: CommandPlan): readonly Template[] {
  const words = wordsOf(plan);
  return words.flatMap((word, index) => {
    const name = nameOf(word);
    const rest = words.slice(index + 1);
    if (isShell(name)) return shellScript(rest) ?? [];
    const interpreter = interpreterOf(name);
    // An argument that is the whole script is meant to be run; one inside a script is not.
    return interpreter === undefined ? [] : codeAmong(interpreter, rest).filter(({ parts }) => parts.length > 1);
  });
}

/** The code among the words after an interpreter, up to its script file or the arguments of the code. */
function codeAmong(interpreter: Interpreter, words: readonly Template[]): readonly Template[] {
  const { code, glued, values, files, isFirstCode, isAfterFile } = interpreter;
  const found: Template[] = [];
  let expected: 'code' | 'file' | 'end' = isFirstCode ? 'code' : isAfterFile ? 'file' : 'end';
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? EMPTY;
    const option = literalOf(word);
    const isWhole = word.parts.length === 1;
    const start = glued?.exec(option)?.[0];
    if (isWhole && code.test(option)) expected = 'code';
    else if (start !== undefined) {
      found.push(withoutStart(word, start));
      expected = 'end';
    } else if (isWhole && values?.test(option) === true) index++;
    else if (isOption(word)) {
      if (files?.test(option) !== true) continue;
      expected = 'end';
      if (isWhole && !option.includes('=')) index++;
    } else if (expected === 'end') return found;
    else {
      if (expected === 'code') found.push(word);
      expected = 'end';
    }
  }
  return found;
}

const EMPTY: Template = { parts: [], mistakes: [] };

/** A word without the literal text at its start. */
function withoutStart({ parts: [first = '', ...rest], mistakes }: Template, start: string): Template {
  const left = typeof first === 'string' ? first.slice(start.length) : '';
  return { parts: left === '' ? rest : [left, ...rest], mistakes };
}

function shellScript(words: readonly Template[]): Template | undefined {
  let at = words.findIndex((word) => SHELL_OPTION.test(literalOf(word)) || SHELL_GLUED.test(literalOf(word)));
  if (at === -1 || SHELL_GLUED.test(literalOf(words[at]))) return words[at];
  while (at < words.length) {
    const option = literalOf(words[at]);
    if (option === '--') return words[at + 1];
    if (!/^[-+]/.test(option)) return words[at];
    at += /^[-+]\w*[oO]$/.test(option) ? 2 : 1; // the option name follows
  }
  return undefined;
}

/** Code that a shell or interpreter reads from stdin, because it has no other or is told to. */
function readScriptsOf(plan: CommandPlan): readonly Template[] {
  const { stdin } = plan;
  if (stdin === undefined || stdin.parts.length === 1) return []; // a whole script is meant to be run
  const words = wordsOf(plan);
  const first = words.map(nameOf).findIndex((name) => isShell(name) || (interpreterOf(name) && !STARTERS.test(name)));
  return first !== -1 && readsCode(nameOf(words[first] ?? EMPTY), words.slice(first + 1)) ? [stdin] : [];
}

const INPUT = /^(-|\/dev\/(stdin|fd\/0)|\/proc\/self\/fd\/0)$/;

function readsCode(name: string, words: readonly Template[]): boolean {
  const interpreter = interpreterOf(name);
  if (isShell(name)) {
    if (words.some((word) => /^-[a-z]*s$/.test(literalOf(word)))) return true;
  } else if (interpreter === undefined || codeAmong(interpreter, words).length > 0) return false;
  const script = firstOperand(words, interpreter);
  return script === undefined || INPUT.test(literalOf(script));
}

function firstOperand(words: readonly Template[], { values, files }: Partial<Interpreter> = {}): Template | undefined {
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? EMPTY;
    const option = literalOf(word);
    if (files?.test(option) === true && !option.includes('=')) return words[index + 1];
    if (!isOption(word) || option === '-') return word;
    if (values?.test(option) === true) index++;
  }
  return undefined;
}

function wordsOf({ program, groups }: CommandPlan): readonly Template[] {
  return [{ parts: [program], mistakes: [] }, ...groups.flatMap(({ templates }) => templates)];
}

function isOption(word: Template): boolean {
  return /^[-+]/.test(literalOf(word));
}

/** The literal text at the start of a template. */
function literalOf(word: Template | undefined): string {
  const [first = ''] = word?.parts ?? [];
  return typeof first === 'string' ? first : '';
}

function nameOf({ parts }: Template): string {
  const [first = ''] = parts;
  return parts.length === 1 && typeof first === 'string' ? (first.split('/').at(-1) ?? '') : '';
}
