import {
  type Bundle,
  type BundleInfo,
  bundleInfo,
  checkBundles,
  type ExpandOptions,
  expand,
  type ResolvedBundle,
} from '../../core/bundle.ts';
import type { Generation } from '../../core/catalog.ts';
import { RESERVED_NAMES } from '../../core/meta-tools.ts';
import { describe, didYouMean, readNameList, readOptions } from '../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { type BundleInput, type DefinedBundle, defineBundle } from '../../define/define-bundle.ts';
import { type AnyTool, listTools } from '../../define/read-tool.ts';

/** The bundles of a crib. Reading an unknown bundle returns `undefined`; changing one throws. */
export interface CribBundles {
  define(bundle: BundleInput | DefinedBundle): void;
  get(name: string): ResolvedBundle | undefined;
  /** The bundles of a tool. */
  of(tool: string): readonly ResolvedBundle[];
  info(name: string): BundleInfo | undefined;
  names(): readonly string[];
  /** Adds new tools, or existing ones by name. */
  addTools(bundle: string, tools: AnyTool | string | readonly (AnyTool | string)[]): void;
  /** Removes a tool from a bundle; the tool itself stays. */
  removeTool(bundle: string, tool: string): void;
  /** Removes all defined bundles; their tools stay. */
  clear(): void;
  /** Adds the tools that belong to these tools, by their bundles and requirements. */
  expand(tools: readonly string[], options?: Pick<ExpandOptions, 'bundleFilter'>): readonly string[];
}

/** The bundles as the crib itself uses them. */
export interface BundleRegistry extends CribBundles {
  definitions(): readonly Bundle[];
  /** The bundle names that would result from this base; throws if the bundles conflict. */
  checkBase(base: BundleBase): ReadonlySet<string>;
  /** Replaces the bundles of the definition. Those defined by code stay. */
  replaceBase(base: BundleBase): void;
}

/** The bundles that were not defined by `define`. */
interface BundleBase {
  readonly bundles: readonly Bundle[];
  /** The bundle of each source, with its own tools. */
  readonly homes: readonly Bundle[];
  /** Further bundles that sources bring. */
  readonly found: readonly BundleList[];
}

export interface BundleRegistryOptions {
  readonly bundles: readonly DefinedBundle[];
  /** The bundle of each source, with its own tools. */
  readonly homes: readonly Bundle[];
  /** Further bundles that sources bring. */
  found(): readonly BundleList[];
  generation(): Generation;
  /** Registers all specs or throws. */
  takeIn(tools: readonly unknown[], place: string): readonly ToolSpec[];
  onChange(): void;
  warn(message: string): void;
}

/** Keeps the definitions. They are resolved again with each catalog. */
export function createBundleRegistry(options: BundleRegistryOptions): BundleRegistry {
  let base: readonly Bundle[] = options.bundles;
  let homes: readonly Bundle[] = options.homes;
  let defined: readonly Bundle[] = base;
  const join = (
    wanted: readonly Bundle[],
    around: readonly Bundle[],
    lists: readonly BundleList[],
  ): readonly Bundle[] => {
    const check = (candidates: readonly Bundle[]) => checkBundles(mergeHomes(candidates, around));
    check(wanted);
    return mergeHomes(acceptBundles({ defined: wanted, lists, check, warn: options.warn }), around);
  };
  const definitions = () => join(defined, homes, options.found());
  const withByHand = (next: readonly Bundle[]) => [...next, ...defined.filter((bundle) => !base.includes(bundle))];
  definitions();

  const replace = (next: readonly Bundle[]): void => {
    checkBundles(mergeHomes(next, homes));
    defined = next;
    options.onChange();
  };
  const requireDefined = (name: string): Bundle => {
    const bundle = defined.find((candidate) => candidate.name === name);
    if (bundle !== undefined) return bundle;
    const other = bundles().get(name);
    if (other !== undefined) throw notYours(other, homes);
    throw new ToolcribError(
      'unknown_bundle',
      `The bundle "${name}" was not found.${didYouMean(
        name,
        defined.map((candidate) => candidate.name),
      )}`,
    );
  };
  const bundles = () => options.generation().bundles;

  return {
    definitions,
    checkBase: (next) => new Set(join(withByHand(next.bundles), next.homes, next.found).map((bundle) => bundle.name)),
    replaceBase(next) {
      const all = withByHand(next.bundles);
      checkBundles(mergeHomes(all, next.homes));
      [base, homes, defined] = [next.bundles, next.homes, all];
      options.onChange();
    },
    define(input) {
      const bundle = defineBundle(input);
      checkBundles(mergeHomes([...defined, bundle], homes));
      options.takeIn(bundle.specs, `bundle ${bundle.name}`);
      replace([...defined, bundle]);
    },
    get: (name) => bundles().get(name),
    of: (tool) => bundles().of(tool),
    names: () => bundles().all.map((bundle) => bundle.name),
    info(name) {
      const bundle = bundles().get(name);
      return bundle === undefined ? undefined : bundleInfo(bundle);
    },
    addTools(name, tools) {
      const bundle = requireDefined(name);
      const list = listTools(tools);
      const known = list.filter((tool) => typeof tool === 'string');
      for (const tool of known) requireTool(tool, options.generation());
      const specs = options.takeIn(
        list.filter((tool) => typeof tool !== 'string'),
        `bundle ${name}`,
      );
      const members = new Set([...(bundle.tools ?? []), ...known, ...specs.map((spec) => spec.name)]);
      replace(
        defined.map((other) =>
          other === bundle ? Object.freeze({ ...bundle, tools: Object.freeze([...members]) }) : other,
        ),
      );
    },
    removeTool(name, tool) {
      const bundle = requireDefined(name);
      if (!(bundle.tools ?? []).includes(tool)) {
        const why = bundles().get(name)?.members.includes(tool)
          ? 'was added by a selector or an extended bundle'
          : 'is not in it';
        throw new ToolcribError('unknown_tool', `"${tool}" cannot be removed from bundle "${name}": it ${why}.`);
      }
      const tools = (bundle.tools ?? []).filter((member) => member !== tool);
      replace(
        defined.map((other) => (other === bundle ? Object.freeze({ ...bundle, tools: Object.freeze(tools) }) : other)),
      );
    },
    clear: () => replace([]),
    expand: (tools, given = {}) =>
      expand(readNameList(tools, 'expand'), bundles(), {
        ...readExpandOptions(given),
        isInView: (name) => options.generation().catalog.get(name) !== undefined,
        requiresOf: (name) => options.generation().catalog.get(name)?.requires ?? [],
      }),
  };
}

