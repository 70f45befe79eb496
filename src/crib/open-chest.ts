import type { Call, CallHost } from '../call/call.ts';
import { type CallOptions, readRequest } from '../call/call-input.ts';
import { type Entering, type Entrance, enterCall, inheritedOptions } from '../call/enter-call.ts';
import type { Pipeline } from '../call/pipeline.ts';
import { type BundleInfo, bundleInfo } from '../core/bundle.ts';
import type { Caller } from '../core/caller.ts';
import type { Generation, ProfileSet } from '../core/catalog.ts';
import { isPromise } from '../core/json.ts';
import type { Profile } from '../core/profile.ts';
import { defined, describe } from '../core/read-options.ts';
import type { Retriever, SearchHit, SearchOptions, SearchRequest } from '../core/retriever.ts';
import type { CallRequest, Delegation, ToolCall } from '../core/tool-call.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { CallAnswer, Outcome, ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { View } from '../core/view.ts';
import { searchView } from '../search/search-view.ts';
import { readSubmission, type SubmitOptions } from '../tasks/submission.ts';
import { type Activation, createActivation, type Names } from './catalog/activation.ts';
import { joinSections, type Listed, listView, type Section, sectionsOf } from './catalog/list-view.ts';
import type { Setups } from './catalog/setups.ts';
import {
  type DeprecatedNames,
  deprecatedNames,
  ENTER,
  type EnterableChest,
  FOR_OLD_NAMES,
  type OldParts,
} from './chest.ts';
import { chooseTarget, targetsOf } from './delegate.ts';

/** The crib as a chest sees it. */
export interface ChestHost extends Omit<CallHost, 'toolsFor' | 'delegate'> {
  profiles(): ProfileSet;
  readonly setups: Setups;
  generation(): Generation;
  pipeline(): Pipeline;
  isClosed(): boolean;
  isStarting(): boolean;
  now(): number;
  rewriteListing(specs: readonly ToolSpec[]): readonly ToolSpec[];
  readonly rank: Retriever['rank'];
  /** Usage counts of tools by a caller under a profile; undefined if usage is not counted. */
  usageOf(profile: string, callerId: string | undefined): ((tool: string) => number) | undefined;
}

/** Options for opening a chest; `active` replaces the profile's initial bundles. */
export interface Opening {
  readonly profile: Profile;
  readonly active?: readonly string[];
}

/** A chest that computes everything lazily, so it opens in constant time. It is a class for speed, as a host may open one per request. */
class OpenChest implements Omit<EnterableChest, keyof DeprecatedNames> {
  readonly #host: ChestHost;
  readonly #profile: Profile;
  readonly #caller: Caller;
  #seen: { readonly generation: Generation; readonly profile: Profile; readonly view: View } | undefined;
  #activation: Activation | undefined;
  #listing: (Listed & { readonly view: View; readonly version: number }) | undefined;
  #entrance: Entrance | undefined;
  readonly #active: readonly string[] | undefined;

  constructor(host: ChestHost, { profile, active }: Opening, caller: Caller) {
    this.#host = host;
    this.#profile = profile;
    this.#active = active;
    this.#caller = caller;
  }

  get profile(): string {
    return this.#profile.name;
  }

  list(): readonly ToolSpec[] {
    return this.#listed().shown;
  }

  listActive(): readonly ToolSpec[] {
    return this.#listed().active;
  }

