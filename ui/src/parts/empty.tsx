import type { ReactNode } from 'react';
import classes from './empty.module.css';

interface EmptyProps {
  readonly title: string;
  /** What to do next. */
  readonly children?: ReactNode;
}

/** A place with nothing in it: what is missing, and what to do next. Never centred, never a picture. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div className={classes.empty}>
      <p className={classes.title}>{title}</p>
      {children}
    </div>
  );
}

export function NotFound() {
  return (
    <Empty title="This page does not exist.">
      <p className="soft">
        The address may be mistyped. <a href="/tools">Show all tools</a>.
      </p>
    </Empty>
  );
}
