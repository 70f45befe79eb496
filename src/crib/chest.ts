import { deprecate } from 'node:util';
import type { CallOptions } from '../call/call-input.ts';
import type { Entering } from '../call/enter-call.ts';
import type { BundleInfo } from '../core/bundle.ts';
import type { SearchHit, SearchOptions, SearchRequest } from '../core/retriever.ts';
import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer, DoneResult, Outcome, ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { SubmitOptions } from '../tasks/submission.ts';
import type { Activation, Names } from './catalog/activation.ts';
import type { Section } from './catalog/list-view.ts';
import type { Setups } from './catalog/setups.ts';
import type { CribServer } from './crib-server.ts';

/** The tools of one profile, opened for one caller. It does not need to be closed. */
export interface Chest extends Omit<Activation, 'version'>, DeprecatedNames {
  readonly profile: string;
  /** The tools to show to a model, in catalog order: the active tools, or with `expose: search` the essential bundles and the search tools. */
  list(): readonly ToolSpec[];
  /** The active tools in catalog order, regardless of `expose`. */
  listActive(): readonly ToolSpec[];
  /** A visible tool, active or not. */
  get(name: string): ToolSpec | undefined;
  /** The options of a goal may stand beside it: `search({ goal, expand: true })`. */
  search(request: SearchRequest, options?: SearchOptions): Promise<readonly SearchHit[]>;
  /** Never rejects; the result holds the error. */
  call(name: string, input?: unknown, options?: CallOptions): Promise<ToolResult>;
  /** Stores a call that a crib, a server or a worker makes later. The result waits for a task, or holds the error. Never rejects. */
  submit(name: string, input?: unknown, options?: SubmitOptions): Promise<ToolResult>;
  /** Makes all calls concurrently. The answers have the order and the ids of the calls. */
  callAll(calls: readonly CallRequest[], options?: CallOptions): Promise<readonly CallAnswer[]>;
  /** The instructions of active bundles and tools, joined by blank lines. */
  instructions(): string;
  sections(): readonly Section[];
  /** The state that the setup of a visible bundle returned; undefined before the setup. For the host only: no door exposes it. */
  state(bundle: string): unknown;
}

/** A chest whose calls have the types of an interface that `toolcrib types` wrote. */
export interface TypedChest<Tools extends object> extends Omit<Chest, 'call'> {
  call<Name extends keyof Tools & string>(
    name: Name,
    ...given: TypedArguments<Tools[Name]>
  ): Promise<TypedResult<Tools[Name]>>;
}

type TypedArguments<Tool> = Tool extends (...input: infer Input) => unknown
  ? Input extends readonly []
    ? [input?: object, options?: CallOptions]
    : undefined extends Input[0]
      ? [input?: Input[0], options?: CallOptions]
      : [input: Input[0], options?: CallOptions]
  : never;

type TypedResult<Tool> =
  | Exclude<ToolResult, DoneResult>
  | (Omit<DoneResult, 'data'> & {
      readonly data?: Tool extends (...input: never) => Promise<infer Data> ? Data : never;
    });

/** Former names of members of `crib.server`. */
export interface DeprecatedCribNames {
  /** @deprecated Use `crib.server.activeSets`. */
  readonly activeSets: CribServer['activeSets'];
  /** @deprecated Use `crib.server.checkStored`. */
  readonly checkStored: CribServer['checkStored'];
  /** @deprecated Use `crib.server.endCalls`. */
  readonly endCalls: CribServer['endCalls'];
  /** @deprecated Use `crib.server.idle`. */
  readonly idle: CribServer['idle'];
  /** @deprecated Use `crib.server.isStarting`. */
  readonly isStarting: CribServer['isStarting'];
  /** @deprecated Use `crib.server.keptResult`. */
  readonly keptResult: CribServer['keptResult'];
  /** @deprecated Use `crib.server.listed`. */
  readonly listed: CribServer['listed'];
  /** @deprecated Use `crib.server.noteListening`. */
  readonly noteListening: CribServer['noteListening'];
  /** @deprecated Use `crib.server.onListings`. */
  readonly onListings: CribServer['onListings'];
  /** @deprecated Use `crib.server.openAtDoor`. */
  readonly openAtDoor: CribServer['openAtDoor'];
  /** @deprecated Use `crib.server.operatorToken`. */
  readonly operatorToken: CribServer['operatorToken'];
  /** @deprecated Use `crib.server.operatorTokenFile`. */
  readonly operatorTokenFile: CribServer['operatorTokenFile'];
  /** @deprecated Use `crib.server.parked`. */
  readonly parked: CribServer['parked'];
  /** @deprecated Use `crib.server.reloadSource`. */
  readonly reloadSource: CribServer['reloadSource'];
  /** @deprecated Use `crib.server.reloadStored`. */
  readonly reloadStored: CribServer['reloadStored'];
  /** @deprecated Use `crib.server.requestStates`. */
  readonly requestStates: CribServer['requestStates'];
  /** @deprecated Use `crib.server.runParked`. */
  readonly runParked: CribServer['runParked'];
  /** @deprecated Use `crib.server.serverSettings`. */
  readonly serverSettings: CribServer['serverSettings'];
  /** @deprecated Use `crib.server.stateWarnings`. */
  readonly stateWarnings: CribServer['stateWarnings'];
  /** @deprecated Use `crib.server.warn`. */
  readonly warn: CribServer['warn'];
}

