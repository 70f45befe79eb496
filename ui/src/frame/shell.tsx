import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import classes from './shell.module.css';

const PAGES = [
  { path: '/tools', title: 'Tools' },
  { path: '/approvals', title: 'Approvals' },
  { path: '/calls', title: 'Calls' },
  { path: '/sources', title: 'Sources' },
];

/** The frame of every page: navigation on the left, the page on the right. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [location] = useLocation();
  return (
    <div className={classes.shell}>
      <nav className={classes.side} aria-label="Pages">
        <div className={classes.brand}>
          <img src="/assets/icon.svg" alt="" width={18} height={18} />
          Toolcrib
        </div>
        {PAGES.map(({ path, title }) => (
          <Link
            key={path}
            href={path}
            className={classes.page}
            aria-current={isAt(location, path) ? 'page' : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      <main className={classes.main}>{children}</main>
    </div>
  );
}

function isAt(location: string, path: string): boolean {
  return location === path || location.startsWith(`${path}/`);
}
