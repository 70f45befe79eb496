import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link, useSearchParams } from 'wouter';
import { ApiError, api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { CopyLine } from '../../parts/copy-line.tsx';
import { CouldNotLoad } from '../../parts/could-not-load.tsx';
import { Empty } from '../../parts/empty.tsx';
import { HIDDEN_NAME } from '../../parts/hidden-name.ts';
import { useServerEvents } from '../../parts/live-events.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { DefinitionTab } from './definition-tab.tsx';
import { ExplainTab } from './explain-tab.tsx';
import { HistoryTab } from './history-tab.tsx';
import { RunTab } from './run-tab.tsx';
import classes from './tool.module.css';
import { ToolFacts } from './tool-facts.tsx';
import type { ToolDetail } from './tool-types.ts';

const TABS = [
  ['run', 'Run'],
  ['definition', 'Definition'],
  ['history', 'History'],
  ['explain', 'Access and limits'],
] as const;

/** What the server tells operators alone. */
const OF_OPERATORS: readonly string[] = ['history', 'explain'];

type Tab = (typeof TABS)[number][0];

/** One tool: what it is, how it is run, how it changed, and which layer limits it. */
export function ToolPage({ name }: { readonly name: string }) {
  const { data, error } = useQuery({
    queryKey: ['tool', name],
    enabled: name !== HIDDEN_NAME,
    queryFn: ({ signal }) => api<ToolDetail>(`/api/tools/${encodeURIComponent(name)}`, { signal }),
  });
  const client = useQueryClient();
  useServerEvents(['tools-changed', 'sources', 'stops'], () => {
    void client.invalidateQueries({ queryKey: ['tool', name] });
    void client.invalidateQueries({ queryKey: ['tool-history', name] });
  });
  return (
    <>
      <PageHeader title="Tools" detail={name.length > 120 ? `${name.slice(0, 120)}…` : name} />
      {data !== undefined && <LoadedTool key={name} tool={data} obstacle={whyGone(error)} />}
      {data === undefined && error !== null && (
        <CouldNotLoad what="This tool" message={error.message}>
          <Link href="/tools">Show all tools</Link>
        </CouldNotLoad>
      )}
      {name === HIDDEN_NAME && <HiddenTool />}
      {data === undefined && error === null && name !== HIDDEN_NAME && <Skeleton />}
    </>
  );
}

function HiddenTool() {
  return (
    <Empty title="A tool of this name has no page.">
      <p className="soft">
        The server counts tools at its address, <span className="name">/api/tools/facets</span>. You can call the tool,
        with the command or by REST. To give it a page, change its name, such as by a prefix for its source.{' '}
        <Link href="/tools">Show all tools</Link>
      </p>
      <CopyLine text="toolcrib call facets --args '{}'" />
    </Empty>
  );
}

function Skeleton() {
  return (
    <div className={classes.skeleton} aria-hidden="true">
      <div />
      <div />
      <div />
    </div>
  );
}

/** What the server said of a tool that was there when the page was opened. */
function whyGone(error: Error | null): string | undefined {
  return error instanceof ApiError && error.status === 404 ? error.message : undefined;
}

interface LoadedToolProps {
  readonly tool: ToolDetail;
  /** Why the tool cannot be run now; undefined if it can. */
  readonly obstacle: string | undefined;
}

function LoadedTool({ tool, obstacle }: LoadedToolProps) {
  const [query, setQuery] = useSearchParams();
  const { role } = useSession();
  const tabs = TABS.filter(([id]) => role === 'operator' || !OF_OPERATORS.includes(id));
  const tab = tabs.find(([id]) => id === query.get('tab'))?.[0] ?? 'run';
  const choose = (next: Tab) => setQuery(next === 'run' ? {} : { tab: next }, { replace: true, state: history.state });
  const initial = useMemo(() => initialArguments(query.get('arguments')), [query]);
  return (
    <div className={classes.page}>
      <ToolFacts tool={tool} />
      <div className={classes.tabs} role="tablist" aria-label="Views of the tool">
        {tabs.map(([id, title]) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-selected={tab === id}
            aria-controls={`panel-${id}`}
            className={classes.tab}
            onClick={() => choose(id)}
          >
            {title}
          </button>
        ))}
      </div>
      {/* The form stays while other tabs are read: what was typed is kept. */}
      <div role="tabpanel" id="panel-run" aria-labelledby="tab-run" hidden={tab !== 'run'} className={classes.panel}>
        <RunTab tool={tool} initial={initial} obstacle={obstacle} />
      </div>
      {tab !== 'run' && (
        <div role="tabpanel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`} className={classes.reading}>
          {tab === 'definition' && <DefinitionTab tool={tool} />}
          {tab === 'history' && <HistoryTab name={tool.name} />}
          {tab === 'explain' && <ExplainTab name={tool.name} />}
        </div>
      )}
    </div>
  );
}

const LONGEST_ARGUMENTS = 20_000;

/** The arguments in the address, such as those of a recorded call to be sent again. */
function initialArguments(given: string | null): string {
  return given === null || given.length > LONGEST_ARGUMENTS ? '{}' : given;
}
