import type { OpenAuditTrail } from '../../audit/create-audit-trail.ts';
import type { Store } from '../../core/ports/store.ts';
import type { SourceReport } from '../sources/source-slot.ts';

/** Whether a crib can work; `reason` is a sentence for everybody. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

/** What readiness is judged by. */
interface ReadinessOptions {
  readonly store: Store | undefined;
  readonly trail: Pick<OpenAuditTrail, 'backlog'> | undefined;
  sources(): readonly SourceReport[];
}

/** A probe has its answer within 2 s, whatever the store does. */
const ANSWER_MS = 1500;
const SILENT = 'The store does not answer.';
/** However many probes come, the store is written to once in this time. */
const KEEP_MS = 1000;
/** Rows are written ten times in a second; those that wait for so long cannot be. */
const OLDEST_ROW_MS = 10_000;

/** Tells whether a crib can work: its store takes what is written, the audit is written, and no source is starting. */
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
  // Where the store is and what is wrong with it is for its owner, who finds it in the log.
  const storeTrouble = async (of: Store): Promise<string | undefined> => {
    const { reachable } = await of.status();
    if (!reachable) return SILENT;
    return (await isWritten(of)) ? undefined : 'The store cannot be written.';
  };
  const auditTrouble = (): string | undefined => {
    const { oldestMs, lost } = trail?.backlog() ?? { oldestMs: 0, lost: 0 };
    if (lost > 0) return 'Rows of the audit are being lost because they cannot be written.';
    if (oldestMs < OLDEST_ROW_MS) return undefined;
    return `Rows of the audit have been waiting for ${Math.round(oldestMs / 1000)} s to be written.`;
  };
  const sourceTrouble = (): string | undefined =>
    sources().some(({ state }) => state === 'starting')
      ? 'Some sources are still being asked for their tools.'
      : undefined;
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
