import { isPromise } from '../../core/json.ts';
import { messageOf } from '../../core/tool-error.ts';
import { type Class, isClass, isToolClass, makeTool, nameOfClass } from './tool-class.ts';

/** One export of a module: its value, or the problem with it. */
export type ModuleExport = NamedValue | { readonly name: string; readonly problem: string };

/** Tools made of classes. Each class is instantiated once, even if several modules export it. */
export type MadeTools = WeakMap<Class, Promise<unknown>>;

/** Reads the exports of a module, sorted by name. Functions named in `factories` are called; if `made` is given, tool classes are instantiated. */
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
  /** True if the export is meant to be a tool, so that any class is instantiated. */
  readonly isMeant: boolean;
  /** True if another class extends it, so that it need not be a tool. */
  readonly isBase: boolean;
}

/** Instantiates a tool class, or returns the problem. Other values stay as they are. */
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
    throw new Error(`${nameOfClass(given)} cannot be instantiated: its create() throws: ${messageOf(cause)}`);
  });
}

/** Does the same for a list. Problems are reported, and the other entries stay. */
async function makeEntries(name: string, list: readonly unknown[], made: MadeTools): Promise<readonly ModuleExport[]> {
  const entries = await Promise.all(
    list.map((value) => makeExport({ name, value }, { made, isMeant: false, isBase: false })),
  );
  const values: unknown[] = []; // with a hole for each problem, so that entries keep their numbers
  const problems: ModuleExport[] = [];
  for (const [index, entry] of entries.entries()) {
    if ('value' in entry) values[index] = entry.value;
    else problems.push({ name, problem: entry.problem.replace('":', `", entry ${index + 1}:`) });
  }
  return [{ name, value: values }, ...problems];
}

/** The classes that a class extends. */
function basesOf(given: Class): readonly unknown[] {
  const base: unknown = Object.getPrototypeOf(given);
  return isClass(base) ? [base, ...basesOf(base)] : [];
}

/** Chooses the export that a reference names, else the default, else the only one; or returns the problem. */
export function chooseExport(exports: readonly ModuleExport[], name: string | undefined): ModuleExport {
  const found = exports.find((candidate) => candidate.name === (name ?? 'default'));
  if (found !== undefined) return found;
  const [only, ...others] = exports;
  if (name === undefined && only !== undefined && others.length === 0) return only;
  const names = exports.map((candidate) => candidate.name).join(', ');
  const there = names === '' ? 'it exports nothing' : `it exports ${names}`;
  return name === undefined
    ? { name: 'default', problem: `no default export found; ${there}` }
    : { name, problem: `export "${name}" not found; ${there}` };
}

/** True for an object or class that looks like a tool or a bundle, valid or not. */
export function isToolLike(value: unknown): value is object {
  if (isToolClass(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  if ('execute' in value || 'run' in value || 'specs' in value) return true;
  return 'name' in value && ['description', 'input', 'tools'].some((key) => key in value);
}

/** The exports of a module. For CommonJS, Node may not detect the names, nor the intended default export. */
export function listExports(namespace: object): readonly NamedValue[] {
  const { 'module.exports': commonJs, ...named } = namespace as Record<string, unknown>; // a namespace is a record
  return toEntries(isToolLike(commonJs) || !isPlain(commonJs) ? named : { ...named, ...commonJs });
}

interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** Like `listExports`, but replaces a default export that is a record of tools, or the whole of CommonJS, by its members. */
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
    return { name, problem: `export "${name}": calling it failed: ${messageOf(cause)}` };
  }
}
