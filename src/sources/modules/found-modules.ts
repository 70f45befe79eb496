import type { Bundle } from '../../core/bundle.ts';
import { messageOf } from '../../core/tool-error.ts';
import { isSameTool, type ToolSpec } from '../../core/tool-spec.ts';
import { type BundleInput, type DefinedBundle, defineBundle } from '../../define/define-bundle.ts';
import { isNamedTools, namedTools, readTool } from '../../define/read-tool.ts';
import { isToolLike, type ModuleExport } from '../../system/modules/module-exports.ts';
import { isClass, whyNotTool } from '../../system/modules/tool-class.ts';

/** The tools and bundles of many modules, ordered by place. */
export interface FoundModules {
  /** Records the exports of the module at a place. True if they changed. */
  put(place: string, exports: readonly ModuleExport[]): boolean;
  /** Sets the places and their order, and drops all others. True if one was dropped. */
  keep(places: readonly string[]): boolean;
  /** Tools, deduplicated across modules, without outdated ones. */
  specs(): readonly ToolSpec[];
  bundles(): readonly Bundle[];
}

interface FoundModule extends FoundTools {
  readonly exports: readonly ModuleExport[];
  /** Earlier values of names that the module now exports differently. Other modules may still export them, because they are not read again. */
  readonly outdated: readonly Found[];
}

type Found = ToolSpec | Bundle;

/** Collects the exports of modules for one source; `warn` is called for exports that are not tools. */
export function createFoundModules(source: string, warn: (message: string) => void): FoundModules {
  const find = createToolFinder(source);
  const byPlace = new Map<string, FoundModule>();
  let order: readonly string[] = [];

  const list = <Kind extends Found>(of: (module: FoundModule) => readonly Kind[]): readonly Kind[] => {
    const modules = order.flatMap((place) => byPlace.get(place) ?? []);
    const listed = new Map<string, readonly Kind[]>();
    for (const module of modules) {
      const others = modules.filter((other) => other !== module && other.outdated.length > 0);
      const isOutdated = (found: Kind) => others.some(({ outdated }) => outdated.some((old) => isSame(old, found)));
      for (const found of of(module)) {
        const namesakes = listed.get(found.name) ?? [];
        if (namesakes.some((other) => isSame(other, found)) || isOutdated(found)) continue;
        listed.set(found.name, [...namesakes, found]);
      }
    }
    return [...listed.values()].flat();
  };

  return {
    put(place, exports) {
      const before = byPlace.get(place);
      if (before !== undefined && isSameList(before.exports, exports)) return false;
      const found = find(exports);
      for (const problem of found.problems) warn(`${place}: ${/[.?]$/.test(problem) ? problem : `${problem}.`}`);
      byPlace.set(place, { ...found, exports, outdated: outdatedBy(found, before) });
      return true;
    },
    keep(places) {
      order = places;
      const gone = [...byPlace.keys()].filter((place) => !places.includes(place));
      for (const place of gone) byPlace.delete(place);
      return gone.length > 0;
    },
    specs: () => list((module) => module.specs),
    bundles: () => list((module) => module.bundles),
  };
}

function outdatedBy({ specs, bundles }: FoundTools, before: FoundModule | undefined): readonly Found[] {
  if (before === undefined) return [];
  const now: readonly Found[] = [...specs, ...bundles];
  return [...before.outdated, ...before.specs, ...before.bundles].filter(
    (old) => now.some(({ name }) => name === old.name) && !now.some((other) => isSame(other, old)),
  );
}

function isSameList(a: readonly ModuleExport[], b: readonly ModuleExport[]): boolean {
  return a.length === b.length && a.every((entry, index) => isSameExport(entry, b[index]));
}

function isSameExport(a: ModuleExport, b: ModuleExport | undefined): boolean {
  if (b === undefined || a.name !== b.name) return false;
  return 'value' in a ? 'value' in b && a.value === b.value : 'problem' in b && a.problem === b.problem;
}

function isSame(a: Found, b: Found): boolean {
  return a === b || (isSpec(a) && isSpec(b) && a.name === b.name && isSameTool(a, b));
}

function isSpec(found: Found): found is ToolSpec {
  return 'origin' in found;
}

