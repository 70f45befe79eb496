import { useMutation, useQueryClient } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './call-detail.module.css';
import type { CallFilters } from './call-filters.ts';
import type { CallRow } from './call-types.ts';

/** Whose calls to stop. */
type Target = { readonly kind: 'caller' | 'conversation'; readonly id: string };

/** Stops the calls of the caller or the conversation that the log is filtered by. */
export const StopMenu = memo(function StopMenu({ filters }: { readonly filters: CallFilters }) {
  return <StopButtons {...filters} />;
});

/** Stops the calls of the caller or the conversation of this call. */
export function CallStops({ row }: { readonly row: CallRow }) {
  return (
    <div className={classes.actions}>
      <StopButtons {...row} />
    </div>
  );
}

function StopButtons({ caller, conversation }: { readonly caller?: string; readonly conversation?: string }) {
  const [target, setTarget] = useState<Target | undefined>(undefined);
  const { role } = useSession();
  return (
    <>
      {caller !== undefined && role === 'operator' && (
        <button type="button" className="button" onClick={() => setTarget({ kind: 'caller', id: caller })}>
          Stop this caller …
        </button>
      )}
      {conversation !== undefined && (
        <button type="button" className="button" onClick={() => setTarget({ kind: 'conversation', id: conversation })}>
          Cancel this conversation …
        </button>
      )}
      {target !== undefined && <StopDialog target={target} onClose={() => setTarget(undefined)} />}
    </>
  );
}

interface Stopped {
  readonly ended?: number;
  readonly cancelled?: number;
  readonly result?: string;
}

function stopCalls({ kind, id }: Target): Promise<Stopped> {
  return kind === 'caller'
    ? api('/api/stops', {
        method: 'POST',
        body: { target: `caller:${id}`, cancel: true, note: 'stopped in the console' },
      })
    : api('/api/calls/cancel', { method: 'POST', body: { conversation: id } });
}

/** Says exactly what will be stopped before it is. */
function StopDialog({ target, onClose }: { readonly target: Target; onClose(): void }) {
  const queries = useQueryClient();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: stopCalls,
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['stops'] }),
  });
  const name = (
    <strong>
      <VisibleText text={target.id} limit={100} />
    </strong>
  );
  const count = data?.ended ?? data?.cancelled ?? 0;
  return (
    <Dialog onClose={onClose} title={target.kind === 'caller' ? 'Stop a caller' : 'Cancel a conversation'}>
      {target.kind === 'caller' ? (
        <p>
          All calls of {name} in flight are cancelled, and new ones are refused until an operator resumes the caller on
          the page Sources.
        </p>
      ) : (
        <p>All calls of the conversation {name} in flight are cancelled. New calls of it may run.</p>
      )}
      {error !== null && (
        <p role="alert">
          <Status tone="danger">Not stopped</Status> <VisibleText text={error.message} />
        </p>
      )}
      {data !== undefined && (
        <p role="status">
          <Status tone="good">{data.result === 'already' ? 'Was stopped before' : 'Stopped'}</Status>{' '}
          {count === 1 ? '1 call was cancelled.' : `${count} calls were cancelled.`}
        </p>
      )}
      <div className={classes.actions}>
        {data === undefined && (
          <button type="button" className="button danger" disabled={isPending} onClick={() => mutate(target)}>
            {target.kind === 'caller' ? 'Stop the caller' : 'Cancel the calls'}
          </button>
        )}
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
