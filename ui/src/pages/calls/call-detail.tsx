import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useSearchParams } from 'wouter';
import { api } from '../../api/client.ts';
import type { Approval, JsonMembers } from '../../parts/approval/approval-types.ts';
import { useServerEvents } from '../../parts/live-events.ts';
import { RelativeTime, toDuration } from '../../parts/relative-time.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import { AuditState } from './audit-state.tsx';
import classes from './call-detail.module.css';
import type { CallRow } from './call-types.ts';
import { CallState } from './calls-table.tsx';
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
}

interface CallDetailProps {
  readonly id: string;
  /** The row of the log, if it is loaded. */
  readonly known: CallRow | undefined;
  onClose(): void;
}

/** One call, docked beside the log: what is kept of it, its place in the audit log, and what can be done. */
export function CallDetail({ id, known, onClose }: CallDetailProps) {
  const panel = useRef<HTMLElement>(null);
  const { data, error } = useCall(id, known);
  const row = data?.call ?? known;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (event.key === 'Escape' && !isTyping && document.querySelector('[aria-modal="true"]') === null) onClose();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [onClose]);
  return (
    <aside className={classes.panel} aria-label="Call" ref={panel}>
      <header className={classes.head}>
        <h2 className={`name ${classes.tool}`}>
          <VisibleText text={row?.tool ?? data?.approval?.tool ?? id} limit={120} />
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
          {row !== undefined && <Facts row={row} />}
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

function useCall(id: string, known: CallRow | undefined) {
  const queries = useQueryClient();
  const queryKey = ['calls', id];
  useServerEvents(['calls', 'approvals'], (_name, data) => {
    const { callId, claim } = data as { readonly callId?: string; readonly claim?: { readonly callId: string } };
    if (callId === id || claim?.callId === id) void queries.invalidateQueries({ queryKey });
  });
  const isRunning = known?.outcome === 'running';
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => api<CallAnswer>(`/api/calls/${encodeURIComponent(id)}`, { signal }),
    enabled: !isRunning, // a running call has no row yet; the event of its end brings it
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

/** Who called what, when, for how long, and with which outcome. */
function Facts({ row }: { readonly row: CallRow }) {
  const [search] = useSearchParams();
  const only = (name: string, value: string) => `/calls?${new URLSearchParams({ [name]: value })}`;
  const nested = new URLSearchParams(search);
  nested.set('view', 'waterfall');
  nested.set('root', row.parentId ?? row.callId);
  return (
    <dl className={classes.facts}>
      <Fact label="Outcome">
        <CallState row={row} />
      </Fact>
      <Fact label="Started">
        <RelativeTime at={row.at} />
      </Fact>
      {row.durationMs !== undefined && <Fact label="Duration">{toDuration(row.durationMs)}</Fact>}
      {row.waitedMs !== undefined && <Fact label="Waited">{toDuration(row.waitedMs)} for an approval</Fact>}
      <Fact label="Caller">
        {row.caller === undefined ? (
          <span className="soft">{row.operator ? 'the operator' : 'without an id'}</span>
        ) : (
          <Link href={only('caller', row.caller)}>
            <VisibleText text={row.caller} limit={100} />
          </Link>
        )}
        {row.roles !== undefined && row.roles.length > 0 && (
          <span className="soft">
            {' '}
            <VisibleText text={row.roles.join(', ')} limit={100} />
          </span>
        )}
      </Fact>
      <Fact label="Profile">
        <VisibleText text={row.profile} limit={100} />
      </Fact>
      <Fact label="Door">{row.door}</Fact>
      {row.source !== undefined && row.source !== '' && (
        <Fact label="Source">
          <Link href={`/sources/${encodeURIComponent(row.source)}`}>
            <VisibleText text={row.source} limit={100} />
          </Link>
        </Fact>
      )}
      {row.conversation !== undefined && (
        <Fact label="Conversation">
          <Link href={`${only('conversation', row.conversation)}&view=conversations`}>
            <VisibleText text={row.conversation} limit={100} />
          </Link>
          {row.turn !== undefined && (
            <span className="soft">
              {' '}
              <VisibleText text={row.turn} limit={60} />
            </span>
          )}
        </Fact>
      )}
      {row.tokens !== undefined && <Fact label="Tokens">{row.tokens.toLocaleString('en')}</Fact>}
      {row.isReplayed && <Fact label="Replayed">Answered without running the tool.</Fact>}
      {row.parentId !== undefined && (
        <Fact label="Called by">
          <Link href={`/calls/${encodeURIComponent(row.parentId)}?${search}`} className="name">
            {row.parentId}
          </Link>
        </Fact>
      )}
      <Fact label="Nested calls">
        <Link href={`/calls/${encodeURIComponent(row.callId)}?${nested}`}>Show the waterfall</Link>
      </Fact>
      {row.traceId !== undefined && (
        <Fact label="Trace">
          <Link className="name" href={`/calls?${new URLSearchParams({ trace: row.traceId })}`}>
            {row.traceId}
          </Link>
        </Fact>
      )}
      <Fact label="Call">
        <span className="name">{row.callId}</span>
      </Fact>
    </dl>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
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
          <Button variant="default" disabled={isPending} onClick={() => cancel(row.callId)}>
            Cancel this call
          </Button>
        </div>
      )}
      {answer?.approval !== undefined && (
        <Section title="Approval">
          <ApprovalLine approval={answer.approval} />
        </Section>
      )}
      <Section title="Arguments">
        {given !== undefined ? <KeptValue value={given} /> : <NotKept what="arguments" hash={row?.argumentsHash} />}
      </Section>
      {row?.outcome !== 'running' && (
        <Section title="Result">
          {result !== undefined ? <ResultParts result={result} /> : <NotKept what="result" hash={row?.resultHash} />}
        </Section>
      )}
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

function NotKept({ what, hash }: { readonly what: string; readonly hash: string | undefined }) {
  return (
    <p className={classes.line}>
      <span className="soft">
        Not kept. Calls that wait for an approval and background calls keep their {what}
        {hash === undefined ? '.' : '; of others, the audit log has the hash.'}
      </span>
      {hash !== undefined && <span className={`name ${classes.hash}`}>{hash}</span>}
    </p>
  );
}
