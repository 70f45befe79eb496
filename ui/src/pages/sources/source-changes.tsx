import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { CouldNotLoad } from '../../parts/could-not-load.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './source-detail.module.css';
import { STATES } from './source-types.ts';

type Changes = Answer<'/api/sources/{id}/changes'>;

/** The changes of a source that the server saw: its states, and its tools. */
export function SourceChanges({ name }: { readonly name: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['sources', 'changes', name],
    queryFn: ({ signal }) => api<Changes>(`/api/sources/${encodeURIComponent(name)}/changes`, { signal }),
  });
  return (
    <section>
      <h3 className={classes.section}>Changes</h3>
      {data !== undefined ? (
        <ChangeList {...data} />
      ) : error === null ? (
        <div className={classes.pending} role="status" aria-label="Loading" />
      ) : (
        <CouldNotLoad what="The changes" message={error.message} onRetry={() => void refetch()} />
      )}
    </section>
  );
}

function ChangeList({ since, changes }: Changes) {
  if (since === undefined) return <p className={classes.quiet}>This server records no changes.</p>;
  if (changes.length === 0)
    return (
      <p className={classes.quiet}>
        None since the server started, <RelativeTime at={since} />.
      </p>
    );
  return (
    <ol className={classes.changes}>
      {changes.map((change, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: several changes can have the same time, and rows have no state
        <li key={`${change.at} ${index}`}>
          <span className={classes.when}>
            <RelativeTime at={change.at} />
          </span>
          {change.state === undefined ? (
            <ToolChange {...change} />
          ) : (
            <span>
              <Status tone={STATES[change.state][0]}>{STATES[change.state][1]}</Status>{' '}
              {change.reason !== undefined && (
                <span className="soft">
                  <VisibleText text={change.reason} limit={200} />
                </span>
              )}
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

/** The names of tools that changed, as links to those that can still be there. */
function ToolChange({ added = [], removed = [], changed = [] }: Changes['changes'][number]) {
  return (
    <span>
      {toChangeText({ added, removed, changed })}
      <span className={classes.names}>
        {[...added, ...changed].map((tool) => (
          <Link key={tool} href={`/tools/${encodeURIComponent(tool)}`} className="name">
            <VisibleText text={tool} limit={80} />
          </Link>
        ))}
        {removed.map((tool) => (
          <s key={tool} className="name">
            <VisibleText text={tool} limit={80} />
          </s>
        ))}
      </span>
    </span>
  );
}

/** The changes of a list of tools in words: 2 added, 1 removed. */
export function toChangeText(changes: {
  readonly added?: readonly string[] | undefined;
  readonly removed?: readonly string[] | undefined;
  readonly changed?: readonly string[] | undefined;
}): string {
  const parts = (['added', 'removed', 'changed'] as const).flatMap((word) => {
    const names = changes[word] ?? [];
    return names.length === 0 ? [] : [`${names.length} ${word}`];
  });
  return parts.length === 0 ? 'Nothing changed' : parts.join(', ');
}
