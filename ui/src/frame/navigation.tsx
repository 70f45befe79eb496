import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { type PageName, useSession } from '../api/session.ts';
import classes from './navigation.module.css';
import { type Counts, useCounts } from './use-counts.ts';

const TITLES: Readonly<Record<PageName, string>> = {
  tools: 'Tools',
  approvals: 'Approvals',
  calls: 'Calls',
  sources: 'Sources',
};

const SHAPES: Readonly<Record<PageName, string>> = {
  tools: 'M2.5 4h11M2.5 8h11M2.5 12h6.5M12.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  approvals: 'M2.5 3.5h11v9h-11zM5.5 8l2 2 3.5-4',
  calls: 'M2.5 4.5h5M4.5 8h7M7.5 11.5h6',
  sources:
    'M13 4c0 1.1-2.2 2-5 2S3 5.1 3 4s2.2-2 5-2 5 .9 5 2zM3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2',
};

/** The pages that the caller may see, with what waits there. */
export function Navigation() {
  const { pages } = useSession();
  const [location] = useLocation();
  const counts = useCounts();
  useTitle(
    pages.find((name) => isAt(location, name)),
    counts.approvals,
  );
  return (
    <nav aria-label="Pages" className={classes.nav}>
      {pages.map((name) => (
        <Link
          key={name}
          href={`/${name}`}
          className={classes.page}
          aria-current={isAt(location, name) ? 'page' : undefined}
        >
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" className={classes.icon}>
            <path d={SHAPES[name]} />
          </svg>
          <span className={classes.title}>{TITLES[name]}</span>
          <Count name={name} counts={counts} />
        </Link>
      ))}
    </nav>
  );
}

function Count({ name, counts }: { readonly name: PageName; readonly counts: Counts }) {
  const count = counts[name];
  if (count === undefined || (count === 0 && name !== 'tools')) return null;
  if (name === 'tools') return <span className={classes.count}>{count.toLocaleString('en')}</span>;
  const [tone, word] = name === 'approvals' ? ['waiting', 'waiting'] : ['failed', 'failed'];
  return (
    <span className={classes.badge} data-tone={tone} title={`${count} ${word}`}>
      {count}
      <span className={classes.word}> {word}</span>
    </span>
  );
}

function isAt(location: string, name: string): boolean {
  return location === `/${name}` || location.startsWith(`/${name}/`);
}

/** Shows the number of waiting approvals in the title, which a tab in the background shows as well. */
function useTitle(page: PageName | undefined, waiting: number | undefined): void {
  useEffect(() => {
    const title = page === undefined ? 'Toolcrib' : `${TITLES[page]} · Toolcrib`;
    document.title = waiting === undefined || waiting === 0 ? title : `(${waiting}) ${title}`;
  }, [page, waiting]);
}
