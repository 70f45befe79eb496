import type { Extension } from '../core/extension.ts';
import type { AuditReport } from '../core/ports/audit-report.ts';
import { type CribContext, pathOf } from '../core/ports/crib-context.ts';
import type { Store } from '../core/ports/store.ts';
import {
  type AuditRow,
  type Checkpoint,
  KEPT_DAYS,
  type Recording,
  type StoredChain,
} from '../core/ports/stored-audit.ts';
import { defined, describe, readOptions } from '../core/read-options.ts';
import { messageOf, notAvailable, ToolcribError } from '../core/tool-error.ts';
import { idleClock, systemClock } from '../system/clock.ts';
import { createAuditTrail, type OpenAuditTrail } from './create-audit-trail.ts';
import type { AuditKeySettings } from './signing-keys.ts';

/** Filter for exporting rows. */
export interface ExportOptions {
  /** Start of the period (inclusive), in milliseconds since 1970. */
  readonly since?: number;
  /** End of the period (exclusive). */
  readonly until?: number;
}

/** Summary of the audit log. */
export interface AuditSummary {
  readonly rows: number;
  readonly chains: readonly ChainSummary[];
}

/** Summary of one chain. */
export interface ChainSummary {
  readonly chain: string;
  readonly startedAt: number;
  /** The public key as base64. */
  readonly key: string;
  /** Number of rows ever written. */
  readonly count: number;
  /** Number of rows removed because of their age. */
  readonly removed: number;
  /** The newest checkpoint in the database. A copy kept elsewhere proves the rows up to it. */
  readonly checkpoint?: Checkpoint;
}

/** The audit log of a crib. */
export interface CribAudit {
  /** Checks every row and reports what was changed, removed, cut off, replaced by an older copy or left open. */
  verify(): Promise<AuditReport>;
  /** The public key that signs rows here, created if absent. Other machines can list it as trusted. */
  key(): Promise<string>;
  /** All rows, chain by chain. */
  export(options?: ExportOptions): AsyncIterable<AuditRow>;
  summary(): Promise<AuditSummary>;
  /** Reports whether calls are recorded, and for how many days; without `days`, forever. */
  retention(): { readonly isRecorded: boolean; readonly days?: number };
}

/** Dependencies for reading the audit log. */
export interface AuditSource {
  readonly context: CribContext;
  readonly trail: OpenAuditTrail | undefined;
  /** The current key settings of the extensions. */
  keySettings(): AuditKeySettings;
  warn(message: string): void;
  /** The current extensions. */
  extensions(): readonly (Extension & Partial<Recording>)[];
}

/** The signer of a chain: this machine, a trusted one, or unknown. */
export type ChainSigner = 'own' | 'trusted' | 'unknown';

/** Creates the audit log of a crib with a store. */
export function createTrail({
  context,
  keySettings,
  warn,
}: Pick<AuditSource, 'context' | 'keySettings' | 'warn'>): OpenAuditTrail | undefined {
  const { store, redact } = context;
  if (store === undefined) return undefined;
  const privateFolder = () => pathOf(context.privateFolder(), warn);
  const clocks = { clock: systemClock, idleClock, now: Date.now };
  return createAuditTrail({ store, privateFolder, keySettings, redact, warn, ...clocks });
}

/** Throws if the configured key cannot be used: no call may run whose row could not be signed. */
export async function requireNamedKey({ key }: AuditKeySettings, { hide }: CribContext): Promise<void> {
  if (key === undefined) return;
  if ('env' in key) hide('audit key', process.env[key.env] ?? '');
  const { readNamedKey } = await import('./signing-keys.ts');
  await readNamedKey(key, process.env);
}

