import { hasSecret, namesIn, type Template } from '../../specs/template.ts';
import type { CommandPlan } from './command-plan.ts';

/** True for an argument whose values cannot say anything: a number or the like. */
export type IsHarmless = (name: string) => boolean;

/** What runs the code that it is given, and the options that give it. */
const INTERPRETERS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^(python|pypy)[\d.]*$/, /^-[A-Za-z]*c/],
  [/^(node|nodejs|bun|deno)$/, /^(-[a-z]*[ep]|--eval|--print|eval)$/],
  [/^(perl|ruby|lua)[\d.]*$/, /^-[A-Za-z]*[eE]/],
  [/^php[\d.]*$/, /^-r/],
];
const SHELL = /^(r?bash|sh|dash|ash|zsh|m?ksh|fish|su|runuser)$/;
const SHELL_OPTION = /^([-+][A-Za-z]*[cC]|--command$)/;

/** Variables that say what code a program loads or starts. */
const CODE_VARIABLE =
  /^(LD_|DYLD_|PYTHON|GIT_CONFIG|GIT_SSH|(GCONV_|GIT_EXEC_|NODE_)?PATH$|(GIT_|GIT_SEQUENCE_)?EDITOR$|(GIT_)?PAGER$|(BASH_)?ENV$|(GIT|SSH)_ASKPASS$|(NODE|_JAVA|JAVA_TOOL)_OPTIONS$|PERL5?(LIB|OPT|DB)$|RUBY(LIB|OPT)$|GLIBC_TUNABLES$|GIT_(EXTERNAL_DIFF|PROXY_COMMAND)$|VISUAL$|LESSOPEN$|SHELLOPTS$|PS4$|IFS$)/;

/** What the loader of programs listens to, before any of their own code runs. */
export const LOADER_VARIABLE = /^(LD_.*|GCONV_PATH|GLIBC_TUNABLES)$/;

/** A text of the caller that would be read as code, be it a script or what says which code is run. */
export function checkCode(plan: CommandPlan, isHarmless: IsHarmless): readonly string[] {
  const scripts = [...scriptsOf(plan), ...readScriptsOf(plan)];
  const inScripts = new Set(scripts.flatMap(namesIn).filter((name) => !isHarmless(name)));
  const variables = plan.env.filter(([variable]) => CODE_VARIABLE.test(variable));
  return [
    ...[...inScripts].map(
      (name) =>
        `{${name}} would be read as a part of the script: hand it over as an argument after the script (in sh: write "$1" there, and {${name}} after the script and a name)`,
    ),
    ...variables.flatMap(([variable, template]) =>
      namesIn(template)
        .filter((name) => !isHarmless(name))
        .map((name) => `{${name}} would say what code is run: ${variable} may hold no text of the caller`),
    ),
    // It is handed over as an argument of what makes the sandbox.
    ...variables
      .filter(([variable, template]) => LOADER_VARIABLE.test(variable) && hasSecret(template))
      .map(([variable]) => `${variable} may not be a secret, which others could see`),
  ];
}

/** The scripts among the arguments. The program may stand anywhere: others (env, find, timeout) start it. */
function scriptsOf(plan: CommandPlan): readonly Template[] {
  const words = wordsOf(plan);
  return words.flatMap((word, index) => {
    const name = nameOf(word);
    if (SHELL.test(name)) return shellScript(words.slice(index + 1)) ?? [];
    const option = INTERPRETERS.find(([program]) => program.test(name))?.[1];
    if (option === undefined) return [];
    const at = words.findIndex((other, place) => place > index && !isOption(other));
    const options = words.slice(index + 1, at === -1 ? undefined : at);
    const isGiven = options.some((other) => option.test(literalOf(other)));
    const script = isGiven ? words[at] : undefined;
    // Code that is an argument as a whole is meant to be run; a text inside of code is not.
    return script === undefined || script.parts.length === 1 ? [] : script;
  });
}

function shellScript(words: readonly Template[]): Template | undefined {
  let at = words.findIndex((word) => SHELL_OPTION.test(literalOf(word)));
  if (at === -1) return undefined;
  while (at < words.length) {
    const option = literalOf(words[at]);
    if (option === '--') return words[at + 1];
    if (!/^[-+]/.test(option)) return words[at];
    at += /^[-+]\w*[oO]$/.test(option) ? 2 : 1; // the name of what is switched on follows
  }
  return undefined;
}

/** What a shell reads as its script, because it is given no other. */
function readScriptsOf(plan: CommandPlan): readonly Template[] {
  const { stdin } = plan;
  if (stdin === undefined || stdin.parts.length === 1) return []; // as a whole it is meant to be run
  const words = wordsOf(plan);
  const shell = words.findIndex((word) => SHELL.test(nameOf(word)));
  if (shell === -1) return [];
  const rest = words.slice(shell + 1);
  const readsInput = rest.every(isOption) || rest.some((word) => /^-[a-z]*s$/.test(literalOf(word)));
  return readsInput ? [stdin] : [];
}

function wordsOf({ program, groups }: CommandPlan): readonly Template[] {
  return [{ parts: [program], mistakes: [] }, ...groups.flatMap(({ templates }) => templates)];
}

function isOption(word: Template): boolean {
  return /^[-+]/.test(literalOf(word));
}

/** What a template begins with, where that is written in the spec. */
function literalOf(word: Template | undefined): string {
  const [first = ''] = word?.parts ?? [];
  return typeof first === 'string' ? first : '';
}

function nameOf({ parts }: Template): string {
  const [first = ''] = parts;
  return parts.length === 1 && typeof first === 'string' ? (first.split('/').at(-1) ?? '') : '';
}
