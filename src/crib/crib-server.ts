import { LIBRARY_DOOR, SERVER_DOORS } from '../approvals/ask-callback.ts';
import { runParkedCalls } from '../approvals/parked-calls.ts';
import { type ParkedState, parkedStateOf } from '../approvals/parked-results.ts';
import type { Subscription } from '../approvals/poller.ts';
import type { OpenAuditTrail } from '../audit/create-audit-trail.ts';
import type { CallRow } from '../audit/recorded-calls.ts';
import type { ServerConfig } from '../config/types/config.ts';
import { type Caller, readCaller } from '../core/caller.ts';
import { type Changes, compareCatalogs } from '../core/catalog.ts';
import { isPromise, type JsonSchema } from '../core/json.ts';
import type { CribContext } from '../core/ports/crib-context.ts';
import type { Store } from '../core/ports/store.ts';
import { defined, describe } from '../core/read-options.ts';
import type { Source } from '../core/source.ts';
import { type Issue, ToolcribError } from '../core/tool-error.ts';
import { createSchemas } from '../schemas/create-schemas.ts';
import { type Listening, noteListening } from '../system/fetch/own-addresses.ts';
import { type CribActiveSets, createActiveSets } from './catalog/activation.ts';
import type { Chest } from './chest.ts';
import type { Crib } from './crib.ts';
import type { Engine } from './engine.ts';
import { openAgain } from './open.ts';
import { readKeptResult, type ShownResult } from './read-result.ts';
import { type CribRequestStates, createRequestStates } from './request-states.ts';
import { noteServer } from './running-server.ts';
import type { EntryMistake } from './sources/check-stored.ts';
import type { TakeLines } from './sources/source-output.ts';
import type { SourceReport } from './sources/source-slot.ts';

/** What doors need of a crib besides what every program uses. */
export interface CribServer {
  /** The same as `crib.open`, with the bundles active that an operator chose for the profile: for listings of doors. */
  openAtDoor(profile?: string, caller?: Caller): Promise<Chest>;
  /** Which bundles are active at doors. */
  readonly activeSets: CribActiveSets;
  /** The operator token: its holder is the operator, so it is for the door that shows it to the owner of this machine. Made if there is none. */
  operatorToken(): Promise<string>;
  /** The file that holds the operator token; undefined where a variable holds it, or no file can be written. */
  operatorTokenFile(): string | undefined;
  /** What the operator should know about where the operator token and the audit key are kept. Makes their folder. */
  stateWarnings(): readonly string[];
  /** Entries of sources that cannot be read, a sentence without secrets for each mistake. */
  mistakes(): readonly string[];
  /** How entries that were pasted from other programs were read, in sentences without secrets. */
  readings(): readonly string[];
  /** What keeps entries from being tools, were they put into the store: each that is wrong, with its place. */
  checkStored(entries: readonly unknown[]): Promise<readonly EntryMistake[]>;
  /** Reads one source again. Undefined if there is none of this name. */
  reloadSource(name: string): Promise<Changes | undefined>;
  /** Tells of the lines that the program of a source has printed so far and then of each as it comes, without secrets; returns how to stop. */
  followOutput(source: string, onLines: TakeLines): () => void;
  /** Reads the sources again that list what is kept in the store. */
  reloadStored(): Promise<Changes>;
  /** Tells that what doors list may be another by now: tools, profiles, bundles, or what is active. */
  onListings(listener: () => void): () => void;
  /** Does this whenever the crib looks at the store for approvals: from time to time, and when one was answered here. */
  poll(work: () => Promise<void>): Subscription;
  /** Says something to whoever watches the process, without the values of secrets. */
  warn(message: string): void;
  /** What a door's clients carry from one request of a call to the next. */
  readonly requestStates: CribRequestStates;
  /** The row of a call in the audit; its result stays for its caller. */
  callRow(callId: string): Promise<CallRow | undefined>;
  /** What became of a call that was parked at a door, for who made it or an operator. */
  parked(callId: string, by: Caller): Promise<ParkedState | undefined>;
  /** Runs calls that were parked at the doors `rest` and `mcp` when they are approved, each once. Returns how to stop; calls under way go on. */
  runParked(): () => void;
  /** A result that was too large to hand over, for its owner or an operator. */
  keptResult(id: string, by: Caller): Promise<ShownResult | undefined>;
  /** Where the configuration wants it to listen. */
  serverSettings(): ServerConfig;
  /** Notes that a server of this process listens there, so that no tool can reach it; returns how to take that back. */
  noteListening(place: Listening): () => void;
  /** True while a source learns its first list: then a name that is not there may still come. */
  isStarting(): boolean;
  /** Resolves when every source has its first list or has failed, or after `limitMs`; at once where the crib has started long ago. */
  listed(limitMs: number): Promise<void>;
  /** Resolves when every source has its first list or has failed. */
  allListed(): Promise<void>;
  /** Resolves when no program of a source is being installed any more: closing the crib before leaves it half installed. */
  installed(): Promise<void>;
  /** Resolves when no call is under way, or after `limitMs`. */
  idle(limitMs: number): Promise<void>;
  /** Ends all calls that are under way: they answer `cancelled`, or `unknown_outcome` where the tool may have done its work. Later calls are made. */
  endCalls(): void;
}

/** Parts that are made for the crib itself. */
type Made = Pick<Crib, 'open' | 'openAll'> &
  Pick<CribServer, 'openAtDoor' | 'operatorToken' | 'operatorTokenFile' | 'stateWarnings' | 'callRow'>;

