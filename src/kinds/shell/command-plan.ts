import { isRecord, type JsonObject, type JsonSchema, type JsonValue } from '../../core/json.ts';
import { escapePointer } from '../../core/json-pointer.ts';
import type { Issue } from '../../core/tool-error.ts';
import { type ToolSpec, WITHHELD, type Withheld } from '../../core/tool-spec.ts';
import { namesIn, readTemplate, type Template } from '../../specs/template.ts';
import type { ShellRun } from './shell-run.ts';

/** Arguments that belong together: left out together, and repeated together for each item of a list. */
export interface ArgumentGroup {
  readonly isOptional: boolean;
  readonly templates: readonly Template[];
}

/** A compiled command, shared by all calls. */
export interface CommandPlan {
  readonly program: string;
  readonly groups: readonly ArgumentGroup[];
  readonly cwd: Template | undefined;
  readonly env: readonly (readonly [name: string, value: Template])[];
  readonly stdin: Template | undefined;
  /** Arguments that are paths. */
  readonly pathNames: ReadonlySet<string>;
  /** Path arguments that the program only reads. */
  readonly readNames: ReadonlySet<string>;
  readonly dashNames: ReadonlySet<string>;
  /** True if the spec lists its paths itself; then no other argument is a path. */
  readonly mayClimb: boolean;
}

/** Compiles a run that passed its schema. Mistakes in templates are recorded in them. */
export function planCommand(run: ShellRun, spec: ToolSpec): CommandPlan {
  const [program, ...rest] = run.command;
  const groups = rest.map((item): ArgumentGroup => {
    const isOptional = typeof item !== 'string';
    return { isOptional, templates: (isOptional ? item : [item]).map(readTemplate) };
  });
  const plan = {
    program: typeof program === 'string' ? toText(readTemplate(program)) : '',
    groups,
    cwd: run.cwd === undefined ? undefined : readTemplate(run.cwd),
    env: Object.entries(run.env ?? {}).map(([name, value]) => [name, readTemplate(String(value))] as const),
    stdin: run.stdin === undefined ? undefined : readTemplate(run.stdin),
    dashNames: new Set(run.allowDashes),
    readNames: new Set(run.reads),
    mayClimb: run.paths !== undefined,
  };
  const properties = propertiesOf(spec, run);
  const isPath = (name: string) => run.paths?.includes(name) ?? isNamedLikePath(name, properties.get(name));
  // Arguments in cwd are paths, whatever their names.
  const pathNames = [
    ...templatesOf(plan).flatMap(namesIn).filter(isPath),
    ...(plan.cwd === undefined ? [] : namesIn(plan.cwd)),
  ];
  return { ...plan, pathNames: new Set(pathNames) };
}

/** Every template of a plan. */
export function templatesOf({ groups, cwd, env, stdin }: Omit<CommandPlan, 'pathNames'>): readonly Template[] {
  const single = [cwd, stdin].filter((template) => template !== undefined);
  return [...groups.flatMap(({ templates }) => templates), ...env.map(([, template]) => template), ...single];
}

/** The arguments of a tool, including those withheld from callers. */
export function propertiesOf(spec: ToolSpec, run: { readonly [WITHHELD]?: Withheld }): ReadonlyMap<string, unknown> {
  const { properties } = inputOf(spec, run);
  return new Map(isRecord(properties) ? Object.entries(properties) : []);
}

/** The schema of all arguments. */
export function inputOf(spec: ToolSpec, run: { readonly [WITHHELD]?: Withheld }): JsonSchema {
  return run[WITHHELD]?.input ?? spec.input;
}

const PATH_NAME = /^(path|file|dir|folder|cwd)$|_(path|file|dir)$/;

function isNamedLikePath(name: string, schema: unknown): boolean {
  const items = isRecord(schema) && isRecord(schema.items) ? schema.items : undefined;
  return (isRecord(schema) && schema.format === 'path') || items?.format === 'path' || PATH_NAME.test(name);
}

/** The literal text of a template. */
function toText({ parts }: Template): string {
  return parts.filter((part) => typeof part === 'string').join('');
}

