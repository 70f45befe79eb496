import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { Icon } from '../../parts/icons.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import sourcesClasses from './sources.module.css';
import classes from './stop-dialog.module.css';

/** The emergency stops: of what, by whom, since when. */
export function StopsInForce() {
  const { data } = useQuery({
    queryKey: ['stops'],
    queryFn: ({ signal }) => api<Answer<'/api/stops'>>('/api/stops', { signal }),
  });
  if (data === undefined || data.stops.length === 0) return null;
  return (
    <ul className={classes.stops} aria-label="Stops in force">
      {data.stops.map(({ target, by, since, note }) => (
        <li key={target}>
          <span className={classes.stopIcon}>
            <Icon name="stop" size={14} />
          </span>
          <span className="name">
            <VisibleText text={target} limit={120} />
          </span>
          <span className={classes.who}>
            stopped by <VisibleText text={by} limit={80} />, <RelativeTime at={since} />
            {note !== undefined && (
              <>
                : <VisibleText text={note} limit={200} />
              </>
            )}
          </span>
          <ResumeButton target={target} />
        </li>
      ))}
    </ul>
  );
}

/** Ends a stop: calls run again. */
export function ResumeButton({ target }: { readonly target: string }) {
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api('/api/stops', { method: 'DELETE', query: { target } }),
    onSettled: () => Promise.all([['stops'], ['sources']].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
  return (
    <>
      {error !== null && <span className={sourcesClasses.problem}>{error.message}</span>}
      <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
        Resume
      </button>
    </>
  );
}
