import type { Generation } from '../../core/catalog.ts';
import type { Executor, ExecutorReview } from '../../core/executor.ts';
import type { Extension } from '../../core/extension.ts';
import { isJson } from '../../core/json.ts';
import type { Profile } from '../../core/profile.ts';
import { compileSelector, type Selector } from '../../core/selector.ts';
import { messageOf } from '../../core/tool-error.ts';
import { kindOf, needsOf, readNeed, type ToolSpec } from '../../core/tool-spec.ts';
import { traitsOf } from '../../kinds/index.ts';
import { type EngineCore, requireStarted } from '../engine.ts';
import type { SourceReport } from '../sources/source-slot.ts';

/** What is allowed but hardly meant: selectors that match nothing, essentials out of view, requirements and needs that nobody meets. */
function findProblems(
  generation: Generation,
  profiles: Iterable<Profile>,
  services: Readonly<Record<string, unknown>>,
): readonly string[] {
  return [
    ...[...profiles].flatMap((profile) => profileProblems(generation, profile)),
    ...unmetRequirements(generation),
    ...unmetNeeds(generation, services),
  ];
}

/** Selectors of extensions that match no tool: what they should guard is not guarded. */
function idleSelectors(generation: Generation, extensions: readonly Extension[]): readonly string[] {
  return extensions.flatMap(({ name, selectors = {} }) =>
    Object.entries(selectors).flatMap(([key, list]) =>
      list
        .filter((selector) => matchesNothing(generation, selector))
        .map((selector) => `Extension "${name}": ${key} ${JSON.stringify(selector)} matches no tool.`),
    ),
  );
}

function profileProblems(generation: Generation, profile: Profile): readonly string[] {
  const about = `Profile "${profile.name}"`;
  const idle = (['include', 'exclude', 'approve'] as const).flatMap((key) =>
    (profile[key] ?? [])
      .filter((selector) => matchesNothing(generation, selector))
      .map((selector) => `${about}: ${key} ${JSON.stringify(selector)} matches no tool.`),
  );
  const ruling = (profile.rules ?? []).flatMap(({ tools }) => tools);
  const idleRules = ruling.filter((selector) => matchesNothing(generation, selector));
  const isShown = shownToSomebody(generation, profile);
  const unseen = (profile.essential ?? []).filter((name) => {
    const members = generation.bundles.get(name)?.members ?? [];
    return members.length > 0 && !members.some(isShown);
  });
  const parted = generation.catalog.specs
    .filter((spec) => isShown(spec.name))
    .flatMap((spec) =>
      (spec.requires ?? [])
        .filter((name) => generation.catalog.get(name) !== undefined && !isShown(name))
        .map((name) => `${about}: "${spec.name}" requires "${name}", which the profile does not show.`),
    );
  const unavailable =
    profile.expose === 'script'
      ? [`${about}: expose: script is not available in this version; all of its tools are shown.`]
      : [];
  return [
    ...idle,
    ...idleRules.map((selector) => `${about}: a rule for ${JSON.stringify(selector)} matches no tool.`),
    ...unseen.map((name) => `${about}: bundle "${name}" is essential, but the profile shows none of its tools.`),
    ...parted,
    ...unavailable,
  ];
}

/** What the profile itself shuts out is shut out for all; what access hides is there for somebody. */
function shownToSomebody(generation: Generation, profile: Profile): (tool: string) => boolean {
  const selects = (selectors: readonly Selector[], tool: string) => {
    const spec = generation.catalog.get(tool);
    const bundles = generation.bundles.of(tool).map((bundle) => bundle.name);
    return spec !== undefined && selectors.some((selector) => compileSelector(selector)(spec, bundles));
  };
  return (tool) =>
    (profile.include === undefined || selects(profile.include, tool)) && !selects(profile.exclude ?? [], tool);
}

function matchesNothing(generation: Generation, selector: Selector): boolean {
  const matches = compileSelector(selector);
  return !generation.catalog.specs.some((spec) =>
    matches(
      spec,
      generation.bundles.of(spec.name).map((bundle) => bundle.name),
    ),
  );
}

function unmetRequirements(generation: Generation): readonly string[] {
  const ofTools = generation.catalog.specs
    .filter((spec) => spec.requires !== undefined)
    .flatMap((spec) =>
      (spec.requires ?? [])
        .filter((name) => generation.catalog.get(name) === undefined)
        .map((name) => `Tool "${spec.name}" requires "${name}", which is not there.`),
    );
  const ofBundles = generation.bundles.all.flatMap((bundle) =>
    bundle.requires
      .filter((name) => generation.bundles.get(name) === undefined)
      .map((name) => `Bundle "${bundle.name}" requires "${name}", which is not there.`),
  );
  return [...ofTools, ...ofBundles];
}

