import { createApprovals } from '../approvals/approvals.ts';
import { LIBRARY_DOOR, SERVER_DOORS } from '../approvals/ask-callback.ts';
import { runParkedCalls } from '../approvals/parked-calls.ts';
import { type ParkedState, parkedStateOf } from '../approvals/parked-results.ts';
import type { Subscription } from '../approvals/poller.ts';
import type { CallRow } from '../audit/recorded-calls.ts';
import type { AccessConfig, ServerConfig } from '../config/types/config.ts';
import { type Caller, readCaller } from '../core/caller.ts';
import { type Changes, compareCatalogs } from '../core/catalog.ts';
import { isPromise, type JsonSchema } from '../core/json.ts';
import type { CribContext } from '../core/ports/crib-context.ts';
import type { TraitsOf } from '../core/ports/extension-ports.ts';
import { defined, describe } from '../core/read-options.ts';
import type { Source } from '../core/source.ts';
import { type Issue, ToolcribError } from '../core/tool-error.ts';
import type { IssuerSignIn } from '../identity/sign-in.ts';
import { traitsOf } from '../kinds/index.ts';
import { createSchemas } from '../schemas/create-schemas.ts';
import { type Listening, noteListening } from '../system/fetch/own-addresses.ts';
import { scriptStateOf } from '../tasks/crib-tasks.ts';
import type { RunTasksOptions, TaskRunner } from '../tasks/task-runner.ts';
import type { TaskSettings } from '../tasks/task-settings.ts';
import { type CribActiveSets, createActiveSets } from './catalog/activation.ts';
import type { Chest } from './chest.ts';
import type { Configuration } from './configured/configuration.ts';
import { type ConsoleParts, createConsoleParts } from './console/console-parts.ts';
import type { Crib } from './crib.ts';
import type { Engine } from './engine.ts';
import { type CribExamples, createExamples } from './enrich/enrich-tools.ts';
import { openAgain } from './open.ts';
import { readKeptResult, type ShownResult } from './own-tools/read-result.ts';
import { type CribRequestStates, createRequestStates } from './request-states.ts';
import { noteServer } from './running-server.ts';
import type { EntryMistake } from './sources/check-stored.ts';
import type { TakeLines } from './sources/source-output.ts';

/** The part of a crib for doors. Other programs do not need it. */
export interface CribServer extends ConsoleParts {
  /** Opens a chest like `crib.open`, with the active bundles that an operator chose for the profile. */
  openAtDoor(profile?: string, caller?: Caller): Promise<Chest>;
  /** The bundles that operators made active for doors. */
  readonly activeSets: CribActiveSets;
  /** Requests that a model writes for tools. */
  readonly examples: CribExamples;
  /** The operator token, created if there is none. Its holder is the operator, so show it only to the owner of this machine. */
  operatorToken(): Promise<string>;
  /** Sign-in of people at the issuer of `access.jwt`. */
  readonly signIn: IssuerSignIn;
  /** The file of the operator token; undefined if an environment variable holds it, or no file can be written. */
  operatorTokenFile(): string | undefined;
  /** Warnings about the folder of the operator token and the audit key. Creates the folder. */
  stateWarnings(): readonly string[];
  /** Mistakes in entries of sources, one sentence each, without secrets. */
  mistakes(): readonly string[];
  /** Explains how entries pasted from other programs were read, without secrets. */
  readings(): readonly string[];
  /** Checks entries before they are stored, and returns the mistake and index of each invalid one. */
  checkStored(entries: readonly unknown[]): Promise<readonly EntryMistake[]>;
  /** Reads one source again. Resolves to undefined if it does not exist. */
  reloadSource(name: string): Promise<Changes | undefined>;
  /** Passes on the output of the program of a source, past and future lines, without secrets. Returns a function that stops it. */
  followOutput(source: string, onLines: TakeLines): () => void;
  /** Reads the sources of stored specs again. */
  reloadStored(): Promise<Changes>;
  /** Calls `listener` when the listings of doors may have changed: tools, profiles, bundles or active bundles. */
  onListings(listener: () => void): () => void;
  /** Runs `work` whenever the crib polls the store for approvals: periodically, and after an answer in this process. */
  poll(work: () => Promise<void>): Subscription;
  /** Emits a process warning, with the values of secrets redacted. */
  warn(message: string): void;
  /** Sealed state that clients pass from one request of a call to the next. */
  readonly requestStates: CribRequestStates;
  /** The audit row of a call, without its result. */
  callRow(callId: string): Promise<CallRow | undefined>;
  /** The state of a call that was parked at a door, for its caller or an operator. */
  parked(callId: string, by: Caller): Promise<ParkedState | undefined>;
  /** Runs background calls, unless `tasks.runHere` is false, and calls parked at the doors `rest` and `mcp` once they are approved. Returns a function that stops it; running calls continue. */
  runParked(): () => void;
  /** Runs background calls until it is stopped. Throws without a store. */
  runTasks(options?: RunTasksOptions): TaskRunner;
  /** The settings of background calls. */
  taskSettings(): TaskSettings;
  /** A stored large result, for its owner or an operator. */
  keptResult(id: string, by: Caller): Promise<ShownResult | undefined>;
  /** The server settings of the configuration. */
  serverSettings(): ServerConfig;
  /** The access settings of the configuration; undefined if only this machine has access. */
  accessSettings(): AccessConfig | undefined;
  /** Records that a server of this process listens there, so that no tool can reach it. Returns a function that undoes it. */
  noteListening(place: Listening): () => void;
  /** Traits of the kinds of tools. */
  readonly traitsOf: TraitsOf;
  /** True while a source loads its first list, so an unknown name may still appear. */
  isStarting(): boolean;
  /** Resolves when every source has its first list or has failed, or after `limitMs`; immediately if the crib started long ago. */
  listed(limitMs: number): Promise<void>;
  /** Resolves when every source has its first list or has failed. */
  allListed(): Promise<void>;
  /** Resolves when no program of a source is being installed. Closing the crib earlier leaves it half installed. */
  installed(): Promise<void>;
  /** Resolves when no call is running, or after `limitMs`. */
  idle(limitMs: number): Promise<void>;
  /** Aborts all running calls: they fail with `cancelled`, or `unknown_outcome` if the tool may have done its work. Later calls run. */
  endCalls(): void;
}

