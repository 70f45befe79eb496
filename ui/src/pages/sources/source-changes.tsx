import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { CHANGES_KEY, type SeenChange } from '../../frame/use-event-refresh.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import { STATES } from './source-types.ts';
import classes from './sources.module.css';

/** What changed at a source since the console was opened: its state, and its tools. */
export function SourceChanges({ name }: { readonly name: string }) {
  const { data: seen = [] } = useQuery<readonly SeenChange[]>({
    queryKey: CHANGES_KEY,
    queryFn: () => [],
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data: tools } = useQuery({
    queryKey: ['tools', 'of source', name],
    queryFn: ({ signal }) => api<Answer<'/api/tools'>>('/api/tools', { query: { source: name, limit: 1000 }, signal }),
    select: (answer) => new Set(answer.tools.map((tool) => tool.name)),
  });
  const own = seen.flatMap((change): readonly SeenChange[] => {
    if ('source' in change) return change.source === name ? [change] : [];
    const mine = (names: readonly string[] = []) => names.filter((tool) => tools?.has(tool) === true);
    const [added, changed] = [mine(change.added), mine(change.changed)];
    return added.length + changed.length === 0 ? [] : [{ at: change.at, added, changed, removed: [] }];
  });
  return (
    <section>
      <h3 className={classes.section}>Changes</h3>
      {own.length === 0 ? (
        <p className={classes.quiet}>None since the console was opened.</p>
      ) : (
        <ol className={classes.changes}>
          {own.slice(0, 20).map((change) => (
            <li key={`${change.at} ${JSON.stringify(change)}`}>
              <span className={classes.when}>
                <RelativeTime at={change.at} />
              </span>
              {'source' in change ? (
                <span>
                  <Status tone={STATES[change.state][0]}>{STATES[change.state][1]}</Status>{' '}
                  {change.reason !== undefined && (
                    <span className="soft">
                      <VisibleText text={change.reason} limit={200} />
                    </span>
                  )}
                </span>
              ) : (
                <span>{toChangeText(change)}</span>
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
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
