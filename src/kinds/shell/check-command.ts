import { isRecord } from '../../core/json.ts';
import { didYouMean } from '../../core/read-options.ts';
import { type ToolSpec, WITHHELD } from '../../core/tool-spec.ts';
import { listOf } from '../../core/visible-text.ts';
import { hasSecret, namesIn, readTemplate, type Template } from '../../specs/template.ts';
import { checkCode } from './caller-code.ts';
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

/** Problems of a command that its schema cannot express; a spec with any of them is rejected. */
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

/** Explains how to write a command text as a list. No shell reads a command, unless the program is a shell. */
export function cureOfText(command: string): string {
  if (/[|&;<>()$`*?~"'\\\n]/.test(command))
    return `write the program and its arguments as a list; a pipe, a redirect or a variable needs a shell: [sh, -c, ${JSON.stringify(command)}]`;
  const words = command.trim().split(/\s+/);
  return `write the program and its arguments as a list: [${words.map(asItem).join(', ')}]`;
}

function asItem(word: string): string {
  return /^[A-Za-z./][\w./-]*$/.test(word) ? word : JSON.stringify(word);
}

/** Facts about the arguments. */
interface Known {
  readonly properties: ReadonlyMap<string, unknown>;
  /** True for an argument that every call has. */
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
      const own = listOf(schemaOf(name).type as string | readonly string[] | undefined); // checked by the metaschema
      return own.length > 0 && own.every((type) => types.includes(type));
    },
  };
}

function checkProgram(program: ShellRun['command'][number] | undefined): readonly string[] {
  if (typeof program !== 'string') return ['its command must start with a program, not with a group'];
  const template = readTemplate(program);
  if (namesIn(template).length > 0) return ['the program of its command must not be an argument of the call'];
  if (hasSecret(template)) return ['the program of its command must not be a secret'];
  if (program.trim() === '') return ['its command names no program'];
  return template.mistakes.map((mistake) => `its program ${mistake}`);
}

function checkNames(run: ShellRun, plan: CommandPlan, { properties }: Known): readonly string[] {
  const used = new Set(templatesOf(plan).flatMap(namesIn));
  const unknown = [...used].filter((name) => !properties.has(name));
  const idle = (key: 'paths' | 'reads' | 'allowDashes') =>
    (run[key] ?? [])
      .filter((name) => !used.has(name))
      .map((name) => `${key} names "${name}", which the command does not use`);
  const guess = (name: string) => didYouMean(name, [...properties.keys()]).replace(/^(?=.)/, '.');
  return [
    ...unknown.map((name) => `{${name}} is not an argument of its input; write {{ for a brace${guess(name)}`),
    ...idle('paths'),
    ...idle('reads'),
    ...idle('allowDashes'),
  ];
}

/** An argument that may be missing must be in an optional place. */
function checkAbsence({ groups, cwd, stdin }: CommandPlan, { properties, isSure }: Known): readonly string[] {
  const isWhole = stdin?.parts.length === 1; // if it is missing, nothing is sent
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

/** A list becomes several arguments, which is allowed only in a group. */
function checkLists({ isOptional, templates }: ArgumentGroup, { isOfType }: Known): readonly string[] {
  const names = [...new Set(templates.flatMap(namesIn))];
  const lists = names.filter((name) => isOfType(name, ['array', 'null']));
  if (!isOptional) return lists.map((name) => `{${name}} is a list: put it into a group, which repeats for each item`);
  return lists.length > 1 ? [`a group can repeat for one list only, not for ${lists.join(' and ')}`] : [];
}

/** Every user of the machine can read the arguments of a process. */
function checkSecrets({ groups, cwd }: CommandPlan): readonly string[] {
  const shown: readonly Template[] = [
    ...groups.flatMap(({ templates }) => templates),
    ...(cwd === undefined ? [] : [cwd]),
  ];
  return shown.some(hasSecret)
    ? ['its command contains a secret, which other users of the machine could see; pass it in env or stdin']
    : [];
}

function checkFolders({ sandbox = {} }: ShellRun): readonly string[] {
  const paths = [...listOf(sandbox.read), ...listOf(sandbox.write)];
  const isPlain = (path: string) => readTemplate(path).parts.every((part) => typeof part === 'string');
  return paths.every(isPlain) ? [] : ['the folders of its sandbox must not contain arguments of the call or secrets'];
}
