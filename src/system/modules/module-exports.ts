import { messageOf } from '../../core/tool-error.ts';

/** What a module exports under one name: a value, or why there is none. */
export type ModuleExport = NamedValue | { readonly name: string; readonly problem: string };

/** What a module exports, in the order of names; functions named in `factories` stand for what they return. */
export async function readExports(namespace: object, factories: readonly string[]): Promise<readonly ModuleExport[]> {
  const exports: ModuleExport[] = [];
  for (const { name, value } of [...membersOf(namespace)].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    exports.push(factories.includes(name) && isFactory(value) ? await callFactory(name, value) : { name, value });
  }
  return exports;
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

/** True for an object that is meant to be a tool or a bundle, whether it is a good one or not. */
export function isToolLike(value: unknown): value is object {
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
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value));
}

async function callFactory(name: string, make: () => unknown): Promise<ModuleExport> {
  try {
    return { name, value: await make() };
  } catch (cause) {
    return { name, problem: `export "${name}": it throws when it is called: ${messageOf(cause)}` };
  }
}
