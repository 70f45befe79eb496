import { isPromise } from '../../core/json.ts';
import { messageOf } from '../../core/tool-error.ts';
import { type Class, isClass, isToolClass, makeTool, nameOfClass } from './tool-class.ts';

/** What a module exports under one name: a value, or why there is none. */
export type ModuleExport = NamedValue | { readonly name: string; readonly problem: string };

/** What was made of classes: one class gives one tool, however many modules export it. */
export type MadeTools = WeakMap<Class, Promise<unknown>>;

/** What a module exports, in the order of names; functions named in `factories` stand for what they return, and, where tools are made, classes that are tools for their instances. */
export async function readExports(
  namespace: object,
  factories: readonly string[],
  made?: MadeTools,
): Promise<readonly ModuleExport[]> {
  const members = [...membersOf(namespace)].sort((a, b) => (a.name < b.name ? -1 : 1));
  const bases = members.flatMap(({ value }) => (isClass(value) ? basesOf(value) : []));
  const exports: ModuleExport[] = [];
  for (const { name, value } of members) {
    const isMeant = factories.includes(name);
    const entry = isMeant && isFactory(value) ? await callFactory(name, value) : { name, value };
    if ('problem' in entry || made === undefined) exports.push(entry);
    else if (Array.isArray(entry.value)) exports.push(...(await makeEntries(name, entry.value, made)));
    else exports.push(await makeExport(entry, { made, isMeant, isBase: bases.includes(value) }));
  }
  return exports;
}

interface Making {
  readonly made: MadeTools;
  /** It is there to be a tool, so that it is made whatever it looks like. */
  readonly isMeant: boolean;
  /** Another class extends it: it need not be a tool. */
  readonly isBase: boolean;
}

/** The tool that a class stands for, or why there is none; anything else as it is. */
async function makeExport({ name, value }: NamedValue, { made, isMeant, isBase }: Making): Promise<ModuleExport> {
  if (!(isToolClass(value) || (isMeant && isClass(value)))) return { name, value };
  try {
    const tool = made.get(value) ?? settle(value);
    made.set(value, tool);
    return { name, value: await tool };
  } catch (cause) {
    return isBase ? { name, value } : { name, problem: `export "${name}": ${messageOf(cause)}` };
  }
}

async function settle(given: Class): Promise<unknown> {
  const made = makeTool(given);
  if (!isPromise(made)) return made;
  return made.then(undefined, (cause: unknown) => {
    throw new Error(`${nameOfClass(given)} cannot be made: its create() throws: ${messageOf(cause)}`);
  });
}

/** The same for a list: what cannot be made is reported, and the others stay. */
async function makeEntries(name: string, list: readonly unknown[], made: MadeTools): Promise<readonly ModuleExport[]> {
  const entries = await Promise.all(
    list.map((value) => makeExport({ name, value }, { made, isMeant: false, isBase: false })),
  );
  const values: unknown[] = []; // with a hole for each that cannot be made, so that entries keep their numbers
  const problems: ModuleExport[] = [];
  for (const [index, entry] of entries.entries()) {
    if ('value' in entry) values[index] = entry.value;
    else problems.push({ name, problem: entry.problem.replace('":', `", entry ${index + 1}:`) });
  }
  return [{ name, value: values }, ...problems];
}

/** The classes that it extends. */
function basesOf(given: Class): readonly unknown[] {
  const base: unknown = Object.getPrototypeOf(given);
  return isClass(base) ? [base, ...basesOf(base)] : [];
}

/** The export a reference means: the one it names, else the default, else the only one; or why there is none. */
export function chooseExport(exports: readonly ModuleExport[], name: string | undefined): ModuleExport {
  const found = exports.find((candidate) => candidate.name === (name ?? 'default'));
  if (found !== undefined) return found;
  const [only, ...others] = exports;
  if (name === undefined && only !== undefined && others.length === 0) return only;
  const names = exports.map((candidate) => candidate.name).join(', ');
  const there = names === '' ? 'it exports nothing' : `it exports ${names}`;
  return name === undefined
    ? { name: 'default', problem: `there is no default export, and ${there}` }
    : { name, problem: `there is no export "${name}"; ${there}` };
}

/** True for an object or a class that is meant to be a tool or a bundle, whether it is a good one or not. */
export function isToolLike(value: unknown): value is object {
  if (isToolClass(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  if ('execute' in value || 'run' in value || 'specs' in value) return true;
  return 'name' in value && ['description', 'input', 'tools'].some((key) => key in value);
}

/** What a module exports, as it is. Of CommonJS, Node may know no names, and not the default export that was meant. */
export function listExports(namespace: object): readonly NamedValue[] {
  const { 'module.exports': commonJs, ...named } = namespace as Record<string, unknown>; // a namespace is a record
  return toEntries(isToolLike(commonJs) || !isPlain(commonJs) ? named : { ...named, ...commonJs });
}

interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** The same, with the members of a default export that is a record of tools, or all of CommonJS, in its place. */
function membersOf(namespace: object): readonly NamedValue[] {
  const all = listExports(namespace);
  const standard = all.find(({ name }) => name === 'default')?.value;
  if (isToolLike(standard) || !isPlain(standard)) return all;
  const others = all.filter(({ name }) => name !== 'default');
  if ('module.exports' in namespace && namespace['module.exports'] === standard) return others;
  return Object.values(standard).some(isToolLike) ? [...others, ...toEntries(standard)] : all;
}

function toEntries(members: Readonly<Record<string, unknown>>): readonly NamedValue[] {
  return Object.entries(members).map(([name, value]) => ({ name, value }));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null; // of this realm or another
}

function isFactory(value: unknown): value is () => unknown {
  return typeof value === 'function' && !isClass(value);
}

async function callFactory(name: string, make: () => unknown): Promise<ModuleExport> {
  try {
    return { name, value: await make() };
  } catch (cause) {
    return { name, problem: `export "${name}": it throws when it is called: ${messageOf(cause)}` };
  }
}