/** Thrown for an argument that cannot be used in the command. */
export class UnfitArgument extends Error {
  readonly issue: Issue;
  constructor(name: string, message: string) {
    super(message);
    this.issue = { path: `/${escapePointer(name)}`, message };
  }
}

type FilledPlan = Pick<CommandPlan, 'groups' | 'dashNames' | 'pathNames' | 'mayClimb'>;

/** Fills in the arguments of a program. Each value stays one argument or part of one, whatever it contains. */
export function fillArguments(plan: FilledPlan, input: JsonObject): readonly string[] {
  const filled: string[] = [];
  let isAfterDashes = false;
  for (const group of plan.groups) {
    for (const values of roundsOf(group, input)) {
      for (const template of group.templates) {
        const text = fillText(template, values);
        requireNoClimbing(template, values, plan);
        if (!isAfterDashes) requireNoOption(template, text, { values, dashNames: plan.dashNames });
        // Only a literal "--" of the spec counts, not a value.
        isAfterDashes ||= template.parts.length === 1 && template.parts[0] === '--';
        filled.push(text);
      }
    }
  }
  return filled;
}

/** The rounds of a group: one, one for each item of its list, or none. */
export function roundsOf({ isOptional, templates }: ArgumentGroup, input: JsonObject): readonly JsonObject[] {
  const names = [...new Set(templates.flatMap(namesIn))];
  const absent = names.find((name) => !isGiven(input, name));
  if (absent !== undefined && isOptional) return [];
  if (absent !== undefined) throw new UnfitArgument(absent, 'is missing');
  const [list, second] = names.filter((name) => Array.isArray(input[name]));
  if (list === undefined) return [input];
  if (!isOptional) throw new UnfitArgument(list, 'must not be a list');
  if (second !== undefined) throw new UnfitArgument(second, `must not be a list, because ${list} is one`);
  return (input[list] as readonly JsonValue[]).map((item) => ({ ...input, [list]: item })); // checked above
}

/** A value next to a slash of the spec is part of a path, even if it is not declared as one: it must not climb with "..". */
function requireNoClimbing(template: Template, values: JsonObject, { pathNames, mayClimb }: FilledPlan): void {
  if (mayClimb || !template.parts.some((part) => typeof part === 'string' && part.includes('/'))) return;
  const climbing = namesIn(template).find(
    (name) => !pathNames.has(name) && valueToText(values[name]).split('/').includes('..'),
  );
  if (climbing !== undefined) throw new UnfitArgument(climbing, 'must not contain ".." as a folder name');
}

interface Filling {
  readonly values: JsonObject;
  readonly dashNames: ReadonlySet<string>;
}

/** Programs read text that starts with a dash as an option; only the spec may give options. */
function requireNoOption({ parts }: Template, text: string, { values, dashNames }: Filling): void {
  if (!text.startsWith('-') || typeof parts[0] === 'string') return;
  for (const part of parts) {
    if (typeof part === 'string' || 'secret' in part) return; // empty so far; the rest starts with text of the spec
    const value = valueToText(values[part.name]);
    if (value === '') continue;
    if (dashNames.has(part.name)) return;
    throw new UnfitArgument(part.name, 'must not start with "-"');
  }
}

/** True for an argument that is present and not null. */
export function isGiven(input: JsonObject, name: string): boolean {
  return Object.hasOwn(input, name) && input[name] !== null && input[name] !== undefined;
}

/** Fills the arguments of a call into a template; secrets are left empty. */
export function fillText({ parts }: Template, input: JsonObject): string {
  return parts
    .map((part) => (typeof part === 'string' ? part : 'name' in part ? textOf(input, part.name) : ''))
    .join('');
}

/** An argument as text; throws if no program could receive it. */
export function textOf(input: JsonObject, name: string): string {
  if (!isGiven(input, name)) throw new UnfitArgument(name, 'is missing');
  const text = valueToText(input[name]);
  if (text.includes('\0')) throw new UnfitArgument(name, 'must not contain a NUL character');
  return text;
}

function valueToText(value: JsonValue | undefined): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
