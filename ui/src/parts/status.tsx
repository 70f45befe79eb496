import classes from './status.module.css';
import type { Tone } from './tone.ts';

export type { Tone };

const SHAPES: Readonly<Record<Tone, string>> = {
  good: 'M3.5 8.5l3 3 6-7',
  danger: 'M4.5 4.5l7 7m0-7l-7 7',
  warn: 'M8 3.5v5.5m0 2.8v.2',
  active: 'M8 3a5 5 0 1 1-5 5',
  quiet: 'M4 8h8',
};

interface StatusProps {
  readonly tone: Tone;
  readonly children: string;
}

/** A state, by icon and word. */
export function Status({ tone, children }: StatusProps) {
  return (
    <span className={classes.status} data-tone={tone}>
      <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
        <path d={SHAPES[tone]} fill="none" stroke="currentColor" strokeWidth="1.75" strokeLinecap="round" />
      </svg>
      {children}
    </span>
  );
}