function unmetNeeds(generation: Generation, services: Readonly<Record<string, unknown>>): readonly string[] {
  return generation.catalog.specs
    .filter((spec) => needsOf(spec).length > 0)
    .flatMap((spec) =>
      needsOf(spec).flatMap((need) => {
        const why = whyUnmet(spec, need, services);
        return why === undefined ? [] : [`Tool "${spec.name}" needs the service "${readNeed(need).name}", ${why}.`];
      }),
    );
}

function whyUnmet(spec: ToolSpec, need: string, services: Readonly<Record<string, unknown>>): string | undefined {
  const { name, isSetting, isOptional } = readNeed(need);
  if (isSetting) return undefined;
  const service = services[name];
  if (service === undefined) return isOptional ? undefined : 'which is not configured';
  const isTaken = traitsOf(kindOf(spec)).takesServices !== 'json' || isJson(service);
  return isTaken ? undefined : `which is not JSON: a tool of kind ${kindOf(spec)} cannot get it`;
}

/** What the operator of an engine should know. */
export interface EngineProblems {
  /** Says what is found by now, and once all lists are there what they show. */
  announce(): void;
  /** Everything that was said or can be found out now, each sentence once. */
  list(): readonly string[];
}

export function createEngineProblems(core: EngineCore, isClosing: () => boolean): EngineProblems {
  const { warnings, generation } = core;
  const { redact } = core.fixed.context;
  const ownProblems = () => [...core.definition.problems, ...core.auditKeys.problems()];
  const heldBack = () => generation().catalog.held.map(({ message }) => message);
  const failedSources = () => {
    const failed = (core.sources?.report() ?? []).filter(({ state }) => state === 'failed');
    return untoldTroubles(failed, [...warnings.list(), ...ownProblems()].map(redact), redact);
  };
  const announceAll = async (): Promise<void> => {
    const announced = core.definition;
    const sources = requireStarted(core.sources);
    warnings.announce('configuration', ownProblems());
    warnings.announce('sources', failedSources());
    if (!sources.isListed()) await sources.listed();
    if (core.definition !== announced || isClosing()) return; // a later edit tells
    warnings.announce('lists', problemsOfLists(core));
  };
  return {
    announce: () => void announceAll().catch((cause: unknown) => warnings.warn(messageOf(cause))),
    list: () => {
      const found = [...heldBack(), ...ownProblems(), ...failedSources(), ...problemsOfLists(core)];
      return [...new Set([...warnings.list(), ...found.map(redact)])];
    },
  };
}

/** What selectors match is known when all lists are there. */
function problemsOfLists({ sources, generation, definition, services, extensions }: EngineCore): readonly string[] {
  if (sources?.isListed() !== true || !definition.hasTools) return [];
  return [
    ...findProblems(generation(), definition.profiles.byName.values(), services.all()),
    ...idleSelectors(generation(), extensions.list()),
    ...sources.problems(),
  ];
}

/** What is the matter with sources, a sentence each, without what was told already: by the source itself, or of its entry. */
export function untoldTroubles(
  reports: readonly Pick<SourceReport, 'name' | 'state' | 'reason'>[],
  told: readonly string[],
  redact: (text: string) => string = (text) => text,
): readonly string[] {
  return reports.flatMap(({ name, state, reason }) => {
    const known = redact(reason ?? `it is ${state}`);
    const isTold = told.some((sentence) => beginsWith(known, aboutIt(sentence, name)));
    return isTold ? [] : [`Source "${name}": ${known.replace(/\.?$/, '.')}`];
  });
}

/** A sentence about a source without its name; undefined for one that does not name it. */
function aboutIt(sentence: string, name: string): string | undefined {
  const prefix = `${name}: `;
  if (sentence.startsWith(prefix)) return sentence.slice(prefix.length);
  const [before, ...after] = sentence.split(`Source "${name}": `);
  return after.length === 0 ? undefined : [before, ...after].join('');
}

function beginsWith(reason: string, begin: string | undefined): boolean {
  return begin !== undefined && reason.startsWith(begin.replace(/\.$/, ''));
}

/** What executors say about the tools that they run; one that has none is not asked. */
export async function reviewTools(
  specs: readonly ToolSpec[],
  executors: ReadonlyMap<string, Executor>,
): Promise<ExecutorReview> {
  const reviews = await Promise.all(Array.from(executors.values(), (executor) => reviewOf(executor, specs)));
  return {
    problems: reviews.flatMap((review) => review?.problems ?? []),
    notes: reviews.flatMap((review) => review?.notes ?? []),
  };
}

async function reviewOf(executor: Executor, specs: readonly ToolSpec[]): Promise<ExecutorReview | undefined> {
  const own = executor.review === undefined ? [] : specs.filter((spec) => kindOf(spec) === executor.kind);
  if (own.length === 0) return undefined;
  try {
    return await executor.review?.(own);
  } catch (cause) {
    // An executor may be code of another author; a server starts without its review.
    return { problems: [`The executor "${executor.kind}" cannot review its tools: ${messageOf(cause)}`], notes: [] };
  }
}
