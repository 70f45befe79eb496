import { isRecord } from '../../core/json.ts';
import { didYouMean } from '../../core/read-options.ts';
import { type ToolSpec, WITHHELD } from '../../core/tool-spec.ts';
import { listOf } from '../../core/visible-text.ts';
import { hasSecret, namesIn, readTemplate, type Template } from '../../specs/template.ts';
import {
  type ArgumentGroup,
  type CommandPlan,
  inputOf,
  planCommand,
  propertiesOf,
  templatesOf,
} from './command-plan.ts';
import type { ShellRun } from './shell-run.ts';

const HARMLESS = ['integer', 'number', 'boolean', 'null'];

/** What is wrong with a command that its schema cannot say; a command with any of it is not let in. */
export function checkCommand(run: ShellRun, spec: ToolSpec): readonly string[] {
  const plan = planCommand(run, spec);
  const known = createKnown(spec, run);
  return [
    ...checkProgram(run.command[0]),
    ...templatesOf(plan).flatMap(({ mistakes }) => mistakes.map((mistake) => `a text of its run ${mistake}`)),
    ...checkNames(run, plan, known),
    ...checkAbsence(plan, known),
    ...plan.groups.flatMap((group) => checkLists(group, known)),
    ...checkSecrets(plan),
    ...checkCode(plan, (name) => known.isOfType(name, HARMLESS)),
    ...checkFolders(run),
  ];
}

/** How a command that is written as one text is written as a list. No shell reads it, unless it is the program. */
export function cureOfText(command: string): string {
  if (/[|&;<>()$`*?~"'\\\n]/.test(command))
    return `write a list of the program and its arguments; a pipe, a redirect or a variable needs a shell: [sh, -c, ${JSON.stringify(command)}]`;
  const words = command.trim().split(/\s+/);
  return `write a list of the program and its arguments: [${words.map(asItem).join(', ')}]`;
}

function asItem(word: string): string {
  return /^[A-Za-z./][\w./-]*$/.test(word) ? word : JSON.stringify(word);
}

/** What is known of the arguments. */
interface Known {
  readonly properties: ReadonlyMap<string, unknown>;
  /** True for one that every call has. */
  isSure(name: string): boolean;
  isOfType(name: string, types: readonly string[]): boolean;
}

function createKnown(spec: ToolSpec, run: ShellRun): Known {
  const properties = propertiesOf(spec, run);
  const { required } = inputOf(spec, run);
  const fixed = run[WITHHELD]?.values ?? {};
  const schemaOf = (name: string) => {
    const schema = properties.get(name);
    return isRecord(schema) ? schema : {};
  };
  return {
    properties,
    isSure: (name) =>
      (Array.isArray(required) && required.includes(name)) ||
      schemaOf(name).default !== undefined ||
      Object.hasOwn(fixed, name),
    isOfType(name, types) {
      const own = listOf(schemaOf(name).type as string | readonly string[] | undefined); // judged by the schema of schemas
      return own.length > 0 && own.every((type) => types.includes(type));
    },
  };
}

function checkProgram(program: ShellRun['command'][number] | undefined): readonly string[] {
  if (typeof program !== 'string') return ['its command must begin with a program, not with a group'];
  const template = readTemplate(program);
  if (namesIn(template).length > 0) return ['the program of its command may not be an argument of the call'];
  if (hasSecret(template)) return ['the program of its command may not be a secret'];
  if (program.trim() === '') return ['its command names no program'];
  return template.mistakes.map((mistake) => `its program ${mistake}`);
}

function checkNames(run: ShellRun, plan: CommandPlan, { properties }: Known): readonly string[] {
  const used = new Set(templatesOf(plan).flatMap(namesIn));
  const unknown = [...used].filter((name) => !properties.has(name));
  const idle = (key: 'paths' | 'reads' | 'allowDashes') =>
    (run[key] ?? []).filter((name) => !used.has(name)).map((name) => `${key} names "${name}", which nothing uses`);
  const guess = (name: string) => didYouMean(name, [...properties.keys()]).replace(/^(?=.)/, '.');
  return [
    ...unknown.map((name) => `{${name}} stands for no argument of its input; {{ stands for a brace${guess(name)}`),
    ...idle('paths'),
    ...idle('reads'),
    ...idle('allowDashes'),
  ];
}

/** What may be missing stands only where it can be left out. */
function checkAbsence({ groups, cwd, stdin }: CommandPlan, { properties, isSure }: Known): readonly string[] {
  const isWhole = stdin?.parts.length === 1; // then nothing is sent
  const needed = [
    ...groups.filter(({ isOptional }) => !isOptional).flatMap(({ templates }) => templates),
    ...(cwd === undefined ? [] : [cwd]),
    ...(stdin === undefined || isWhole ? [] : [stdin]),
  ];
  const missing = new Set(needed.flatMap(namesIn).filter((name) => properties.has(name) && !isSure(name)));
  return [...missing].map(
    (name) =>
      `{${name}} may be missing: make it required, give it a default, or put it into a group, such as ["--${name}", "{${name}}"]`,
  );
}

/** A list makes several arguments, which only a group may. */
function checkLists({ isOptional, templates }: ArgumentGroup, { isOfType }: Known): readonly string[] {
  const names = [...new Set(templates.flatMap(namesIn))];
  const lists = names.filter((name) => isOfType(name, ['array', 'null']));
  if (!isOptional)
    return lists.map((name) => `{${name}} is a list: put it into a group, which is repeated for each item`);
  return lists.length > 1 ? [`a group is repeated for one list, not for ${lists.join(' and ')}`] : [];
}

/** Everybody on the machine can read the arguments of a process. */
function checkSecrets({ groups, cwd }: CommandPlan): readonly string[] {
  const shown: readonly Template[] = [
    ...groups.flatMap(({ templates }) => templates),
    ...(cwd === undefined ? [] : [cwd]),
  ];
  return shown.some(hasSecret)
    ? ['its command holds a secret, which others could see; hand it over in env or stdin']
    : [];
}

function checkFolders({ sandbox = {} }: ShellRun): readonly string[] {
  const paths = [...listOf(sandbox.read), ...listOf(sandbox.write)];
  const isPlain = (path: string) => readTemplate(path).parts.every((part) => typeof part === 'string');
  return paths.every(isPlain) ? [] : ['the folders of its sandbox may hold neither arguments of the call nor secrets'];
}

/** True for an argument whose values cannot say anything: a number or the like. */
type IsHarmless = (name: string) => boolean;

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
function checkCode(plan: CommandPlan, isHarmless: IsHarmless): readonly string[] {
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
