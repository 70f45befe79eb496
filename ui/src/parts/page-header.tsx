import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import classes from './page-header.module.css';

interface PageHeaderProps {
  readonly title: string;
  /** The thing that is open, as the last step of the path. */
  readonly detail?: string | undefined;
  /** Actions of the page, on the right. */
  readonly children?: ReactNode;
}

/** The first line of a page: where one is, and what can be done here. */
export function PageHeader({ title, detail, children }: PageHeaderProps) {
  const [location] = useLocation();
  return (
    <header className={classes.header}>
      <h1 className={classes.path}>
        {detail === undefined ? (
          title
        ) : (
          <>
            <Link href={`/${location.split('/')[1] ?? ''}`} className={classes.step}>
              {title}
            </Link>
            <span className="faint">/</span>
            <span className="name">{detail}</span>
          </>
        )}
      </h1>
      <div className={classes.actions}>{children}</div>
    </header>
  );
}
