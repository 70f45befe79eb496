import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { RelativeTime, toDuration } from '../../parts/relative-time.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './call-detail.module.css';
import type { CallRow } from './call-types.ts';
import { CallState } from './calls-table.tsx';

interface CallFactsProps {
  readonly row: CallRow;
  /** Where the trace of the call is shown, if the configuration says so. */
  readonly traceUrl: string | undefined;
}

/** Who called what, when, for how long, and with which outcome. */
export function CallFacts({ row, traceUrl }: CallFactsProps) {
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
      <Relations row={row} traceUrl={traceUrl} />
      <Fact label="Call">
        <span className="name">{row.callId}</span>
      </Fact>
    </dl>
  );
}

/** What the call belongs to: a conversation, a call around it, calls inside it, a trace. */
function Relations({ row, traceUrl }: CallFactsProps) {
  const [search] = useSearchParams();
  const nested = new URLSearchParams(search);
  nested.set('view', 'waterfall');
  nested.set('root', row.parentId ?? row.callId);
  const { data: hasNested = true } = useQuery({
    queryKey: ['calls', 'nested', row.callId, row.durationMs],
    queryFn: ({ signal }) =>
      api<Answer<'/api/calls'>>('/api/calls', { query: { parent: row.callId, limit: 1 }, signal }),
    select: ({ calls }) => calls.length > 0,
    enabled: row.parentId === undefined && row.durationMs !== undefined, // calls in flight are not recorded yet
  });
  const hasOthers = row.parentId !== undefined || hasNested;
  return (
    <>
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
        {hasOthers ? (
          <Link href={`/calls/${encodeURIComponent(row.callId)}?${nested}`}>Show the waterfall</Link>
        ) : (
          <span className="soft">none</span>
        )}
      </Fact>
      {row.traceId !== undefined && (
        <Fact label="Trace">
          {traceUrl === undefined ? (
            <span className="name" title="Set server.traceUrl to link to the trace.">
              {row.traceId}
            </span>
          ) : (
            <a className="name" href={traceUrl} target="_blank" rel="noreferrer">
              {row.traceId}
            </a>
          )}
        </Fact>
      )}
    </>
  );
}

function only(name: string, value: string): string {
  return `/calls?${new URLSearchParams({ [name]: value })}`;
}

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
