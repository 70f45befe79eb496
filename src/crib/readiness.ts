import type { OpenAuditTrail } from '../audit/create-audit-trail.ts';
import type { Store } from '../core/ports/store.ts';
import type { SourceReport } from './sources/source-slot.ts';

/** The readiness of a crib; `reason` contains nothing confidential. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

interface ReadinessOptions {
  readonly store: Store | undefined;
  readonly trail: Pick<OpenAuditTrail, 'backlog'> | undefined;
  sources(): readonly SourceReport[];
}

/** A probe gets its answer within 2 s, even if the store hangs. */
const ANSWER_MS = 1500;
const SILENT = 'The store does not answer.';
/** The store is written to at most once in this time, however many probes arrive. */
const KEEP_MS = 1000;
/** Rows are written ten times a second, so older ones cannot be written. */
const OLDEST_ROW_MS = 10_000;

/** Creates the readiness probe: the store is writable, the audit log is being written, and no source is starting. */
export function createReadiness({ store, trail, sources }: ReadinessOptions): () => Promise<Readiness> {
  let last: Promise<boolean> | undefined;
  let endedAt: number | undefined;
  const isWritten = (to: Store): Promise<boolean> => {
    if (last !== undefined && (endedAt === undefined || performance.now() - endedAt < KEEP_MS)) return last;
    endedAt = undefined;
    last = to
      .requireWritable()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        endedAt = performance.now();
      });
    return last;
  };
  // Location and error of the store are confidential; the operator finds them in the log.
  const storeTrouble = async (of: Store): Promise<string | undefined> => {
    const { reachable } = await of.status();
    if (!reachable) return SILENT;
    return (await isWritten(of)) ? undefined : 'The store is not writable.';
  };
  const auditTrouble = (): string | undefined => {
    const { oldestMs, lost } = trail?.backlog() ?? { oldestMs: 0, lost: 0 };
    if (lost > 0) return 'Audit rows are being lost because they cannot be written.';
    if (oldestMs < OLDEST_ROW_MS) return undefined;
    return `Audit rows have been waiting to be written for ${Math.round(oldestMs / 1000)} s.`;
  };
  const sourceTrouble = (): string | undefined =>
    sources().some(({ state }) => state === 'starting') ? 'Some sources are still loading their tools.' : undefined;
  return async () => {
    const ofStore = store === undefined ? undefined : await within(ANSWER_MS, storeTrouble(store), SILENT);
    const reason = ofStore ?? auditTrouble() ?? sourceTrouble();
    return reason === undefined ? { ready: true } : { ready: false, reason };
  };
}

async function within<T>(limitMs: number, work: Promise<T>, otherwise: T): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timer = setTimeout(() => late.resolve(otherwise), limitMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
