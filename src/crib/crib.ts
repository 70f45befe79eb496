import type { CribApprovals } from '../approvals/approvals.ts';
import type { ParkedState } from '../approvals/parked-state.ts';
import type { CribAudit } from '../audit/audit.ts';
import type { CribCalls } from '../audit/calls.ts';
import type { ServerConfig } from '../config/types/config.ts';
import type { Caller } from '../core/caller.ts';
import type { Catalog, Changes } from '../core/catalog.ts';
import type { ExecutorReview } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Identity } from '../core/ports/identity.ts';
import type { Store } from '../core/ports/store.ts';
import type { Criteria } from '../core/selector.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { ExtensionInput } from '../define/define-extension.ts';
import type { ToolInput } from '../define/define-tool.ts';
import type { CribKeys } from '../identity/keys.ts';
import type { Listening } from '../system/fetch/own-addresses.ts';
import type { Names } from './catalog/activation.ts';
import type { CribActiveSets } from './catalog/active-sets.ts';
import type { CribBundles } from './catalog/bundle-registry.ts';
import type { Explanation } from './catalog/explain.ts';
import type { Section } from './catalog/sections.ts';
import type { Chest } from './chest.ts';
import type { ShownResult } from './serving/kept-results.ts';
import type { Readiness } from './serving/readiness.ts';
import type { CribRequestStates } from './serving/request-states.ts';
import type { EntryMistake } from './sources/check-stored.ts';
import type { SourceReport } from './sources/source-slot.ts';

/** Everything: sources, catalog, bundles, profiles, executors, extensions. Opens chests. */
export interface Crib {
  /** The catalog of this moment. */
  readonly catalog: Catalog;
  readonly bundles: CribBundles;
  readonly extensions: {
    /** From the outermost to the innermost. */
    list(): readonly Extension[];
    /** Takes one with hooks, too, and instances of classes. Throws for one that would never take part in a call. */
    add(extension: ExtensionInput): void;
    /** Removing what is not there changes nothing. */
    remove(name: string): void;
  };
  get(name: string): ToolSpec | undefined;
  /** Tools that meet all criteria; `{}` is all of them. */
  match(criteria: Criteria): readonly ToolSpec[];
  /** Takes one tool or several, all or none. */
  register(tools: ToolInput | readonly ToolInput[]): Outcome;
  /** Takes tools away that were registered or given in code. */
  unregister(names: Names): Outcome;
  /** The one place where a key, token or JWT becomes a caller, with or without `Bearer`; without `access` who has none is `local`. Never rejects. */
  identify(credential?: string | null): Promise<Identity>;
  /** API keys, which `identify` takes where `access.keys` is on. */
  readonly keys: CribKeys;
  /** Whoever has it is the operator, so it is for the door that shows it to the owner of this machine. Made if there is none. */
  operatorToken(): Promise<string>;
  /** The file that holds the operator token; undefined where a variable holds it, or no file can be written. */
  operatorTokenFile(): string | undefined;
  /** What the operator should know about where the operator token and the audit key are kept. Makes their folder. */
  stateWarnings(): readonly string[];
  /** Without a profile: the default one. Rejects with code `unknown_profile`, or `denied` if the caller may not use it. */
  open(profile?: string, caller?: Caller): Promise<Chest>;
  /** The operator's chest: all tools, whatever profiles and access clauses hide. */
  openAll(caller?: Caller): Promise<Chest>;
  /** The same as `open`, with the bundles active that an operator chose for the profile: for listings of doors. */
  openAtDoor(profile?: string, caller?: Caller): Promise<Chest>;
  /** Which bundles are active at doors. */
  readonly activeSets: CribActiveSets;
  explain(caller: Caller, profile: string | undefined, tool: string): Explanation;
  /** The prompt texts of all bundles and tools. */
  instructions(): string;
  sections(): readonly Section[];
  /** What keeps entries from being tools, were they put into the store: each that is wrong, with its place. */
  checkStored(entries: readonly unknown[]): Promise<readonly EntryMistake[]>;
  /** Reads every source again: build new, swap, report. */
  reload(): Promise<Changes>;
  /** Reads one source again. Undefined if there is none of this name. */
  reloadSource(name: string): Promise<Changes | undefined>;
  /** Reads the sources again that list what is kept in the store. */
  reloadStored(): Promise<Changes>;
  onChange(listener: (changes: Changes) => void): () => void;
  /** Tells that what doors list may be another by now: tools, profiles, bundles, or what is active. */
  onListings(listener: () => void): () => void;
  profiles(): readonly string[];
  sources(): readonly SourceReport[];
  /** The end of what the program of a source said on stderr, without secrets; undefined where there is no such program. */
  sourceOutput(name: string): string | undefined;
  /** What is allowed but hardly meant, in sentences. */
  warnings(): readonly string[];
  /** What the executors find out about the tools on this machine, in sentences: what cannot run, and what runs otherwise than it seems. Notes name guards that are replaced, too. */
  review(): Promise<ExecutorReview>;
  /** Says something to whoever watches the process, without the values of secrets. */
  warn(message: string): void;
  /** Whether calls can be made: the store takes what is written, the audit is written, and no source is starting. Answers within 2 s, and never rejects. */
  readiness(): Promise<Readiness>;
  /** What was counted, as text for Prometheus. Rejects with code `not_counted` where `metrics` is off. */
  metrics(): Promise<string>;
  /** Requests for approval and their answers. */
  readonly approvals: CribApprovals;
  /** What a door's clients carry from one request of a call to the next. */
  readonly requestStates: CribRequestStates;
  /** What outlives the process; only a crib with a configuration has one. */
  readonly store: Store | undefined;
  /** The record of every call, and whether it was changed. */
  readonly audit: CribAudit;
  /** Calls that were made. */
  readonly calls: CribCalls;
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
  /** True while a source learns its first list, shortly after the start: then a name that is not there may still come. */
  isStarting(): boolean;
  /** Resolves when every source has its first list or has failed, or after `limitMs`. */
  listed(limitMs: number): Promise<void>;
  /** Resolves when no call is under way, or after `limitMs`. */
  idle(limitMs: number): Promise<void>;
  /** Ends all calls that are under way: they answer `cancelled`, or `unknown_outcome` where the tool may have done its work. Later calls are made. */
  endCalls(): void;
  /** Waits for calls in flight, then closes bundles, sources, extensions and executors. */
  close(): Promise<void>;
}
