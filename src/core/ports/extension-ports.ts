import type { ApprovalOptions, ApprovalPorts } from '../approval-request.ts';
import type { Recheck } from '../caller.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Clock, CribContext, Schemas } from './crib-context.ts';
import type { StopsInForce } from './stored-stops.ts';

/** The parts of a crib that built-in extensions use. */
export interface ExtensionPorts extends CribContext {
  readonly clock: Clock;
  /** The audit log; only a crib with a store has one. */
  readonly audit: AuditTrail | undefined;
  /** True if calls are recorded: there is an audit log, and its extension is on. */
  isAudited(): boolean;
  /** True for a public key in the format of the audit log. */
  isPublicKey(text: string): boolean;
  /** Creates the approver. Throws for an invalid webhook. */
  approver(
    options: ApprovalOptions & { readonly webhook?: unknown; readonly clock?: Clock },
    ports: ExtensionPorts,
  ): ApprovalPorts;
  /** Finds calls whose process is gone; true if it found some. */
  findLost(): Promise<boolean>;
  readonly recheck: Recheck;
  /** The emergency stops of the operator. */
  readonly stops: StopsInForce;
  /** The names of the bundles a tool is in. */
  bundlesOf(tool: string): readonly string[];
  /** Traits of the kinds of tools. */
  readonly traitsOf: TraitsOf;
  readonly schemas: Schemas;
  warn(message: string): void;
}

/** Traits of a kind that other parts need. Without traits, its tools fail together with their source and reach out of this process. */
export interface KindTraits {
  /** Fields of a run that are paths; `sandbox.read` names a nested one. Relative paths start from the folder of the file that contains them. */
  readonly pathFields?: readonly string[];
  /** Fields of a run that only specs of the operator may have: a file whose content a list of another machine could otherwise read. */
  readonly localFields?: readonly string[];
  /** Resolves the module of a run from the folder of its file: always, or only if it is a name and not a path. */
  readonly findsModules?: 'always' | 'byName';
  /** True if it runs code of the operator; other kinds reach out to something else. */
  readonly runsOwnCode?: boolean;
  /** The part that counts as down after failures: the source with all its tools (default), the tool alone, or nothing. */
  readonly failsWith?: 'source' | 'tool' | 'nothing';
  /** The form in which services reach its tools: as they are (default), or as JSON; other services are then left out. */
  readonly takesServices?: 'json';
  /** True if a tool records the calls that it makes, so that a task of this kind goes on where it was. */
  readonly keepsJournal?: boolean;
  /** Span attributes of each of its calls. */
  readonly spanAttributes?: Readonly<Record<string, string>>;
  /** True if `meta` of its tools is that of an upstream MCP server: the MCP door lists icons and `_meta` unchanged. */
  readonly hasMcpMeta?: true;
}

/** Returns the traits of a kind; the defaults for an unknown kind. */
export type TraitsOf = (kind: string) => KindTraits;

/** Resolves `${` in the run of a tool, or returns the mistakes. `${secret:NAME}` is kept until it is used, and `$${` is a literal `${`. */
export type ReadRunText = (text: string) => { readonly text: string } | { readonly mistakes: readonly string[] };