/** Names of an earlier design. They work, and warn once. */
export interface DeprecatedNames {
  /** @deprecated Use `activate`. */
  activateTool(names: Names): Promise<Outcome>;
  /** @deprecated Use `activate`. */
  activateToolset(names: Names): Promise<Outcome>;
  /** @deprecated Use `deactivate`. */
  deactivateToolset(names: Names): Promise<Outcome>;
  /** @deprecated Use `setActive`. */
  setActiveToolsets(names: Names): Promise<Outcome>;
  /** @deprecated Use `addEssential`. */
  addEssentialToolset(names: Names): Promise<Outcome>;
  /** Sets up the active bundles. Every later setup receives the options.
   * @deprecated Bundles are set up by the first call or by `activate`; options are an option of `createCrib`. */
  initTools(options?: Readonly<Record<string, unknown>>): Promise<Outcome>;
  /** @deprecated Use `active`. */
  readonly activeTools: Readonly<Record<string, BundleInfo>>;
  /** @deprecated Use `active`. */
  readonly activeToolsets: Readonly<Record<string, BundleInfo>>;
  /** @deprecated Use `available`. */
  readonly toolClasses: readonly string[];
}

/** The key of the method by which tasks enter. */
export const ENTER: unique symbol = Symbol('toolcrib.enter');

/** A chest as tasks use it. */
export interface EnterableChest extends Chest {
  [ENTER](entering: Omit<Entering, 'parent'>): Promise<ToolResult>;
}

/** The key of the parts that the deprecated names use. */
export const FOR_OLD_NAMES: unique symbol = Symbol('toolcrib.forOldNames');
export interface OldParts {
  activeBundles(): readonly BundleInfo[];
  readonly setups: Pick<Setups, 'addOptions'>;
}
type OldChest = Chest & { [FOR_OLD_NAMES](): OldParts };

function renamed<Result, Given = Names>(
  oldName: string,
  newName: string,
  use: (chest: OldChest, given: Given | undefined) => Result,
) {
  const message = `chest.${oldName} is deprecated; use chest.${newName}`;
  // Node warns once per code, however many chests there are.
  return deprecate(
    function (this: OldChest, given?: Given): Result {
      return use(this, given);
    },
    message,
    `TOOLCRIB_${oldName}`,
  );
}

const recordOf = (chest: OldChest) =>
  Object.fromEntries(
    chest[FOR_OLD_NAMES]()
      .activeBundles()
      .map((info) => [info.name, info]),
  );
const activeTools = renamed('activeTools', 'active()', recordOf);
const activeToolsets = renamed('activeToolsets', 'active()', recordOf);
const toolClasses = renamed('toolClasses', 'available()', (chest) => chest.available());

function initTools(chest: OldChest, options: Readonly<Record<string, unknown>> | undefined): Promise<Outcome> {
  if (options !== undefined) chest[FOR_OLD_NAMES]().setups.addOptions(options);
  return chest.activate(chest.active());
}

/** The deprecated members on the prototype of every chest. */
export const deprecatedNames: DeprecatedNames & ThisType<OldChest> = {
  activateTool: renamed('activateTool', 'activate()', (chest, names = []) => chest.activate(names)),
  activateToolset: renamed('activateToolset', 'activate()', (chest, names = []) => chest.activate(names)),
  deactivateToolset: renamed('deactivateToolset', 'deactivate()', (chest, names = []) => chest.deactivate(names)),
  setActiveToolsets: renamed('setActiveToolsets', 'setActive()', (chest, names = []) => chest.setActive(names)),
  addEssentialToolset: renamed('addEssentialToolset', 'addEssential()', (chest, names = []) =>
    chest.addEssential(names),
  ),
  initTools: renamed('initTools', 'activate()', initTools),
  get activeTools() {
    return activeTools.call(this);
  },
  get activeToolsets() {
    return activeToolsets.call(this);
  },
  get toolClasses() {
    return toolClasses.call(this);
  },
};
