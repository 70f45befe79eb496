import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import { type SourceRow, STATES } from './source-types.ts';
import classes from './sources.module.css';
import { useSourceEntries } from './use-source-entries.ts';

interface SourceTableProps {
  readonly sources: readonly SourceRow[];
  readonly chosen: string | undefined;
}

/** The sources in the order of the configuration. J and K move, Esc closes the detail. */
export function SourceTable({ sources, chosen }: SourceTableProps) {
  useKeys(sources, chosen);
  const { entries } = useSourceEntries();
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">Source</th>
          <th scope="col" className={classes.type}>
            Type
          </th>
          <th scope="col" className={classes.state}>
            State
          </th>
          <th scope="col" className={classes.number}>
            Tools
          </th>
          <th scope="col" className={classes.tokens}>
            Tokens
          </th>
          <th scope="col" className={classes.wide}>
            Last error, or what it waits for
          </th>
        </tr>
      </thead>
      <tbody>
        {sources.map((source) => (
          <Row
            key={source.name}
            source={source}
            type={entries === undefined ? '' : (entries.get(source.name)?.type ?? 'built in')}
            isChosen={source.name === chosen}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly source: SourceRow;
  readonly type: string;
  readonly isChosen: boolean;
}

function Row({ source, type, isChosen }: RowProps) {
  const { name, state, reason, toolCount, tokens, stop } = source;
  const [tone, word] = STATES[state];
  return (
    <tr aria-selected={isChosen}>
      <td>
        <Link href={addressOf(name)} className={`name ${classes.open}`}>
          <VisibleText text={name} limit={60} />
        </Link>
      </td>
      <td className={`${classes.type} soft`}>{type}</td>
      <td>
        <Status tone={tone}>{word}</Status>
        {stop !== undefined && <span className={classes.stopped}>Stopped</span>}
      </td>
      <td className={classes.number}>{toolCount}</td>
      <td className={`${classes.tokens} soft`}>{tokens.toLocaleString('en')}</td>
      <td className={`${classes.wide} soft`} title={reason?.slice(0, 1000)}>
        {reason !== undefined && <VisibleText text={reason} limit={200} />}
      </td>
    </tr>
  );
}

/** The address of a source. */
function addressOf(name: string): string {
  return `/sources/${encodeURIComponent(name)}`;
}

function useKeys(sources: readonly SourceRow[], chosen: string | undefined): void {
  const [, go] = useLocation();
  useEffect(() => {
    const listen = ({ key, target, ctrlKey, metaKey }: KeyboardEvent): void => {
      const isTyping = target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      if (isTyping || ctrlKey || metaKey || document.querySelector('dialog[open]') !== null) return;
      if (key === 'Escape' && chosen !== undefined) go('/sources');
      const step = { j: 1, k: -1 }[key];
      if (step === undefined) return;
      const at = sources.findIndex(({ name }) => name === chosen);
      const next = sources[at < 0 ? 0 : Math.min(sources.length - 1, Math.max(0, at + step))];
      if (next !== undefined) go(addressOf(next.name));
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [sources, chosen, go]);
}
