import type { Bundle } from '../../core/bundle.ts';
import { describe } from '../../core/read-options.ts';
import { messageOf } from '../../core/tool-error.ts';
import { isSameTool, type ToolSpec } from '../../core/tool-spec.ts';
import { type BundleInput, type DefinedBundle, defineBundle } from '../../define/define-bundle.ts';
import { toToolSpec } from '../../define/define-tool.ts';
import { isToolLike, type ModuleExport } from '../../system/modules/module-exports.ts';

/** The tools and bundles of many modules, in the order of their places. */
export interface FoundModules {
  /** Notes what the module at a place exports. True if that is news. */
  put(place: string, exports: readonly ModuleExport[]): boolean;
  /** The places there are, in order; all others are forgotten. True if one was. */
  keep(places: readonly string[]): boolean;
  /** What several modules export is listed once, what is out of date not at all. */
  specs(): readonly ToolSpec[];
  bundles(): readonly Bundle[];
}

interface FoundModule extends FoundTools {
  readonly exports: readonly ModuleExport[];
  /** What it had under names that now mean something else. Others may export it still: they are not read again. */
  readonly outdated: readonly Found[];
}

type Found = ToolSpec | Bundle;

/** Collects what modules export for one source; `warn` hears of what is no tool. */
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

/** The tools and bundles among the exports of a module, and what is wrong with the rest. */
interface FoundTools {
  readonly specs: readonly ToolSpec[];
  readonly bundles: readonly DefinedBundle[];
  readonly problems: readonly string[];
}

/** Exports of these names are there for us, so whatever else they hold is a mistake. */
const MEANT_FOR_US = ['default', 'tools', 'bundles'];

/** Finds tools for one source. The same object gives the same spec, however many modules export it. */
function createToolFinder(source: string): (exports: readonly ModuleExport[]) => FoundTools {
  const known = new WeakMap<object, ToolSpec | DefinedBundle>();

  const toSpec = (tool: object): ToolSpec => {
    const spec = known.get(tool) ?? toToolSpec(tool, source);
    known.set(tool, spec);
    return spec as ToolSpec; // what is known by a tool is its spec
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
    const take = (value: object): void => {
      if (!isBundleLike(value)) return void specs.push(toSpec(value));
      const bundle = toBundle(value);
      specs.push(...bundle.specs.map(toSpec));
      bundles.push(bundle);
    };
    for (const entry of exports) {
      if ('problem' in entry) {
        problems.push(entry.problem);
        continue;
      }
      for (const [what, value] of candidatesOf(entry)) {
        try {
          if (!isToolLike(value)) throw new Error(`it is ${describe(value)}, not a tool or a bundle`);
          take(value);
        } catch (cause) {
          problems.push(`${what}: ${messageOf(cause)}`);
        }
      }
    }
    return { specs, bundles, problems };
  };
}

/** What an export offers, under the words to report it by; nothing where it was hardly meant for us. */
function candidatesOf({
  name,
  value,
}: {
  readonly name: string;
  readonly value: unknown;
}): readonly [string, unknown][] {
  const isMeant = MEANT_FOR_US.includes(name);
  if (!Array.isArray(value)) return isMeant || isToolLike(value) ? [[`export "${name}"`, value]] : [];
  if (!isMeant && !value.some(isToolLike)) return [];
  return value.map((member, index) => [`export "${name}", entry ${index + 1}`, member]);
}

function isBundleLike(value: object): boolean {
  return 'specs' in value || ('tools' in value && !('execute' in value));
}
