import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/client.ts';
import { Icon } from '../../parts/icons.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import { SourceChanges, toChangeText } from './source-changes.tsx';
import classes from './source-detail.module.css';
import { SourceOutput } from './source-output.tsx';
import { MEANINGS, type SourceRow, STATES } from './source-types.ts';
import sourcesClasses from './sources.module.css';
import { StopDialog } from './stop-dialog.tsx';
import { ResumeButton } from './stops-in-force.tsx';
import { useSourceEntries } from './use-source-entries.ts';

interface SourceDetailProps {
  readonly name: string;
  /** Absent if the configuration has no source of this name. */
  readonly source: SourceRow | undefined;
}

/** A source beside the list: what it does, what its program says, what changed. */
export function SourceDetail({ name, source }: SourceDetailProps) {
  const { isLoading } = useSourceEntries(); // the entry stands above the changes and the output
  return (
    <section className={classes.detail} aria-label={`Source ${name}`}>
      <header className={classes.head}>
        <h2 className={`name ${classes.title}`}>
          <VisibleText text={name} limit={80} />
        </h2>
        {source !== undefined && <Actions source={source} />}
        <Link href="/sources" className="icon-button" aria-label="Close the detail">
          <Icon name="close" />
        </Link>
      </header>
      {source === undefined ? (
        <p className={classes.body}>The configuration has no source of this name.</p>
      ) : (
        <div className={classes.body}>
          {isLoading ? (
            <SkeletonRows count={6} />
          ) : (
            <>
              <Health source={source} />
              <SourceChanges name={name} />
              <SourceOutput name={name} />
            </>
          )}
        </div>
      )}
    </section>
  );
}

function Actions({ source: { name, stop } }: { readonly source: SourceRow }) {
  const [isStopping, setStopping] = useState(false);
  const target = `source:${name}`;
  return (
    <div className={classes.actions}>
      <Reload name={name} />
      {stop?.target === target ? (
        <ResumeButton target={target} />
      ) : (
        <button type="button" className="button danger" onClick={() => setStopping(true)}>
          Stop …
        </button>
      )}
      {isStopping && <StopDialog target={target} onClose={() => setStopping(false)} />}
    </div>
  );
}

interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

function Reload({ name }: { readonly name: string }) {
  const queries = useQueryClient();
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: () => api<Changes>(`/api/sources/${encodeURIComponent(name)}/reload`, { method: 'POST' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sources'] }),
  });
  return (
    <>
      <span role="status" className={error === null ? 'soft' : sourcesClasses.problem}>
        {error?.message ?? (data === undefined ? '' : toChangeText(data))}
      </span>
      <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
        <Icon name="refresh" size={14} />
        {isPending ? 'Reloading' : 'Reload'}
      </button>
    </>
  );
}

function Health({ source }: { readonly source: SourceRow }) {
  const { name, state, reason, since, toolCount, tokens, runsOn, stop } = source;
  const [tone, word] = STATES[state];
  return (
    <dl className={classes.facts}>
      <dt>State</dt>
      <dd>
        <Status tone={tone}>{word}</Status>
        {since !== undefined && (
          <span className="soft">
            {' '}
            since <RelativeTime at={since} />
          </span>
        )}
        <div className="soft">{MEANINGS[state]}</div>
      </dd>
      {reason !== undefined && (
        <>
          <dt>{state === 'starting' ? 'Waits for' : 'Last error'}</dt>
          <dd className={classes.reason}>
            <VisibleText text={reason} lines="many lines" limit={2000} />
          </dd>
        </>
      )}
      {stop !== undefined && (
        <>
          <dt>Stopped</dt>
          <dd>
            by <VisibleText text={stop.by} limit={80} />, <RelativeTime at={stop.since} />
            {stop.note !== undefined && (
              <div className="soft">
                <VisibleText text={stop.note} limit={300} />
              </div>
            )}
          </dd>
        </>
      )}
      <dt>Tools</dt>
      <dd>
        {toolCount === 0 ? (
          'none'
        ) : (
          <Link href={`/tools?source=${encodeURIComponent(name)}`} className="link">
            {toolCount} tools
          </Link>
        )}
        {toolCount > 0 && <span className="soft">, about {tokens.toLocaleString('en')} tokens</span>}
      </dd>
      <Entry name={name} />
      {runsOn !== undefined && (
        <>
          <dt>Runs on</dt>
          <dd>workers; calls are handed to them</dd>
        </>
      )}
    </dl>
  );
}

/** The entry of the configuration, as it is written. */
function Entry({ name }: { readonly name: string }) {
  const entry = useSourceEntries().entries?.get(name);
  if (entry === undefined) return null;
  return (
    <>
      <dt>Configured</dt>
      <dd>
        <div className={classes.entry}>
          {entry.values.map(({ name: member, text }) => (
            <div key={member}>
              <span className="faint">
                <VisibleText text={member} limit={80} />:
              </span>{' '}
              <VisibleText text={text} limit={400} />
            </div>
          ))}
        </div>
        <div className="soft">
          in <VisibleText text={entry.from} limit={200} />
        </div>
      </dd>
    </>
  );
}
