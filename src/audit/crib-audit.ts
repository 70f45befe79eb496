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

/** Which rows are exported. */
export interface ExportOptions {
  /** From this time on, in milliseconds since 1970. */
  readonly since?: number;
  /** Before this time. */
  readonly until?: number;
}

/** What there is of the audit. */
export interface AuditSummary {
  readonly rows: number;
  readonly chains: readonly ChainSummary[];
}

/** What there is of one chain. */
export interface ChainSummary {
  readonly chain: string;
  readonly startedAt: number;
  /** The public key as base64. */
  readonly key: string;
  /** How many rows were ever written to it. */
  readonly count: number;
  /** How many of these were removed because they were old. */
  readonly removed: number;
  /** The newest checkpoint in the database. Kept elsewhere, it proves what was there. */
  readonly checkpoint?: Checkpoint;
}

/** The audit of a crib. */
export interface CribAudit {
  /** Looks at every row and says what was changed, removed, cut off, put back or left open. */
  verify(): Promise<AuditReport>;
  /** The public key that rows are signed with here, made if there is none; others list it as trusted. */
  key(): Promise<string>;
  /** Every row, chain by chain. */
  export(options?: ExportOptions): AsyncIterable<AuditRow>;
  summary(): Promise<AuditSummary>;
  /** Whether calls are put on record, and for how many days; without `days` for ever. */
  retention(): { readonly isRecorded: boolean; readonly days?: number };
}

/** What reads the record. */
export interface AuditSource {
  readonly context: CribContext;
  readonly trail: OpenAuditTrail | undefined;
  /** What extensions say about keys now. */
  keySettings(): AuditKeySettings;
  warn(message: string): void;
  /** The extensions of this moment. */
  extensions(): readonly (Extension & Partial<Recording>)[];
}

/** Whose key has signed a chain. */
export type ChainSigner = 'own' | 'trusted' | 'unknown';

/** The record of a crib that has a store. */
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

/** Throws where the owner names a key that cannot be used: no call may run that nothing could sign for. */
export async function requireNamedKey({ key }: AuditKeySettings, { hide }: CribContext): Promise<void> {
  if (key === undefined) return;
  if ('env' in key) hide('audit key', process.env[key.env] ?? '');
  const { readNamedKey } = await import('./signing-keys.ts');
  await readNamedKey(key, process.env);
}

/** The audit of a crib; one without a store has none. */
export function createAudit(source: AuditSource): CribAudit {
  const requireStore = (): Store => {
    if (source.context.store !== undefined) return source.context.store;
    throw notAvailable('The audit of a crib without a configuration', 'name a configFile or a store');
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
      if (engine === 'memory') throw notAvailable('The audit key of a store in memory', 'name another store.url');
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
    throw notAvailable(
      'The audit key, which cannot be kept here,',
      'set XDG_STATE_HOME, or name it by extensions.audit.key',
    );
  return (await openAuditKey(folder ?? '', settings)).publicKey;
}

function privatePathOf({ context, warn }: AuditSource): string | undefined {
  return pathOf(context.privateFolder(), warn);
}

/** Tells whose key has signed a chain. Where the keys of this machine cannot be read, none is known. */
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

/** The store with everything recorded so far; undefined if nothing was ever stored. Looking makes no store. */
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
    const message = `audit.export: ${key} is a time in milliseconds since 1970, got ${describe(value)}.`;
    throw new ToolcribError('invalid_option', message);
  }
  return options;
}
