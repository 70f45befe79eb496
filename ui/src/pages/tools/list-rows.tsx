import { useMutation, useQueryClient } from '@tanstack/react-query';
import { memo } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/client.ts';
import { Danger } from '../../parts/danger.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './list-rows.module.css';
import type { ToolRow } from './tool-rows.ts';
import toolsClasses from './tools.module.css';
import type { LeftOut, SourceRow } from './use-tools.ts';

export const ROW_HEIGHT = 32;
/** What was found has a second line: why. */
export const HIT_HEIGHT = 52;

/** A line of the list. */
export type ListItem =
  | { readonly kind: 'tool'; readonly tool: ToolRow; readonly hit?: { readonly score: number; readonly why: string } }
  | { readonly kind: 'source'; readonly source: SourceRow }
  | { readonly kind: 'left out'; readonly entry: LeftOut };

interface ListRowProps {
  readonly item: ListItem;
  readonly index: number;
  readonly isChosen: boolean;
}

/** One line of the list: a tool, a source in trouble, or an entry that is not a tool. */
export const ListRow = memo(function ListRow({ item, index, isChosen }: ListRowProps) {
  const shared = { 'aria-rowindex': index + 2, 'data-chosen': isChosen, className: classes.row } as const;
  if (item.kind === 'source')
    return (
      <tr {...shared} data-kind="source">
        <SourceCells source={item.source} />
      </tr>
    );
  if (item.kind === 'left out')
    return (
      <tr {...shared} data-kind="left-out">
        <LeftOutCells entry={item.entry} />
      </tr>
    );
  return (
    <tr {...shared} data-search={item.hit !== undefined} data-use={item.tool.calls30Days !== undefined}>
      <ToolCells tool={item.tool} hit={item.hit} />
    </tr>
  );
});

interface ToolCellsProps {
  readonly tool: ToolRow;
  readonly hit: { readonly score: number; readonly why: string } | undefined;
}

function ToolCells({ tool, hit }: ToolCellsProps) {
  return (
    <>
      {hit !== undefined && (
        <td className={classes.score} title={`Score ${hit.score.toFixed(3)} of 1`}>
          <meter min={0} max={1} value={hit.score} aria-label="Score" />
          {hit.score.toFixed(2)}
        </td>
      )}
      {hit === undefined ? (
        <>
          <td className={classes.name}>
            <ToolLink name={tool.name} />
          </td>
          <td className={classes.says}>
            <FirstLine tool={tool} />
          </td>
        </>
      ) : (
        <td>
          <div className={classes.found}>
            <span className={classes.name}>
              <ToolLink name={tool.name} />
            </span>
            <span className={classes.foundSays}>
              <FirstLine tool={tool} />
            </span>
          </div>
          <div className={classes.why} title={hit.why.slice(0, 500)}>
            <VisibleText text={hit.why} limit={240} />
          </div>
        </td>
      )}
      <td>
        <Danger danger={tool.danger} />
      </td>
      <td className={classes.source}>
        <VisibleText text={tool.source} limit={40} />
      </td>
      <td data-look="figure">{tool.tokens.toLocaleString('en')}</td>
      {hit === undefined && tool.calls30Days !== undefined && <UseCells tool={tool} />}
    </>
  );
}

function ToolLink({ name }: { readonly name: string }) {
  return (
    <Link href={`/tools/${encodeURIComponent(name)}`} className={classes.link}>
      <VisibleText text={name} limit={100} />
    </Link>
  );
}

/** Why a tool cannot be called or may be out of date, then what it does. */
function FirstLine({ tool: { stopped, status, since, description } }: { readonly tool: ToolRow }) {
  const state = stopped === true ? 'stopped' : status;
  return (
    <>
      {state !== 'ready' && <Status tone={state === 'stale' ? 'warn' : 'danger'}>{state}</Status>}{' '}
      {since !== undefined && (
        <>
          since <RelativeTime at={since} />{' '}
        </>
      )}
      <VisibleText text={description.split('\n')[0] ?? ''} limit={200} />
    </>
  );
}

/** How much the tool is used: what costs tokens and is never called shows. */
function UseCells({ tool: { calls30Days, lastUsedAt } }: { readonly tool: ToolRow }) {
  return (
    <>
      <td data-look="figure" className={calls30Days === 0 ? 'faint' : undefined}>
        {calls30Days?.toLocaleString('en')}
      </td>
      <td data-look="figure" className="faint" title={lastUsedAt === undefined ? 'Not called in 30 days' : undefined}>
        {lastUsedAt === undefined ? '–' : <RelativeTime at={lastUsedAt} />}
      </td>
    </>
  );
}

const TONES: Readonly<Record<SourceRow['state'], Tone>> = {
  ready: 'warn',
  stale: 'warn',
  starting: 'active',
  down: 'danger',
  failed: 'danger',
};

function SourceCells({ source }: { readonly source: SourceRow }) {
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api(`/api/sources/${encodeURIComponent(source.name)}/reload`, { method: 'POST' }),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['sources'] });
      void client.invalidateQueries({ queryKey: ['tools'] });
    },
  });
  const isStarting = source.state === 'starting';
  return (
    <>
      <td className={classes.name}>
        <Link href={`/sources/${encodeURIComponent(source.name)}`} className={classes.link}>
          <VisibleText text={source.name} limit={60} />
        </Link>
      </td>
      <td className={classes.says}>
        <Status tone={TONES[source.state]}>{source.state === 'ready' ? 'left out' : `source ${source.state}`}</Status>{' '}
        {source.since !== undefined && (
          <>
            since <RelativeTime at={source.since} />{' '}
          </>
        )}
        <VisibleText text={error?.message ?? source.reason ?? ''} limit={400} />
      </td>
      <td>
        {!isStarting && source.state !== 'ready' && (
          <button type="button" className={toolsClasses.inline} disabled={isPending} onClick={() => mutate()}>
            {isPending ? 'Retrying …' : 'Retry'}
          </button>
        )}
      </td>
    </>
  );
}

function LeftOutCells({ entry }: { readonly entry: LeftOut }) {
  return (
    <>
      <td className={`${classes.name} soft`}>
        <VisibleText text={entry.name} limit={100} />
      </td>
      <td className={classes.says} title={entry.reason.slice(0, 1000)}>
        <Status tone="quiet">{entry.why}</Status> <VisibleText text={entry.reason} limit={400} />
      </td>
      <td className="soft">
        <VisibleText text={entry.source} limit={40} />
      </td>
    </>
  );
}
