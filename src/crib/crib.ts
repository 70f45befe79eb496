import type { CribApprovals } from '../approvals/approvals.ts';
import type { CribAudit } from '../audit/crib-audit.ts';
import type { CribCalls } from '../audit/recorded-calls.ts';
import type { Caller, Identity } from '../core/caller.ts';
import type { Catalog, Changes } from '../core/catalog.ts';
import type { ExecutorReview } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import type { Store } from '../core/ports/store.ts';
import type { Criteria } from '../core/selector.ts';
import type { Outcome } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { ExtensionInput } from '../define/define-extension.ts';
import type { AnyTool } from '../define/read-tool.ts';
import type { CribKeys } from '../identity/api-keys.ts';
import type { CribStops } from '../stops/change-stops.ts';
import type { CribTasks } from '../tasks/crib-tasks.ts';
import type { CribSchedules } from '../tasks/schedules.ts';
import type { Names } from './catalog/activation.ts';
import type { CribBundles } from './catalog/bundle-registry.ts';
import type { Explanation } from './catalog/explain.ts';
import type { Section } from './catalog/list-view.ts';
import type { Chest, DeprecatedCribNames, TypedChest } from './chest.ts';
import type { CribServer } from './crib-server.ts';
import type { Readiness } from './readiness.ts';
import type { SourceReport } from './sources/source-slot.ts';

/** The tool layer of one process: sources, catalog, bundles, profiles, executors, extensions. It opens chests. */
export interface Crib extends DeprecatedCribNames {
  /** The current catalog. */
  readonly catalog: Catalog;
  readonly bundles: CribBundles;
  readonly extensions: {
    /** From outermost to innermost. */
    list(): readonly Extension[];
    /** Adds an extension, also one with hooks or a class instance. Throws if it would never take part in a call. */
    add(extension: ExtensionInput): void;
    /** Removes an extension. An unknown name is ignored. */
    remove(name: string): void;
  };
  get(name: string): ToolSpec | undefined;
  /** Tools that match all criteria; `{}` matches all tools. */
  match(criteria: Criteria): readonly ToolSpec[];
  /** Registers tools in any form that `createCrib({ tools })` accepts. Either all are registered, or none. */
  register(tools: AnyTool | readonly AnyTool[]): Outcome;
  /** Removes tools that were registered or passed in code. */
  unregister(names: Names): Outcome;
  /** Authenticates an API key, the operator token or a JWT, with or without `Bearer`. Without `access`, a caller without a credential is `local`. Never rejects. */
  identify(credential?: string | null): Promise<Identity>;
  /** API keys. `identify` accepts them if `access.keys` is on. */
  readonly keys: CribKeys;
  /** Opens the chest of a profile, or of the default profile. Rejects with code `unknown_profile`, or `denied` if the caller may not use it. */
  open<Tools extends object = never>(
    profile?: string,
    caller?: Caller,
  ): Promise<[Tools] extends [never] ? Chest : TypedChest<Tools>>;
  /** With a type that `toolcrib types` wrote, `open<Tools>()`, the compiler checks names, arguments and data of calls. */
  open(profile?: string, caller?: Caller): Promise<Chest>; // the last signature is the one of ReturnType
  /** Opens the operator's chest with all tools, regardless of profiles and access clauses. */
  openAll(caller?: Caller): Promise<Chest>;
  explain(caller: Caller, profile: string | undefined, tool: string): Explanation;
  /** The instructions of all bundles and tools. */
  instructions(): string;
  sections(): readonly Section[];
  /** Reads the configuration and every source again, swaps the catalog, and reports the changes. */
  reload(): Promise<Changes>;
  onChange(listener: (changes: Changes) => void): () => void;
  profiles(): readonly string[];
  sources(): readonly SourceReport[];
  /** The last stderr output of the program of a source, without secrets; undefined if the source has no program. */
  sourceOutput(name: string): string | undefined;
  /** Warnings about settings that are valid but probably mistakes. */
  warnings(): readonly string[];
  /** Lets the executors check the tools on this machine. Reports tools that cannot run or run differently than configured, and replaced guards. */
  review(): Promise<ExecutorReview>;
  /** Checks whether the store is writable, the audit log is being written, and no source is starting. Resolves within 2 s, never rejects. */
  readiness(): Promise<Readiness>;
  /** Metrics as Prometheus text. Rejects with code `not_counted` if `metrics` is off. */
  metrics(): Promise<string>;
  /** Background calls. Empty without a store. */
  readonly tasks: CribTasks;
  /** Calls at certain times: those of the configuration, and those that operators added. */
  readonly schedules: CribSchedules;
  /** Approval requests and their answers. */
  readonly approvals: CribApprovals;
  /** Emergency stops of the operator. */
  readonly stops: CribStops;
  /** The database; only a crib with a configuration has one. */
  readonly store: Store | undefined;
  /** The tamper-evident audit log. */
  readonly audit: CribAudit;
  /** Past calls. */
  readonly calls: CribCalls;
  /** The interface for doors: servers, the command line, a custom gateway. */
  readonly server: CribServer;
  /** Waits for running calls, then closes bundles, sources, extensions and executors. */
  close(): Promise<void>;
}
