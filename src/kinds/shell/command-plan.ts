import { isRecord, type JsonSchema } from '../../core/json.ts';
import { type ToolSpec, WITHHELD, type Withheld } from '../../core/tool-spec.ts';
import { namesIn, readTemplate, type Template } from '../../specs/template.ts';
import type { ShellRun } from './shell-run.ts';

/** Arguments that belong together: left out together, and repeated for each item of a list. */
export interface ArgumentGroup {
  readonly isOptional: boolean;
  readonly templates: readonly Template[];
}

/** How a command runs, read once for all calls. */
export interface CommandPlan {
  readonly program: string;
  readonly groups: readonly ArgumentGroup[];
  readonly cwd: Template | undefined;
  readonly env: readonly (readonly [name: string, value: Template])[];
  readonly stdin: Template | undefined;
  /** The arguments that are paths. */
  readonly pathNames: ReadonlySet<string>;
  /** Those of them that the program only reads. */
  readonly readNames: ReadonlySet<string>;
  readonly dashNames: ReadonlySet<string>;
  /** True where the spec says itself what its paths are: then all others are none. */
  readonly mayClimb: boolean;
}

/** Reads a run that its schema accepts. What is wrong with its templates stands in them. */
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
  // Where it runs is a path, whatever it is called.
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

/** The arguments that a tool has, those that its callers do not see included. */
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

/** What a template says as it stands. */
function toText({ parts }: Template): string {
  return parts.filter((part) => typeof part === 'string').join('');
}
