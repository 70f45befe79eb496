import type { Caller } from '../core/caller.ts';
import type { Catalog, Changes } from '../core/catalog.ts';
import type { Extension } from '../core/extension.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Criteria } from '../core/selector.ts';
import type { Store } from '../core/store.ts';
import type { ToolError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { ToolInput } from '../runtime/define-tool.ts';
import type { Names } from './activation.ts';
import type { CribBundles } from './bundle-book.ts';
import type { Chest } from './chest.ts';
import type { Explanation } from './explain.ts';
import type { SourceReport } from './live-sources.ts';
import type { Section } from './sections.ts';

/** What a credential turned out to be. */
export type Identity =
  | { readonly ok: true; readonly caller: Caller; readonly profiles: readonly string[]; readonly operator: boolean }
  | { readonly ok: false; readonly error: ToolError };

/** Everything: sources, catalog, bundles, profiles, executors, extensions. Opens chests. */
export interface Crib {
  /** The catalog of this moment. */
  readonly catalog: Catalog;
  readonly bundles: CribBundles;
  readonly extensions: {
    /** From the outermost to the innermost. */
    list(): readonly Extension[];
    add(extension: Extension): void;
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
  /** The one place where a key, token or JWT becomes a caller. */
  identify(credential: string): Promise<Identity>;
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
  /** What is allowed but hardly meant, in sentences. */
  warnings(): readonly string[];
  /** What outlives the process; only a crib with a configuration has one. */
  readonly store: Store | undefined;
  /** Waits for calls in flight, then closes bundles, sources, extensions and executors. */
  close(): Promise<void>;
}
