import type { ApprovalOptions, ApprovalPorts } from '../approval.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { CribContext } from './crib-context.ts';
import type { Recheck } from './identity.ts';
import type { Clock, Schemas } from './ports.ts';
import type { TraitsOf } from './runs.ts';

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