const OPERATOR = { id: 'operator', operator: true };

export function createServer(engine: Engine, context: CribContext, { open, openAll, ...made }: Made): CribServer {
  const { store, redact } = context;
  const { profiles, generation, warn } = engine;
  const activeSets = createActiveSets(store, (profile) => open(profile, OPERATOR));
  const refresh = async (isMeant: (source: Source) => boolean): Promise<Changes> => {
    const before = generation().catalog;
    await engine.refresh(isMeant);
    return compareCatalogs(before, generation().catalog);
  };
  const runParked = (doors: readonly string[]): (() => void) => {
    if (store === undefined) return () => {}; // nothing can be parked either
    return runParkedCalls({
      approvals: store.approvals,
      doors,
      openAgain: (call) => openAgain({ open, openAll }, profiles(), call),
      mayBeListedLater: () => engine.sources().some(({ state }) => state !== 'ready'),
      isShared: async () => (await store.status()).engine === 'postgres',
      poller: engine.poller,
      warn,
    });
  };
  runLibraryCalls(engine, context, () => runParked([LIBRARY_DOOR]));
  return {
    ...made,
    activeSets,
    ...defined(engine, ['checkStored', 'followOutput', 'mistakes', 'readings']),
    ...defined(engine, ['idle', 'endCalls', 'listed', 'allListed', 'installed']),
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
    async parked(callId, given) {
      if (typeof callId !== 'string')
        throw new ToolcribError('invalid_option', `parked takes the id of a call, got ${describe(callId)}.`);
      const by = readCaller(given);
      return store === undefined ? undefined : parkedStateOf(callId, by, { approvals: store.approvals, redact });
    },
    reloadSource: async (name) =>
      engine.sources().some((source) => source.name === name) ? refresh((source) => source.name === name) : undefined,
    reloadStored: () => refresh((source) => source.readStored !== undefined),
    runParked: () => runParked(SERVER_DOORS),
    serverSettings: () => engine.server() ?? {},
    warn,
  };
}

/** Runs parked calls of a library from the first one on; and from the start, where code names a store in which some may lie. */
function runLibraryCalls({ onParked }: Engine, { isStored, isNamedInCode }: CribContext, run: () => void): void {
  const stop = onParked(() => begin());
  const begin = (): void => {
    stop();
    run();
  };
  if (isNamedInCode === true && isStored()) begin();
}

/** Whether a crib can work; `reason` is a sentence for everybody. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

/** What readiness is judged by. */
interface ReadinessOptions {
  readonly store: Store | undefined;
  readonly trail: Pick<OpenAuditTrail, 'backlog'> | undefined;
  sources(): readonly SourceReport[];
}

/** A probe has its answer within 2 s, whatever the store does. */
const ANSWER_MS = 1500;
const SILENT = 'The store does not answer.';
/** However many probes come, the store is written to once in this time. */
const KEEP_MS = 1000;
/** Rows are written ten times in a second; those that wait for so long cannot be. */
const OLDEST_ROW_MS = 10_000;

/** Tells whether a crib can work: its store takes what is written, the audit is written, and no source is starting. */
export function createReadiness({ store, trail, sources }: ReadinessOptions): () => Promise<Readiness> {
  let last: Promise<boolean> | undefined;
  let endedAt: number | undefined;
  const isWritten = (to: Store): Promise<boolean> => {
    if (last !== undefined && (endedAt === undefined || performance.now() - endedAt < KEEP_MS)) return last;
    endedAt = undefined;
    last = to
      .requireWritable()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        endedAt = performance.now();
      });
    return last;
  };
  // Where the store is and what is wrong with it is for its owner, who finds it in the log.
  const storeTrouble = async (of: Store): Promise<string | undefined> => {
    const { reachable } = await of.status();
    if (!reachable) return SILENT;
    return (await isWritten(of)) ? undefined : 'The store cannot be written.';
  };
  const auditTrouble = (): string | undefined => {
    const { oldestMs, lost } = trail?.backlog() ?? { oldestMs: 0, lost: 0 };
    if (lost > 0) return 'Rows of the audit are being lost because they cannot be written.';
    if (oldestMs < OLDEST_ROW_MS) return undefined;
    return `Rows of the audit have been waiting for ${Math.round(oldestMs / 1000)} s to be written.`;
  };
  const sourceTrouble = (): string | undefined =>
    sources().some(({ state }) => state === 'starting')
      ? 'Some sources are still being asked for their tools.'
      : undefined;
  return async () => {
    const ofStore = store === undefined ? undefined : await within(ANSWER_MS, storeTrouble(store), SILENT);
    const reason = ofStore ?? auditTrouble() ?? sourceTrouble();
    return reason === undefined ? { ready: true } : { ready: false, reason };
  };
}

async function within<T>(limitMs: number, work: Promise<T>, otherwise: T): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timer = setTimeout(() => late.resolve(otherwise), limitMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks values that come through a door by JSON Schemas, in the same words as arguments of tools. */
export function createShapeCheck(): (schema: JsonSchema, value: unknown) => readonly Issue[] {
  const schemas = createSchemas();
  return (schema, value) => {
    const parsed = schemas.parser(schema)(value);
    if (isPromise(parsed)) return [{ path: '', message: 'cannot be checked at once' }]; // a JSON Schema is
    return parsed.ok ? [] : parsed.issues;
  };
}
