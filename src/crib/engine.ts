import type { ApprovalPoller } from '../approvals/poller.ts';
import type { AuditSource, createTrail } from '../audit/audit.ts';
import type { ExecutorReview } from '../core/executor.ts';
import type { Generation, ProfileSet } from '../core/ports/generation.ts';
import type { BundleRegistry } from './catalog/bundle-registry.ts';
import type { Generations } from './catalog/generations.ts';
import type { CribDefinition } from './crib-definition.ts';
import type { ExtensionSet } from './extensions/extension-set.ts';
import type { ChestHost } from './open-chest.ts';
import type { EntryMistake } from './sources/check-stored.ts';
import type { LiveSources, PreparedSources } from './sources/live-sources.ts';
import type { Registration } from './sources/registration.ts';
import type { SourceReport } from './sources/source-slot.ts';

/** What runs inside a crib: everything that is alive, and how it is put in the place of something else. */
export interface Engine {
  readonly host: ChestHost;
  readonly bundles: BundleRegistry;
  readonly extensions: ExtensionSet;
  readonly registration: Registration;
  readonly trail: ReturnType<typeof createTrail>;
  readonly poller: ApprovalPoller;
  /** What extensions say about the keys of the audit now. */
  keySettings: AuditSource['keySettings'];
  generation(): Generation;
  profiles(): ProfileSet;
  access(): CribDefinition['access'];
  server(): CribDefinition['server'];
  sources(): readonly SourceReport[];
  sourceOutput(name: string): string | undefined;
  warnings(): readonly string[];
  warn(message: string): void;
  onChange: Generations['onChange'];
  onNext: Generations['onNext'];
  /** Puts another definition in the place of the one it runs with; sources that were started for it may still learn their lists. A mistake in them throws and changes nothing. */
  apply(definition: CribDefinition): Promise<Pick<PreparedSources, 'listed'>>;
  /** Resolves when no source is in its first start, or after `limitMs`. */
  listed(limitMs: number): Promise<void>;
  checkStored(entries: readonly unknown[]): Promise<readonly EntryMistake[]>;
  /** What executors say about their tools on this machine. */
  review(): Promise<ExecutorReview>;
  /** Reads every source again, or only some. */
  refresh: LiveSources['refresh'];
  /** Resolves when no call is under way, or after `limitMs`. */
  idle(limitMs: number): Promise<void>;
  /** Ends all calls that are under way. */
  endCalls(): void;
  close(): Promise<void>;
}