  /** Cached until the view or the active bundles change. */
  #listed(): Listed {
    const view = this.#view();
    const { version } = this.#shown();
    if (this.#listing?.view === view && this.#listing.version === version) return this.#listing;
    const { rewriteListing, profiles, generation } = this.#host;
    const { bundles, viewFor } = generation();
    const targets = targetsOf(view, profiles(), (profile) => viewFor(profile, this.#caller));
    const chosen = { active: this.active(), essential: this.essential() };
    const listing = listView({ view, bundles, ...chosen, targets, rewriteListing });
    this.#listing = { ...listing, view, version };
    return listing;
  }

  get(name: string): ToolSpec | undefined {
    return this.#view().get(name);
  }

  async search(request: SearchRequest, options?: SearchOptions): Promise<readonly SearchHit[]> {
    const { rank, usageOf, generation } = this.#host;
    const usage = usageOf(this.#profile.name, this.#caller.id);
    return searchView(request, options, { view: () => this.#view(), rank, usage, generation });
  }

  call(name: string, input?: unknown, options?: CallOptions): Promise<ToolResult> {
    return this.#enter({ name, input, options, parent: undefined });
  }

  submit(name: string, input?: unknown, given?: SubmitOptions): Promise<ToolResult> {
    const read = readSubmission(given, this.#host.now(), this.#caller);
    if (!read.ok) return this[ENTER]({ name, input, options: undefined, refusal: read.error });
    return this[ENTER]({ name, input, ...read });
  }

  [ENTER](entering: Omit<Entering, 'parent'>): Promise<ToolResult> {
    return this.#enter({ ...entering, parent: undefined });
  }

  async callAll(calls: readonly CallRequest[], options?: CallOptions): Promise<readonly CallAnswer[]> {
    if (!Array.isArray(calls))
      throw new ToolcribError('invalid_option', `callAll() needs a list of calls, got ${describe(calls)}.`);
    const answer = async (request: CallRequest): Promise<CallAnswer> => {
      const { id, name, input } = readRequest(request);
      return { id, name, result: await this.call(name, input, options) };
    };
    return Promise.all(Array.from(calls, answer));
  }

  available(): readonly string[] {
    return this.#shown().available();
  }
  active(): readonly string[] {
    return this.#shown().active();
  }
  essential(): readonly string[] {
    return this.#shown().essential();
  }
  activate(names: Names): Promise<Outcome> {
    return this.#shown().activate(names);
  }
  deactivate(names: Names): Promise<Outcome> {
    return this.#shown().deactivate(names);
  }
  setActive(names: Names): Promise<Outcome> {
    return this.#shown().setActive(names);
  }
  addEssential(names: Names): Promise<Outcome> {
    return this.#shown().addEssential(names);
  }

  sections(): readonly Section[] {
    const { generation, setups } = this.#host;
    const active = new Set(this.active());
    return sectionsOf({ active, specs: this.listActive(), bundles: generation().bundles, setups });
  }
  instructions(): string {
    return joinSections(this.sections());
  }

  state(bundle: string): unknown {
    return this.available().includes(bundle) ? this.#host.setups.made(bundle)?.state : undefined;
  }

  [FOR_OLD_NAMES](): OldParts {
    return { activeBundles: () => this.#bundles(this.active()), setups: this.#host.setups };
  }

  #bundles(names: readonly string[]): readonly BundleInfo[] {
    const view = this.#view();
    const { bundles } = this.#host.generation();
    return names.flatMap((name) => bundles.get(name) ?? []).map((bundle) => bundleInfo(bundle, view.has));
  }

  /** The current view of the caller. */
  #view(): View {
    const generation = this.#host.generation();
    if (this.#seen?.generation === generation) return this.#seen.view;
    const profile = generation.currentProfile(this.#profile);
    this.#seen = { generation, profile, view: generation.viewFor(profile, this.#caller) };
    return this.#seen.view;
  }

  #shown(): Activation {
    this.#activation ??= createActivation({
      profile: this.#active === undefined ? this.#profile : { ...this.#profile, active: this.#active },
      now: () => ({ view: this.#view(), bundles: this.#host.generation().bundles }),
      setups: this.#host.setups,
    });
    return this.#activation;
  }

  #enter(entering: Entering): Promise<ToolResult> {
    this.#entrance ??= this.#openEntrance();
    const result = enterCall(this.#entrance, entering);
    return isPromise(result) ? result : Promise.resolve(result);
  }

  /** The chest of the caller that parked the call, as the resuming caller may have other roles. The approve function of the current caller is kept. */
  #asWhoParked({ takenUp }: Call): OpenChest {
    if (takenUp === undefined) return this;
    const caller = { ...takenUp.caller, ...defined({ approve: this.#caller.approve }) };
    return new OpenChest(this.#host, { profile: this.#profile, ...defined({ active: this.#active }) }, caller);
  }

  /** The tools of this chest for calls nested in `call`. */
  #toolsFor(call: Call, more: CallOptions = {}): ToolCall['tools'] {
    return {
      list: () => this.listActive(),
      get: (name) => this.get(name),
      shown: () => this.list(),
      instructions: () => this.instructions(),
      search: (request, options) => this.search(request, options),
      bundles: () => this.#bundles(this.available()),
      call: (name, input, options) =>
        this.#enter({ name, input, options: { ...inheritedOptions(call), ...options, ...more }, parent: call }),
    };
  }

  async #delegate(call: Call, name: string): Promise<Delegation> {
    const from = { profile: () => this.#view().profile, profiles: () => this.#host.profiles() };
    const target = await chooseTarget(call, { name, ...from, caller: this.#caller });
    if ('error' in target) return target;
    const tools = new OpenChest(this.#host, target, this.#caller).#toolsFor(call, target.options);
    return { ok: true, chest: { profile: target.profile.name, ...tools, call: target.whileGranted(tools.call) } };
  }

  #openEntrance(): Entrance {
    const { lifetime, inFlight, servicesFor, stateFor, confirm, keepTask, warn } = this.#host;
    const { pipeline, now, isClosed, isStarting } = this.#host;
    const toolsFor = (call: Call) => this.#asWhoParked(call).#toolsFor(call);
    const delegate = (call: Call, profile: string) => this.#asWhoParked(call).#delegate(call, profile);
    return {
      caller: this.#caller,
      host: { lifetime, inFlight, servicesFor, stateFor, confirm, keepTask, warn, toolsFor, delegate },
      view: () => this.#view(),
      pipeline,
      now,
      isClosed,
      isStarting,
    };
  }
}
Object.defineProperties(OpenChest.prototype, Object.getOwnPropertyDescriptors(deprecatedNames));

/** One caller's chest under one profile. */
export function createChest(host: ChestHost, opening: Opening, caller: Caller): EnterableChest {
  return new OpenChest(host, opening, caller) as OpenChest & DeprecatedNames; // added to its prototype above
}
