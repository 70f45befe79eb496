import type { Catalog } from './catalog.ts';
import { META_SOURCE } from './meta-tools.ts';
import { didYouMean } from './read-options.ts';
import { compileSelector, type Selector } from './selector.ts';
import { messageOf, ToolcribError } from './tool-error.ts';
import type { Surroundings, ToolSpec, When } from './tool-spec.ts';
import { listOf } from './visible-text.ts';

/** Tools that belong together: shown, found and set up together, with their prompt text. */
export interface Bundle {
  readonly name: string;
  readonly description?: string;
  /** Names of the tools defined in the bundle. */
  readonly tools?: readonly string[];
  readonly include?: readonly Selector[];
  /** Bundles that are set up before this one. */
  readonly requires?: readonly string[];
  /** Bundles whose members, instructions and requirements this one inherits. */
  readonly extends?: readonly string[];
  readonly when?: When;
  readonly priority?: number;
  readonly instructions?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Runs once, before the first call or on activation. */
  setup?(context: SetupContext): SetupResult | Promise<SetupResult>;
  /** Runs after setup, when other bundles can use the state. */
  ready?(context: SetupContext): void | Promise<void>;
}

export interface SetupContext {
  readonly services: Readonly<Record<string, unknown>>;
  /** Options of `createCrib`, overridden by those passed to `initTools`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Aborts when the setup has taken too long or the crib closes. */
  readonly signal: AbortSignal;
  /** The state of a required bundle. */
  use(bundle: string): unknown;
}

/** `state` reaches the bundle's tools as `call.state`; `instructions` follow the bundle's prompt text; `dispose` runs when the crib closes. */
export type SetupResult =
  | { readonly state?: unknown; readonly instructions?: string; dispose?(): void | Promise<void> }
  | undefined
  | void;

/** A bundle with its base bundles merged in and its members resolved. */
export interface ResolvedBundle {
  readonly name: string;
  readonly definition: Bundle;
  /** In catalog order, higher priority first. */
  readonly members: readonly string[];
  readonly requires: readonly string[];
  readonly instructions: string;
  /** Its prompt texts, inherited ones first. */
  readonly texts: readonly string[];
}

