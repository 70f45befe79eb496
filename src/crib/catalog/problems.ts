import type { Generation } from '../../core/catalog.ts';
import type { Executor, ExecutorReview } from '../../core/executor.ts';
import type { Extension } from '../../core/extension.ts';
import { isJson } from '../../core/json.ts';
import type { Profile } from '../../core/profile.ts';
import { didYouMean } from '../../core/read-options.ts';
import { compileSelector, type Selector } from '../../core/selector.ts';
import { messageOf } from '../../core/tool-error.ts';
import { isElsewhere, kindOf, needsOf, readNeed, type ToolSpec } from '../../core/tool-spec.ts';
import { traitsOf } from '../../kinds/index.ts';
import { type EngineCore, requireStarted } from '../engine.ts';
import type { SourceReport } from '../sources/source-slot.ts';

/** Finds probable mistakes: selectors that match nothing, essential bundles that are not visible, unmet requirements and needs. */
function findProblems(
  generation: Generation,
  profiles: Iterable<Profile>,
  services: Readonly<Record<string, unknown>>,
): readonly string[] {
  const all = [...profiles];
  const names = new Set(all.map(({ name }) => name));
  return [
    ...all.flatMap((profile) => profileProblems(generation, profile)),
    ...all.flatMap((profile) => unknownTargets(profile, names)),
    ...unmetRequirements(generation),
    ...unmetNeeds(generation, services),
  ];
}

function unknownTargets({ name, delegate = {} }: Profile, known: ReadonlySet<string>): readonly string[] {
  return Object.keys(delegate)
    .filter((target) => !known.has(target))
    .map(
      (target) =>
        `Profile "${name}": delegate names the profile "${target}", which does not exist.${didYouMean(target, known)}`,
    );
}

/** Finds selectors of extensions that match no tool, so the intended tools are not guarded. */
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
  const { include, exclude, approve, search } = profile;
  const chosen = { include, exclude, approve, ...search };
  const idle = Object.entries(chosen).flatMap(([key, selectors = []]) =>
    selectors
      .filter((selector) => matchesNothing(generation, selector))
      .map((selector) => `${about}: ${key} ${JSON.stringify(selector)} matches no tool.`),
  );
  const ruling = (profile.rules ?? []).flatMap(({ tools }) => tools);
  const idleRules = ruling.filter((selector) => matchesNothing(generation, selector));
  const isShown = shownByProfile(generation, profile);
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
  return [
    ...idle,
    ...idleRules.map((selector) => `${about}: a rule for ${JSON.stringify(selector)} matches no tool.`),
    ...unseen.map((name) => `${about}: bundle "${name}" is essential, but the profile shows none of its tools.`),
    ...parted,
  ];
}

/** Checks include and exclude only: tools hidden by access clauses are visible to some callers. */
function shownByProfile(generation: Generation, profile: Profile): (tool: string) => boolean {
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
        .map((name) => `Tool "${spec.name}" requires the tool "${name}", which does not exist.`),
    );
  const ofBundles = generation.bundles.all.flatMap((bundle) =>
    bundle.requires
      .filter((name) => generation.bundles.get(name) === undefined)
      .map((name) => `Bundle "${bundle.name}" requires the bundle "${name}", which does not exist.`),
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
  return isTaken ? undefined : `which is not JSON, so a tool of kind ${kindOf(spec)} cannot use it`;
}

/** Problems that the operator should know. */
export interface EngineProblems {
  /** Emits the current problems, and those of tool lists once all sources have a list. */
  announce(): void;
  /** All past and current problems, without duplicates. */
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
    if (core.definition !== announced || isClosing()) return; // a later edit announces its own
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

/** Problems that can be found only when all sources have a list. */
function problemsOfLists({ sources, generation, definition, services, extensions }: EngineCore): readonly string[] {
  if (sources?.isListed() !== true || !definition.hasTools) return [];
  return [
    ...findProblems(generation(), definition.profiles.byName.values(), services.all()),
    ...idleSelectors(generation(), extensions.list()),
    ...sources.problems(),
  ];
}

/** Problems of sources, one sentence each, except those reported already. */
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

/** Removes the name of a source from a message; undefined if the message does not name it. */
function aboutIt(sentence: string, name: string): string | undefined {
  const prefix = `${name}: `;
  if (sentence.startsWith(prefix)) return sentence.slice(prefix.length);
  const [before, ...after] = sentence.split(`Source "${name}": `);
  return after.length === 0 ? undefined : [before, ...after].join('');
}

function beginsWith(reason: string, begin: string | undefined): boolean {
  return begin !== undefined && reason.startsWith(begin.replace(/\.$/, ''));
}

/** Lets each executor review its tools. Executors without tools are skipped. */
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
  const own =
    executor.review === undefined ? [] : specs.filter((spec) => kindOf(spec) === executor.kind && !isElsewhere(spec));
  if (own.length === 0) return undefined;
  try {
    return await executor.review?.(own);
  } catch (cause) {
    // A custom executor may fail; the server starts without its review.
    return { problems: [`The executor "${executor.kind}" failed to review its tools: ${messageOf(cause)}`], notes: [] };
  }
}
