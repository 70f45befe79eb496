import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './call-detail.module.css';
import type { CallRow } from './call-types.ts';

interface Verified {
  readonly ok: boolean;
  readonly rows: number;
  readonly findings: readonly { readonly says?: string; readonly message?: string }[];
}

const KEYS = {
  own: { tone: 'good', says: 'Signed by a key of this server' },
  trusted: { tone: 'good', says: 'Signed by a trusted key' },
  unknown: { tone: 'warn', says: 'Signed by an unknown key' },
} as const;

/** The place of a call in the tamper-evident audit log, and whether the log is unchanged. */
export function AuditState({ row: { row } }: { readonly row: CallRow }) {
  const {
    mutate: verify,
    data,
    error,
    isPending,
  } = useMutation({ mutationFn: () => api<Verified>('/api/audit/verify') });
  const { role } = useSession();
  if (row === undefined) return null;
  const { tone, says } = KEYS[row.key ?? 'own'];
  return (
    <>
      <p className={classes.line}>
        <Status tone={tone}>{says}</Status>
      </p>
      <p className={classes.line}>
        Row {row.number.toLocaleString('en')} of chain <span className="name">{row.chain.slice(0, 12)}</span>, hash{' '}
        <span className="name" title={row.hash}>
          {row.hash.slice(0, 16)}…
        </span>
      </p>
      <p className={classes.line} role="status">
        {data === undefined && role === 'operator' && (
          <button type="button" className={classes.textButton} disabled={isPending} onClick={() => verify()}>
            {isPending ? 'Verifying …' : 'Verify the audit log'}
          </button>
        )}
        {data !== undefined && (
          <Status tone={data.ok ? 'good' : 'danger'}>
            {data.ok
              ? `All ${data.rows.toLocaleString('en')} rows are unchanged`
              : `${data.findings.length} problems found: run toolcrib audit verify`}
          </Status>
        )}
        {error !== null && <VisibleText text={error.message} />}
      </p>
    </>
  );
}