/** Summary of a bundle. */
export interface BundleInfo {
  readonly name: string;
  readonly description?: string;
  readonly toolCount: number;
  readonly toolNames: readonly string[];
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Summarizes a bundle; counts only tools for which `isShown` is true. */
export function bundleInfo(bundle: ResolvedBundle, isShown: (tool: string) => boolean = () => true): BundleInfo {
  const { name, description, meta = {} } = bundle.definition;
  const toolNames = bundle.members.filter(isShown);
  return { name, ...(description !== undefined && { description }), toolCount: toolNames.length, toolNames, meta };
}

/** All bundles of one catalog. */
export interface Bundles {
  readonly all: readonly ResolvedBundle[];
  get(name: string): ResolvedBundle | undefined;
  /** The bundles a tool is in, higher priority first. */
  of(tool: string): readonly ResolvedBundle[];
}

/** Throws for an unknown name, a duplicate or a cycle. */
export function checkBundles(bundles: readonly Bundle[]): void {
  const byName = new Map<string, Bundle>();
  for (const bundle of bundles) {
    if (byName.has(bundle.name))
      throw new ToolcribError('duplicate', `There are two bundles named "${bundle.name}"; rename one of them.`);
    byName.set(bundle.name, bundle);
  }
  for (const bundle of bundles) {
    const missing = bundle.extends?.find((name) => !byName.has(name));
    if (missing !== undefined) {
      throw new ToolcribError(
        'unknown_bundle',
        `Bundle "${bundle.name}" extends "${missing}", which does not exist.${didYouMean(missing, byName.keys())}`,
      );
    }
    // Extending a bundle inherits its requirements, so both kinds of links can form a cycle.
    const cycle = findCycle(bundle.name, (name) => [
      ...(byName.get(name)?.requires ?? []),
      ...(byName.get(name)?.extends ?? []),
    ]);
    if (cycle !== undefined)
      throw new ToolcribError('cycle', `Bundles require or extend each other in a cycle: ${cycle.join(' -> ')}.`);
  }
}

function findCycle(start: string, next: (name: string) => readonly string[]): readonly string[] | undefined {
  const seen = new Set<string>();
  const walk = (name: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (seen.has(name)) return undefined;
    seen.add(name);
    for (const after of next(name)) {
      const cycle = walk(after, [...path, name]);
      if (cycle !== undefined) return cycle;
    }
    return undefined;
  };
  return walk(start, []);
}

/** Resolves the bundles of a catalog; `bundles` must have passed `checkBundles`. */
export function resolveBundles(bundles: readonly Bundle[], catalog: Catalog): Bundles {
  const definitions = new Map(bundles.map((bundle) => [bundle.name, bundle]));
  const resolved = new Map<string, ResolvedBundle>();
  const resolveOne = (definition: Bundle): ResolvedBundle => {
    const known = resolved.get(definition.name);
    if (known !== undefined) return known;
    const bases = (definition.extends ?? []).flatMap((name) => definitions.get(name) ?? []).map(resolveOne);
    const bundle = mergeBundle(definition, bases, catalog);
    resolved.set(definition.name, bundle);
    return bundle;
  };
  const all = Object.freeze(bundles.map(resolveOne));
  let byTool: ReadonlyMap<string, readonly ResolvedBundle[]> | undefined;
  return {
    all,
    get: (name) => resolved.get(name),
    of(tool) {
      byTool ??= bundlesByTool(all);
      return byTool.get(tool) ?? NO_BUNDLES;
    },
  };
}

const NO_BUNDLES: readonly ResolvedBundle[] = Object.freeze([]);

function bundlesByTool(all: readonly ResolvedBundle[]): ReadonlyMap<string, readonly ResolvedBundle[]> {
  const byTool = new Map<string, readonly ResolvedBundle[]>();
  for (const bundle of all.toSorted((a, b) => (b.definition.priority ?? 0) - (a.definition.priority ?? 0))) {
    const alone = Object.freeze([bundle]); // most tools are in one bundle
    for (const tool of bundle.members) {
      const list = byTool.get(tool);
      byTool.set(tool, list === undefined ? alone : Object.freeze([...list, bundle]));
    }
  }
  return byTool;
}

function mergeBundle(definition: Bundle, bases: readonly ResolvedBundle[], catalog: Catalog): ResolvedBundle {
  const tests = (definition.include ?? []).map(compileSelector);
  const findMembers = () => {
    const selected =
      tests.length === 0 ? [] : catalog.specs.filter((spec) => tests.some((matches) => matches(spec, [])));
    const brought = [...bases.flatMap((base) => base.members), ...(definition.tools ?? [])];
    const specs = new Set([...brought.flatMap((name) => catalog.get(name) ?? []), ...selected]);
    // All callers see the crib's own tools. As members they would reveal a bundle to callers who see none of its other tools.
    const members = [...specs].filter(({ source }) => source !== META_SOURCE);
    return Object.freeze(byPriority(members).map((spec) => spec.name));
  };
  let members: readonly string[] | undefined;
  const texts = [...bases.flatMap((base) => base.texts), definition.instructions ?? ''].filter((text) => text !== '');
  return Object.freeze({
    name: definition.name,
    definition,
    get members() {
      members ??= findMembers(); // lazy: a source may have very many tools
      return members;
    },
    requires: Object.freeze([...new Set([...bases.flatMap((base) => base.requires), ...(definition.requires ?? [])])]),
    instructions: texts.join('\n\n'),
    texts: Object.freeze(texts),
  });
}

function byPriority(specs: readonly ToolSpec[]): readonly ToolSpec[] {
  return [...specs].sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
}

/** The reason why the conditions do not hold, or `undefined` if they do. */
export function whyNot(when: When | undefined, surroundings: Surroundings): string | undefined {
  if (when === undefined) return undefined;
  const env = listOf(when.env).find((name) => !surroundings.env[name]);
  if (env !== undefined) return `the environment variable ${env} is not set`;
  const platforms = listOf(when.platform);
  if (platforms.length > 0 && !platforms.includes(surroundings.platform)) {
    return `the platform is ${surroundings.platform}, not ${platforms.join(' or ')}`;
  }
  const service = listOf(when.service).find((name) => surroundings.services[name] === undefined);
  if (service !== undefined) return `the service "${service}" is missing`;
  try {
    return when.predicate === undefined || when.predicate(surroundings) === true
      ? undefined
      : 'its predicate returned false';
  } catch (cause) {
    return `its predicate failed: ${messageOf(cause)}`; // when in doubt, leave it out
  }
}

/** Returns the hits, then the other tools of their bundles, then the tools that those require. Only tools for which `isInView` is true. */
export function expand(hits: readonly string[], bundles: Bundles, options: ExpandOptions): readonly string[] {
  const names = new Set(hits);
  const wanted = options.bundleFilter ?? (() => true);
  // The filter sees only the members that the caller sees.
  const seen = (bundle: ResolvedBundle) => ({ ...bundle, members: bundle.members.filter(options.isInView) });
  const touched = [...new Set(hits.flatMap((hit) => bundles.of(hit)))];
  const opened = new Set(touched.filter((bundle) => wanted(seen(bundle))));
  for (const bundle of opened) for (const member of bundle.members) names.add(member);
  const required = new Set([...opened].flatMap((bundle) => bundle.requires));
  for (const name of required) {
    for (const deeper of bundles.get(name)?.requires ?? []) required.add(deeper); // a Set may grow during iteration
    for (const member of bundles.get(name)?.members ?? []) names.add(member);
  }
  for (const name of names) for (const needed of options.requiresOf(name)) names.add(needed); // likewise
  return [...names].filter(options.isInView);
}

export interface ExpandOptions {
  readonly isInView: (name: string) => boolean;
  /** The tools that a tool requires. */
  readonly requiresOf: (name: string) => readonly string[];
  /** Returns false to keep the hit but not add the rest of its bundle. */
  readonly bundleFilter?: (bundle: ResolvedBundle) => boolean;
}
