import type { ApprovalOptions, ApprovalPorts } from '../approval-request.ts';
import type { Recheck } from '../caller.ts';
import type { Clock, CribContext, Schemas } from './crib-context.ts';
import type { AuditTrail } from './stored-audit.ts';

/** What built-in extensions get of their crib. */
export interface ExtensionPorts extends CribContext {
  readonly clock: Clock;
  /** Where calls are put on record; only a crib with a store has one. */
  readonly audit: AuditTrail | undefined;
  /** True if calls are put on record: there is a trail, and the extension that writes to it is on. */
  isAudited(): boolean;
  /** True for a public key as the audit writes it down. */
  isPublicKey(text: string): boolean;
  /** Who is asked before a tool runs. Throws for a webhook that cannot be used. */
  approver(
    options: ApprovalOptions & { readonly webhook?: unknown; readonly clock?: Clock },
    ports: ExtensionPorts,
  ): ApprovalPorts;
  /** Looks for calls whose process is gone, and says whether it found some. */
  findLost(): Promise<boolean>;
  readonly recheck: Recheck;
  /** The names of the bundles a tool is in. */
  bundlesOf(tool: string): readonly string[];
  /** What must be known of the kinds of tools. */
  readonly traitsOf: TraitsOf;
  readonly schemas: Schemas;
  warn(message: string): void;
}

/** What other rooms must know of the tools of a kind. A kind that says nothing fails with its source and reaches out of this process. */
export interface KindTraits {
  /** Fields of a run that are paths, `sandbox.read` for one inside another; relative ones start from the folder of the file that names them. */
  readonly pathFields?: readonly string[];
  /** The module of a run is found from the folder of its file: always, or where it is a name and not a path. */
  readonly findsModules?: 'always' | 'byName';
  /** True if it runs code of the owner; the others reach out to something else. */
  readonly runsOwnCode?: boolean;
  /** What is down where calls fail: its source with all tools, if absent, the tool alone, or nothing that could be. */
  readonly failsWith?: 'source' | 'tool' | 'nothing';
  /** How services reach its tools: as they are, if absent, or as JSON, so that another one does not reach them. */
  readonly takesServices?: 'json';
  /** What a trace says of each of its calls. */
  readonly spanAttributes?: Readonly<Record<string, string>>;
}

/** The traits of a kind; those of a kind that says nothing where nobody describes it. */
export type TraitsOf = (kind: string) => KindTraits;

/** What a text with `${` in how a tool runs becomes, or what is wrong with it. `${secret:NAME}` stays for the moment of use, and `$${` for a plain `${`. */
export type ReadRunText = (text: string) => { readonly text: string } | { readonly mistakes: readonly string[] };