/** Members that `createCrib` passes in. */
type Made = Pick<Crib, 'open' | 'openAll'> &
  Pick<
    CribServer,
    'openAtDoor' | 'operatorToken' | 'operatorTokenFile' | 'signIn' | 'stateWarnings' | 'callRow' | 'runTasks'
  > & {
    readonly configuration: Pick<Configuration, 'shown' | 'enriching'> | undefined;
  };

const OPERATOR = { id: 'operator', operator: true };

export function createServer(
  engine: Engine,
  context: CribContext,
  { open, openAll, configuration, ...made }: Made,
): CribServer {
  const { store } = context;
  const { generation, warn } = engine;
  const activeSets = createActiveSets(store, (profile) => open(profile, OPERATOR));
  const refresh = async (isMeant: (source: Source) => boolean): Promise<Changes> => {
    const before = generation().catalog;
    await engine.refresh(isMeant);
    return compareCatalogs(before, generation().catalog);
  };
  const runParked = (doors: readonly string[]) => runParkedAt(doors, engine, { store, open, openAll });
  runLibraryCalls(engine, context, () => runParked([LIBRARY_DOOR]));
  return {
    ...made,
    activeSets,
    examples: createExamples(engine, configuration?.enriching),
    ...defined(engine, ['checkStored', 'followOutput', 'mistakes', 'readings', 'taskSettings']),
    ...defined(engine, ['idle', 'endCalls', 'listed', 'allListed', 'installed']),
    ...createConsoleParts(engine, context, configuration),
    traitsOf,
    requestStates: createRequestStates(store),
    poll: engine.poller.subscribe,
    onListings(listener) {
      const stops = [engine.onNext(listener), activeSets.onChange(listener)];
      return () => {
        for (const stop of stops) stop();
      };
    },
    isStarting: engine.host.isStarting,
    keptResult: (id, by) => readKeptResult(store?.results, id, by),
    noteListening(place) {
      const stops = [noteListening(place), noteServer(context, place)];
      return () => {
        for (const stop of stops) stop();
      };
    },
    parked: (callId, by) => readParked(callId, by, context),
    reloadSource: async (name) =>
      engine.sources().some((source) => source.name === name) ? refresh((source) => source.name === name) : undefined,
    reloadStored: () => refresh((source) => source.readStored !== undefined),
    runParked() {
      const stopParked = runParked(SERVER_DOORS);
      const runner = store !== undefined && engine.taskSettings().runHere ? made.runTasks() : undefined;
      return () => {
        stopParked();
        void runner?.stop();
      };
    },
    serverSettings: () => engine.server() ?? {},
    accessSettings: engine.access,
    warn,
  };
}

/** The state of a parked call or of a script that waits. */
async function readParked(callId: string, given: Caller, context: CribContext): Promise<ParkedState | undefined> {
  if (typeof callId !== 'string')
    throw new ToolcribError('invalid_option', `parked() needs the id of a call, got ${describe(callId)}.`);
  const by = readCaller(given);
  const { store, redact } = context;
  if (store === undefined) return undefined;
  const script = await scriptStateOf(callId, by, store);
  if (script === undefined) return parkedStateOf(callId, by, { approvals: store.approvals, redact });
  const { approvalId, ...state } = script;
  const approval = approvalId === undefined ? undefined : await createApprovals(context).get(approvalId);
  return { ...state, ...defined({ approval }) };
}

/** Runs approved calls that were parked at these doors. */
function runParkedAt(
  doors: readonly string[],
  { sources, poller, profiles, stops, warn }: Engine,
  { store, ...chests }: Pick<Crib, 'open' | 'openAll'> & Pick<CribContext, 'store'>,
): () => void {
  if (store === undefined) return () => {}; // no call can be parked without a store
  return runParkedCalls({
    approvals: store.approvals,
    doors,
    openAgain: (call) => openAgain(chests, profiles(), call),
    mayBeListedLater: () => sources().some(({ state }) => state !== 'ready'),
    isShared: async () => (await store.status()).engine === 'postgres',
    poller,
    stops,
    warn,
  });
}

/** Runs parked calls of the library, starting with the first parked call, or at once if code names a store that may hold some. */
function runLibraryCalls({ onParked }: Engine, { isStored, isNamedInCode }: CribContext, run: () => void): void {
  const stop = onParked(() => begin());
  const begin = (): void => {
    stop();
    run();
  };
  if (isNamedInCode === true && isStored()) begin();
}

/** Creates a check of values from a door by JSON Schema, with the same messages as for tool arguments. */
export function createShapeCheck(): (schema: JsonSchema, value: unknown) => readonly Issue[] {
  const schemas = createSchemas();
  return (schema, value) => {
    const parsed = schemas.parser(schema)(value);
    if (isPromise(parsed)) return [{ path: '', message: 'cannot be checked synchronously' }]; // never for a JSON Schema
    return parsed.ok ? [] : parsed.issues;
  };
}
