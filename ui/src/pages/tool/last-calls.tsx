import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useServerEvents } from '../../parts/live-events.ts';
import { loadLater } from '../../parts/load-later.ts';
import { RelativeTime, toDuration } from '../../parts/relative-time.tsx';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import { mergeRows } from '../calls/call-log.ts';
import { toWords } from '../calls/call-types.ts';
import runClasses from './run.module.css';
import classes from './tool.module.css';
import type { CallRow, ToolStats } from './tool-types.ts';

const DurationChart = loadLater(async () => (await import('./duration-chart.tsx')).DurationChart);

const SHOWN_CALLS = 10;
const CHART_CALLS = 200;

/** The last calls of the tool, for operators those of all callers: how long they took, and how many failed. */
export function LastCalls({ tool }: { readonly tool: string }) {
  const { role } = useSession();
  const stats = useQuery({
    queryKey: ['tool-activity', tool, 'stats'],
    enabled: role === 'operator',
    queryFn: ({ signal }) => api<ToolStats>(`/api/tools/${encodeURIComponent(tool)}/stats`, { signal }),
  });
  const calls = useQuery({
    queryKey: ['tool-activity', tool, 'calls'],
    queryFn: ({ signal }) => api<Answer<'/api/calls'>>('/api/calls', { query: { tool, limit: CHART_CALLS }, signal }),
  });
  useLiveCalls(tool);
  const ended = calls.data?.calls.filter((call): call is CallRow => call.outcome !== 'running');
  const rows = mergeRows(ended ?? stats.data?.lastCalls ?? []);
  if (calls.error !== null) return null;
  return (
    <div className={runClasses.result}>
      {stats.data !== undefined && <Figures stats={stats.data} />}
      {rows.length > 1 && (
        <Suspense fallback={<div className={classes.chart} />}>
          <DurationChart calls={rows} />
        </Suspense>
      )}
      {rows.length === 0 && (
        <p className="soft">
          {role === 'operator' ? 'This tool has not been called yet.' : 'You have not called this tool yet.'} Fill in
          the form and press Run, or Ctrl+Enter.
        </p>
      )}
      {rows.length > 0 && <CallTable rows={rows.slice(0, SHOWN_CALLS)} />}
      {rows.length > SHOWN_CALLS && (
        <p>
          <Link href={`/calls?tool=${encodeURIComponent(tool)}`} className={classes.inline}>
            Show all calls
          </Link>
        </p>
      )}
    </div>
  );
}

const REFRESH_MS = 2000;

/** Loads the calls of the tool again while others call it, at most every two seconds. */
function useLiveCalls(tool: string): void {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useServerEvents(['calls'], (_, data) => {
    if (timer.current !== undefined || (data as { readonly tool?: string }).tool !== tool) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      void client.invalidateQueries({ queryKey: ['tool-activity', tool] });
    }, REFRESH_MS);
  });
}

function Figures({ stats }: { readonly stats: ToolStats }) {
  const figures = [
    ['calls in 30 days', stats.calls.toLocaleString('en')],
    ['failed', `${(stats.errorRate * 100).toFixed(stats.errorRate > 0 && stats.errorRate < 0.1 ? 1 : 0)} %`],
    ['p50', stats.p50Ms === undefined ? '–' : toDuration(stats.p50Ms)],
    ['p95', stats.p95Ms === undefined ? '–' : toDuration(stats.p95Ms)],
  ] as const;
  return (
    <dl className={classes.figures}>
      {figures.map(([word, value]) => (
        <div key={word}>
          <dt>{word}</dt>
          <dd className="tabular">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function CallTable({ rows }: { readonly rows: readonly CallRow[] }) {
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th>Outcome</th>
          <th>Caller</th>
          <th>Profile</th>
          <th className={classes.figure}>Duration</th>
          <th className={classes.figure}>When</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.callId}>
            <td>
              <Link href={`/calls/${row.callId}`} className={classes.plainLink}>
                <Status tone={row.outcome === 'done' ? 'good' : row.outcome === 'waiting' ? 'warn' : 'danger'}>
                  {toWords(row.outcome)}
                </Status>
              </Link>
            </td>
            <td className="soft">
              <VisibleText text={row.caller ?? 'operator'} limit={40} />
            </td>
            <td className="soft">
              <VisibleText text={row.profile ?? ''} limit={40} />
            </td>
            <td className={classes.figure}>{row.durationMs === undefined ? '' : toDuration(row.durationMs)}</td>
            <td className={`${classes.figure} faint`}>
              <RelativeTime at={row.at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