/** The tools and bundles among the exports of a module, and the problems with the other exports. */
interface FoundTools {
  readonly specs: readonly ToolSpec[];
  readonly bundles: readonly DefinedBundle[];
  readonly problems: readonly string[];
}

/** Exports with these names are meant for toolcrib, so any other value in them is a mistake. */
const MEANT_FOR_US = ['default', 'tools', 'bundles'];

/** Finds tools for one source. The same object gives the same spec, no matter how many modules export it. */
function createToolFinder(source: string): (exports: readonly ModuleExport[]) => FoundTools {
  const known = new WeakMap<object, ToolSpec | DefinedBundle>();

  const toSpec = (tool: object, name?: string): ToolSpec => {
    const [given] = name === undefined ? [tool] : namedTools({ [name]: tool });
    const spec = known.get(tool) ?? readTool(given, source);
    known.set(tool, spec);
    return spec as ToolSpec; // a tool is only ever known by its spec
  };

  const toBundle = (bundle: object): DefinedBundle => {
    const found = known.get(bundle) ?? defineBundle(bundle as BundleInput); // checked there
    known.set(bundle, found);
    return found as DefinedBundle; // as above
  };

  return (exports) => {
    const specs: ToolSpec[] = [];
    const bundles: DefinedBundle[] = [];
    const problems: string[] = [];
    const take = ({ value, name }: Candidate): void => {
      if (!isToolLike(value)) throw new Error(whyNotTool(value));
      if (!isBundleLike(value)) return void specs.push(toSpec(value, name));
      const bundle = toBundle(value);
      specs.push(...bundle.specs.map((spec) => toSpec(spec)));
      bundles.push(bundle);
    };
    const candidates = exports.flatMap((entry) => ('value' in entry ? candidatesOf(entry) : []));
    for (const entry of exports) if ('problem' in entry) problems.push(entry.problem);
    for (const candidate of candidates) {
      try {
        take(candidate);
      } catch (cause) {
        if (!isBaseOf(candidate.value, candidates)) problems.push(`${candidate.what}: ${messageOf(cause)}`);
      }
    }
    return { specs, bundles, problems };
  };
}

/** A value that may be a tool or a bundle. */
interface Candidate {
  /** The label used in messages. */
  readonly what: string;
  readonly value: unknown;
  /** Its name in the module, used for tools that have none of their own. */
  readonly name?: string;
}

/** The candidates in an export; none if the export is probably not meant for toolcrib. */
function candidatesOf({ name, value }: { readonly name: string; readonly value: unknown }): readonly Candidate[] {
  const what = `export "${name}"`;
  const isMeant = MEANT_FOR_US.includes(name);
  if (Array.isArray(value)) {
    if (!isMeant && !value.some(isToolLike)) return [];
    return Object.entries(value).map(([index, member]) => ({
      what: `${what}, entry ${Number(index) + 1}`,
      value: member,
    }));
  }
  if (isMeant && isNamedTools(value))
    return Object.entries(value).map(([key, member]) => ({ what: `${what}, "${key}"`, value: member, name: key }));
  if (isToolLike(value)) return [{ what, value, ...(isUnnamed(value) && !isMeant && { name }) }];
  return isMeant || (isClass(value) && !isError(value)) ? [{ what, value }] : [];
}

/** Tools of the AI SDK have no name of their own. */
function isUnnamed(value: object): boolean {
  return 'inputSchema' in value && !('name' in value);
}

function isError(value: { readonly prototype: unknown }): boolean {
  return value.prototype instanceof Error;
}

/** True for a class, or an instance of one, that another candidate extends: it only serves as a base. */
function isBaseOf(value: unknown, candidates: readonly Candidate[]): boolean {
  if ((typeof value !== 'object' && !isClass(value)) || value === null) return false;
  const prototype: object | null = isClass(value) ? value.prototype : Object.getPrototypeOf(value);
  if (prototype === null || Object.hasOwn(prototype, 'isPrototypeOf')) return false; // the prototype of every object
  return candidates.some(({ value: other }) => {
    const parent = typeof other === 'object' && other !== null ? Object.getPrototypeOf(other) : undefined;
    return typeof parent === 'object' && parent !== null && Object.prototype.isPrototypeOf.call(prototype, parent);
  });
}

function isBundleLike(value: object): boolean {
  return 'specs' in value || ('tools' in value && !('execute' in value) && !('run' in value));
}
