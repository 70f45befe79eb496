import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { CouldNotLoad } from '../../parts/could-not-load.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './definition.module.css';
import toolClasses from './tool.module.css';

type History = Answer<'/api/tools/{name}/history'>;
type Version = History['versions'][number];
type Change = Version['changes'][number];

const TONES: Readonly<Record<Change['kind'], readonly [Tone, string]>> = {
  added: ['good', 'added'],
  removed: ['danger', 'removed'],
  narrowed: ['warn', 'narrowed'],
  widened: ['good', 'widened'],
  words: ['quiet', 'words changed'],
  changed: ['warn', 'changed'],
};

/** How the definition changed, field by field, and what a change touches. */
export function HistoryTab({ name }: { readonly name: string }) {
  const { data, error } = useQuery({
    queryKey: ['tool-history', name],
    queryFn: ({ signal }) => api<History>(`/api/tools/${encodeURIComponent(name)}/history`, { signal }),
  });
  if (error !== null && data === undefined) return <CouldNotLoad what="The history" message={error.message} />;
  if (data === undefined) return <div className={toolClasses.waitingLines} aria-hidden="true" />;
  return (
    <>
      <Touches touches={data.touches} />
      {data.versions.map((version, place) => (
        <VersionSection
          key={`${version.hash} ${version.firstSeenAt}`}
          version={version}
          isFirst={place === data.versions.length - 1}
        />
      ))}
      {data.versions.length === 0 && (
        <p className="soft">No version has been recorded yet. The server records one when it lists the tool.</p>
      )}
    </>
  );
}

function Touches({ touches }: { readonly touches: History['touches'] }) {
  const { profiles, keys, calls7Days, callers7Days } = touches;
  const facts = [
    ['profiles', profiles.join(', ') || 'none'],
    ['keys', keys.map(({ name }) => name).join(', ') || 'none'],
    ['calls of 7 days', calls7Days.toLocaleString('en')],
    ['callers of 7 days', callers7Days.join(', ') || 'none'],
  ] as const;
  return (
    <>
      <h3 className={toolClasses.heading}>A change touches</h3>
      <dl className={classes.touches}>
        {facts.map(([word, value]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>
              <VisibleText text={value} limit={300} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function VersionSection({ version, isFirst }: { readonly version: Version; readonly isFirst: boolean }) {
  const { hash, firstSeenAt, lastSeenAt, source, current, changes } = version;
  return (
    <section className={classes.version}>
      <h3 className={toolClasses.heading}>
        <span className="name">{hash.slice(0, 12)}</span>
        {current && <Status tone="good">current</Status>}
        <span className="faint">
          from <Link href={`/sources/${encodeURIComponent(source)}`}>{source}</Link>, seen{' '}
          <RelativeTime at={firstSeenAt} />
          {current ? '' : ', last '}
          {!current && <RelativeTime at={lastSeenAt} />}
        </span>
      </h3>
      {changes.length === 0 && (
        <p className="soft">{isFirst ? 'The first version that was seen.' : 'Nothing changed.'}</p>
      )}
      {changes.map((change) => (
        <div key={`${change.path} ${change.says}`} className={classes.change}>
          <Status tone={TONES[change.kind][0]}>{TONES[change.kind][1]}</Status>
          <div>
            <VisibleText text={change.says} limit={400} />{' '}
            <span className="name faint">
              <VisibleText text={change.path} limit={160} />
            </span>
            {(change.before !== undefined || change.after !== undefined) && <Difference change={change} />}
          </div>
        </div>
      ))}
    </section>
  );
}

function Difference({ change: { before, after } }: { readonly change: Change }) {
  return (
    <div className={classes.difference}>
      {before !== undefined && (
        <del>
          <VisibleText text={toText(before)} lines="many lines" limit={800} />
        </del>
      )}
      {after !== undefined && (
        <ins>
          <VisibleText text={toText(after)} lines="many lines" limit={800} />
        </ins>
      )}
    </div>
  );
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
