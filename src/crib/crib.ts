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
import type { Names } from './catalog/activation.ts';
import type { CribBundles } from './catalog/bundle-registry.ts';
import type { Explanation } from './catalog/explain.ts';
import type { Section } from './catalog/list-view.ts';
import type { Chest, DeprecatedCribNames } from './chest.ts';
import type { CribServer, Readiness } from './crib-server.ts';
import type { SourceReport } from './sources/source-slot.ts';

/** Everything: sources, catalog, bundles, profiles, executors, extensions. Opens chests. */
export interface Crib extends DeprecatedCribNames {
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
  /** Takes one tool or several, all or none: any that `createCrib({ tools })` takes. */
  register(tools: AnyTool | readonly AnyTool[]): Outcome;
  /** Takes tools away that were registered or given in code. */
  unregister(names: Names): Outcome;
  /** The one place where a key, token or JWT becomes a caller, with or without `Bearer`; without `access` who has none is `local`. Never rejects. */
  identify(credential?: string | null): Promise<Identity>;
  /** API keys, which `identify` takes where `access.keys` is on. */
  readonly keys: CribKeys;
  /** Without a profile: the default one. Rejects with code `unknown_profile`, or `denied` if the caller may not use it. */
  open(profile?: string, caller?: Caller): Promise<Chest>;
  /** The operator's chest: all tools, whatever profiles and access clauses hide. */
  openAll(caller?: Caller): Promise<Chest>;
  explain(caller: Caller, profile: string | undefined, tool: string): Explanation;
  /** The prompt texts of all bundles and tools. */
  instructions(): string;
  sections(): readonly Section[];
  /** Reads every source again: build new, swap, report. */
  reload(): Promise<Changes>;
  onChange(listener: (changes: Changes) => void): () => void;
  profiles(): readonly string[];
  sources(): readonly SourceReport[];
  /** The end of what the program of a source said on stderr, without secrets; undefined where there is no such program. */
  sourceOutput(name: string): string | undefined;
  /** What is allowed but hardly meant, in sentences. */
  warnings(): readonly string[];
  /** What the executors find out about the tools on this machine, in sentences: what cannot run, and what runs otherwise than it seems. Notes name guards that are replaced, too. */
  review(): Promise<ExecutorReview>;
  /** Whether calls can be made: the store takes what is written, the audit is written, and no source is starting. Answers within 2 s, and never rejects. */
  readiness(): Promise<Readiness>;
  /** What was counted, as text for Prometheus. Rejects with code `not_counted` where `metrics` is off. */
  metrics(): Promise<string>;
  /** Requests for approval and their answers. */
  readonly approvals: CribApprovals;
  /** What outlives the process; only a crib with a configuration has one. */
  readonly store: Store | undefined;
  /** The record of every call, and whether it was changed. */
  readonly audit: CribAudit;
  /** Calls that were made. */
  readonly calls: CribCalls;
  /** What doors use: servers, the command line, a gateway of your own. */
  readonly server: CribServer;
  /** Waits for calls in flight, then closes bundles, sources, extensions and executors. */
  close(): Promise<void>;
}
