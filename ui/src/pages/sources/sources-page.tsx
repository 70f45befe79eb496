import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { CopyLine } from '../../parts/copy-line.tsx';
import { CouldNotLoad } from '../../parts/could-not-load.tsx';
import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { SourceDetail } from './source-detail.tsx';
import { SourceTable } from './source-table.tsx';
import type { SourceRow } from './source-types.ts';
import classes from './sources.module.css';
import { StopDialog } from './stop-dialog.tsx';
import { StopsInForce } from './stops-in-force.tsx';

/** Where tools come from: health, output and changes of each source, and the stops in force. */
export function SourcesPage({ id }: { readonly id: string | undefined }) {
  const [isStopping, setStopping] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['sources'],
    queryFn: ({ signal }) => api<Answer<'/api/sources'>>('/api/sources', { signal }),
  });
  const open = data?.sources.find(({ name }) => name === id);
  return (
    <>
      <PageHeader title="Sources" detail={id}>
        {data !== undefined && <span className={`soft ${classes.summary}`}>{summarize(data.sources)}</span>}
        <button type="button" className="button danger" onClick={() => setStopping(true)}>
          Stop calls …
        </button>
      </PageHeader>
      <StopsInForce />
      <div className={classes.split} data-docked={id !== undefined}>
        <div className={classes.main}>
          {data === undefined && error === null && <SkeletonRows count={8} />}
          {error !== null && <CouldNotLoad what="The sources" message={error.message} onRetry={() => void refetch()} />}
          {data !== undefined && data.sources.length > 0 && <SourceTable sources={data.sources} chosen={id} />}
          {data?.sources.every(isEmpty) && <NoSources />}
        </div>
        {id !== undefined && data !== undefined && <SourceDetail key={id} name={id} source={open} />}
      </div>
      {isStopping && <StopDialog onClose={() => setStopping(false)} />}
    </>
  );
}

/** True for a source that every crib has, as long as it brings nothing. */
function isEmpty({ state, toolCount }: SourceRow): boolean {
  return state === 'ready' && toolCount === 0;
}

function NoSources() {
  return (
    <Empty title="No source brings tools yet.">
      <p className="soft">A source brings tools: an MCP server, an OpenAPI document, a folder of specs or functions.</p>
      <CopyLine text="toolcrib add mcp NAME -- npx -y @modelcontextprotocol/server-memory" />
    </Empty>
  );
}

function summarize(sources: readonly SourceRow[]): string {
  const count = (...states: readonly SourceRow['state'][]) =>
    sources.filter(({ state }) => states.includes(state)).length;
  const parts = [
    `${count('ready')} ready`,
    count('starting') > 0 && `${count('starting')} starting`,
    count('stale') > 0 && `${count('stale')} stale`,
    count('failed', 'down') > 0 && `${count('failed', 'down')} failed`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}
