import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/client.ts';
import type { Approval, JsonMembers } from '../../parts/approval/approval-types.ts';
import { useServerEvents } from '../../parts/live-events.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import { AuditState } from './audit-state.tsx';
import classes from './call-detail.module.css';
import { CallFacts } from './call-facts.tsx';
import type { CallRow } from './call-types.ts';
import { type KeptResult, KeptValue, ResultParts } from './kept-values.tsx';
import { CallStops } from './stop-menu.tsx';

/** A call as GET /api/calls/{id} answers it. */
interface CallAnswer {
  readonly callId: string;
  readonly state: 'waiting' | 'running' | 'ended';
  readonly call?: CallRow;
  readonly approval?: Approval;
  readonly result?: KeptResult;
  readonly arguments?: JsonMembers;
  readonly traceUrl?: string;
}

interface CallDetailProps {
  readonly id: string;
  /** The row of the log, if it is loaded. */
  readonly known: CallRow | undefined;
  /** False while the log is loading: the call may be in it. */
  readonly isReady: boolean;
  onClose(): void;
}

/** One call, docked beside the log: what is kept of it, its place in the audit log, and what can be done. */
export function CallDetail({ id, known, isReady, onClose }: CallDetailProps) {
  const { data, error } = useCall(id, isReady && known?.outcome !== 'running');
  const row = data?.call ?? known;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (event.key === 'Escape' && !isTyping && document.querySelector('dialog[open]') === null) onClose();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [onClose]);
  return (
    <aside className={classes.panel} aria-label="Call">
      <header className={classes.head}>
        <h2 className={`name ${classes.tool}`}>
          <ToolName id={id} tool={row?.tool ?? data?.approval?.tool} source={row?.source} />
        </h2>
        <button type="button" className={classes.close} aria-label="Close" title="Close (Esc)" onClick={onClose}>
          ×
        </button>
      </header>
      {error !== null && row === undefined ? (
        <p className={classes.problem} role="alert">
          <VisibleText text={error.message} />
        </p>
      ) : (
        <div className={classes.body}>
          {row !== undefined && <CallFacts row={row} traceUrl={data?.traceUrl} />}
          <Kept row={row} answer={data} />
          {row?.row !== undefined && (
            <Section title="Audit">
              <AuditState row={row} />
            </Section>
          )}
          {row !== undefined && <CallStops row={row} />}
        </div>
      )}
    </aside>
  );
}

interface ToolNameProps {
  readonly id: string;
  readonly tool: string | undefined;
  readonly source: string | undefined;
}

/** The name of the tool, which leads to its page. The tools of Toolcrib itself have none. */
function ToolName({ id, tool, source }: ToolNameProps) {
  const text = <VisibleText text={tool ?? id} limit={120} />;
  if (tool === undefined || tool === '' || source === undefined || source === '' || source === 'toolcrib') return text;
  return <Link href={`/tools/${encodeURIComponent(tool)}`}>{text}</Link>;
}

function useCall(id: string, isEnabled: boolean) {
  const queries = useQueryClient();
  const queryKey = ['calls', id];
  useServerEvents(['calls', 'approvals'], (_name, data) => {
    const { callId, claim } = data as { readonly callId?: string; readonly claim?: { readonly callId: string } };
    if (callId === id || claim?.callId === id) void queries.invalidateQueries({ queryKey });
  });
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => api<CallAnswer>(`/api/calls/${encodeURIComponent(id)}`, { signal }),
    enabled: isEnabled, // a running call has no row yet; the event of its end brings it
  });
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h3 className={classes.title}>{title}</h3>
      {children}
    </section>
  );
}

/** Arguments and result, where they are kept. */
function Kept({ row, answer }: { readonly row: CallRow | undefined; readonly answer: CallAnswer | undefined }) {
  const isTask = row?.door === 'task';
  const { data: task } = useQuery({
    queryKey: ['tasks', row?.callId],
    queryFn: ({ signal }) =>
      api<{ task: { arguments?: JsonMembers; result?: KeptResult } }>(
        `/api/tasks/${encodeURIComponent(row?.callId ?? '')}`,
        { signal },
      ),
    enabled: isTask,
  });
  const { mutate: cancel, isPending } = useMutation({
    mutationFn: (id: string) => api(`/api/calls/${encodeURIComponent(id)}/cancel`, { method: 'POST', body: {} }),
  });
  const given = answer?.arguments ?? answer?.approval?.arguments ?? task?.task.arguments;
  const result = answer?.result ?? task?.task.result;
  return (
    <>
      {row?.outcome === 'running' && (
        <div className={classes.actions}>
          <button type="button" className="button" disabled={isPending} onClick={() => cancel(row.callId)}>
            Cancel this call
          </button>
        </div>
      )}
      {answer?.approval !== undefined && (
        <Section title="Approval">
          <ApprovalLine approval={answer.approval} />
        </Section>
      )}
      {given !== undefined && (
        <Section title="Arguments">
          <KeptValue value={given} />
        </Section>
      )}
      {result !== undefined && (
        <Section title="Result">
          <ResultParts result={result} />
        </Section>
      )}
      {row !== undefined && <NotKept row={row} hasArguments={given !== undefined} hasResult={result !== undefined} />}
    </>
  );
}

function ApprovalLine({ approval }: { readonly approval: Approval }) {
  const { answer, id, state } = approval;
  return (
    <p className={classes.line}>
      {answer === undefined ? (
        <>Waits for an approver. </>
      ) : (
        <>
          {answer.decision === 'approve' ? 'Approved' : 'Denied'} by{' '}
          <strong>
            <VisibleText text={answer.by} limit={80} />
          </strong>{' '}
          <RelativeTime at={answer.at} />.{' '}
        </>
      )}
      <Link href={`/approvals/${id}${state === 'waiting' ? '' : '?tab=answered'}`}>Show the request</Link>
    </p>
  );
}

interface NotKeptProps {
  readonly row: CallRow;
  readonly hasArguments: boolean;
  readonly hasResult: boolean;
}

/** Says which parts of a call are not kept, and their hashes. */
function NotKept({ row, hasArguments, hasResult }: NotKeptProps) {
  const isOver = row.outcome !== 'running' && row.outcome !== 'waiting';
  const missing = [
    ...(hasArguments ? [] : [{ name: 'Arguments', hash: row.argumentsHash }]),
    ...(hasResult || !isOver ? [] : [{ name: 'Result', hash: row.resultHash }]),
  ];
  if (missing.length === 0) return null;
  return (
    <Section
      title={missing
        .map(({ name }) => name)
        .join(' and ')
        .replace('and Result', 'and result')}
    >
      <p className={classes.line}>
        <span className="soft">
          Not kept. Calls that wait for an approval and background calls are kept; of others, the audit log has hashes.
        </span>
      </p>
      {missing.map(({ name, hash }) =>
        hash === undefined ? null : (
          <p key={name} className={classes.line} title={hash}>
            <span className="soft">{name}</span> <span className="name">{hash.slice(0, 16)}…</span>
          </p>
        ),
      )}
    </Section>
  );
}
