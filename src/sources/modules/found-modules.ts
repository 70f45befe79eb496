import type { Bundle } from '../../core/bundle.ts';
import { isSameTool, type ToolSpec } from '../../core/tool-spec.ts';
import type { ModuleExport } from '../../system/modules/module-exports.ts';
import { createToolFinder, type FoundTools } from './found-tools.ts';

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