function readExpandOptions(given: unknown): Pick<ExpandOptions, 'bundleFilter'> {
  const options = readOptions<Pick<ExpandOptions, 'bundleFilter'>>(given, ['bundleFilter'], 'expand');
  const { bundleFilter } = options;
  if (bundleFilter === undefined || typeof bundleFilter === 'function') return options;
  throw new ToolcribError(
    'invalid_option',
    `"bundleFilter" of expand must be a function, got ${describe(bundleFilter)}.`,
  );
}

// A bundle defined under the bundle name of a source also has the tools of that source.
function mergeHomes(defined: readonly Bundle[], homes: readonly Bundle[]): readonly Bundle[] {
  const merged = new Map(defined.map((bundle) => [bundle.name, bundle]));
  if (merged.size < defined.length) return defined; // checkBundles reports the duplicate
  for (const home of homes) {
    const other = merged.get(home.name);
    merged.set(
      home.name,
      other === undefined
        ? home
        : Object.freeze({ ...other, include: Object.freeze([...(other.include ?? []), ...(home.include ?? [])]) }),
    );
  }
  return [...merged.values()];
}

/** The error for changing a bundle of a source. The own bundle of a source can be extended by a definition; other bundles of a source cannot. */
function notYours({ name, members }: ResolvedBundle, homes: readonly Bundle[]): ToolcribError {
  const isHome = homes.some((home) => home.name === name);
  const message = isHome
    ? `Bundle "${name}" belongs to a source; to add tools, define a bundle of the same name with them. It also gets the tools of the source.`
    : `Bundle "${name}" comes from a source; to add tools, define a bundle of another name with them and include: ${JSON.stringify(members)}.`;
  return new ToolcribError('not_yours', message);
}

function requireTool(name: string, generation: Generation): void {
  if (RESERVED_NAMES.includes(name))
    throw new ToolcribError(
      'not_yours',
      `"${name}" is a tool of Toolcrib itself and cannot be in a bundle; leave it out.`,
    );
  if (generation.catalog.get(name) !== undefined) return;
  throw new ToolcribError(
    'unknown_tool',
    `The tool "${name}" was not found.${didYouMean(
      name,
      generation.catalog.specs.map((spec) => spec.name),
    )}`,
  );
}

/** The bundles that a source brings besides its own. */
export interface BundleList {
  readonly source: string;
  readonly bundles: readonly Bundle[];
}

interface AdmitBundlesOptions {
  readonly defined: readonly Bundle[];
  readonly lists: readonly BundleList[];
  /** Throws if the bundles conflict. */
  check(bundles: readonly Bundle[]): void;
  warn(message: string): void;
}

/** Adds bundles of sources to the defined ones. A conflicting bundle is skipped with a warning; the first bundle of a name wins. */
function acceptBundles({ defined, lists, check, warn }: AdmitBundlesOptions): readonly Bundle[] {
  let admitted = defined;
  let waiting = lists.flatMap(({ source, bundles }) => bundles.map((bundle) => ({ source, bundle, reason: '' })));
  for (let before = Number.POSITIVE_INFINITY; waiting.length < before; ) {
    before = waiting.length;
    // A bundle may extend a later one, so rejected bundles are tried again.
    waiting = waiting.flatMap((entry) => {
      try {
        check([...admitted, entry.bundle]);
        admitted = [...admitted, entry.bundle];
        return [];
      } catch (cause) {
        return [{ ...entry, reason: messageOf(cause) }];
      }
    });
  }
  for (const { source, bundle, reason } of waiting) warn(`${source}: Bundle "${bundle?.name}" is left out: ${reason}`);
  return admitted;
}