/** Creates the audit API of a crib; it needs a store. */
export function createAudit(source: AuditSource): CribAudit {
  const requireStore = (): Store => {
    if (source.context.store !== undefined) return source.context.store;
    throw notAvailable('The audit log of a crib without a store', 'pass a configFile or a store');
  };
  return {
    async verify() {
      const store = requireStore();
      await source.trail?.seal();
      const { verifyAudit } = await import('./verify-audit.ts');
      return verifyAudit({
        store,
        privateFolder: () => privatePathOf(source),
        formerFolders: source.context.formerFolders,
        keySettings: source.keySettings(),
        passingKey: source.trail?.passingKey(),
      });
    },
    async key() {
      const { engine } = await requireStore().status();
      if (engine === 'memory') throw notAvailable('The audit key of a store in memory', 'set another store.url');
      return publicKeyOf(source);
    },
    async *export(given = {}) {
      requireStore();
      const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = readExport(given);
      const store = await writtenStore(source);
      if (store === undefined) return;
      for await (const row of everyRow(store)) if (row.at >= since && row.at < until) yield row;
    },
    async summary() {
      requireStore();
      const store = await writtenStore(source);
      if (store === undefined) return { rows: 0, chains: [] };
      const chains = await store.audit.chains();
      return {
        rows: await store.audit.count(),
        chains: await Promise.all(chains.map((chain) => summaryOf(store, chain))),
      };
    },
    retention() {
      const recording = source.extensions().find((extension) => KEPT_DAYS in extension);
      const days = recording?.[KEPT_DAYS];
      return { isRecorded: recording !== undefined, ...(days !== undefined && { days }) };
    },
  };
}

async function publicKeyOf(source: AuditSource): Promise<string> {
  const { openAuditKey } = await import('./chain-origin.ts');
  const settings = source.keySettings();
  const folder = await auditFolderOf(source);
  if (folder === undefined && settings.key === undefined)
    throw notAvailable('The audit key, which cannot be stored here,', 'set XDG_STATE_HOME or extensions.audit.key');
  return (await openAuditKey(folder ?? '', settings)).publicKey;
}

function privatePathOf({ context, warn }: AuditSource): string | undefined {
  return pathOf(context.privateFolder(), warn);
}

/** Returns a function that tells who signed a chain. If the keys of this machine cannot be read, every signer is unknown. */
export async function judgeChains(source: AuditSource, { audit }: Store): Promise<(chain: string) => ChainSigner> {
  const { judgeKey, readKnownKeys } = await import('./signing-keys.ts');
  const { isSignedHeader } = await import('./proof.ts');
  const passing = source.trail?.passingKey();
  const folder = passing === undefined ? await auditFolderOf(source) : undefined;
  const keys = await readKnownKeys(folder, source.keySettings(), passing).catch((cause) => {
    source.warn(messageOf(cause));
    return undefined;
  });
  const headers = new Map((await audit.chains()).map((header) => [header.chain, header]));
  return (chain) => {
    const header = headers.get(chain);
    if (keys === undefined || header === undefined || !isSignedHeader(header)) return 'unknown';
    return judgeKey(keys, header.key);
  };
}

async function auditFolderOf(source: AuditSource): Promise<string | undefined> {
  const { auditFolder } = await import('./chain-origin.ts');
  const folder = privatePathOf(source);
  return folder === undefined ? undefined : auditFolder(folder);
}

/** The store after a flush; undefined if nothing was ever stored. Does not create a store. */
export async function writtenStore({
  context,
  trail,
}: Pick<AuditSource, 'context' | 'trail'>): Promise<Store | undefined> {
  const { store } = context;
  if (store === undefined || !(trail?.isUsed() || context.isStored())) return undefined;
  await trail?.flush();
  return store;
}

async function* everyRow({ audit }: Store): AsyncIterable<AuditRow> {
  const { toAuditRow } = await import('./proof.ts');
  const { readPortions } = await import('./event-loop-turns.ts');
  for (const { chain } of await audit.chains()) {
    for await (const portion of readPortions(audit, chain, 0)) {
      for (const row of portion) {
        const shown = toAuditRow({ ...row, chain });
        if (shown !== undefined) yield shown;
      }
    }
  }
}

async function summaryOf({ audit }: Store, stored: StoredChain): Promise<ChainSummary> {
  const { chain, startedAt, key, cut } = stored;
  const [end, checkpoint] = await Promise.all([audit.end(chain), audit.newestCheckpoint(chain)]);
  return defined({ chain, startedAt, key, count: end?.count ?? 0, removed: cut?.count ?? 0, checkpoint });
}

function readExport(given: unknown): ExportOptions {
  const options = readOptions<ExportOptions>(given, ['since', 'until'], 'audit.export');
  for (const key of ['since', 'until'] as const) {
    const value = options[key];
    if (value === undefined || Number.isFinite(value)) continue;
    const message = `audit.export: ${key} must be a time in milliseconds since 1970, got ${describe(value)}.`;
    throw new ToolcribError('invalid_option', message);
  }
  return options;
}
