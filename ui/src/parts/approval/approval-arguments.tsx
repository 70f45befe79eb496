import { VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { countSuspicious } from '../visible-characters.ts';
import { VisibleText } from '../visible-text.tsx';
import classes from './approval-arguments.module.css';
import type { ApprovalBinding, JsonMembers } from './approval-types.ts';
import { type ArgumentRow, compareWith, toReadablePath, toRows } from './argument-rows.ts';

/** Characters of a long value that are shown at once. */
const PAGE = 20_000;

/** Which values the approver has opened: their paths, and how many characters of each are shown. */
export type Opened = ReadonlyMap<string, number>;

interface ApprovalArgumentsProps {
  readonly given: JsonMembers;
  readonly binding: ApprovalBinding | undefined;
  readonly opened: Opened;
  onOpen(path: string, shown: number): void;
}

/** Every argument, wrapped. Long values are folded and say their size; what differs from the last approved call is marked. */
export function ApprovalArguments({ given, binding, opened, onOpen }: ApprovalArgumentsProps) {
  const previous = binding?.previous;
  const rows = toRows(given, new Set(opened.keys()), previous);
  if (rows.length === 0) return <p className={classes.none}>The call has no arguments.</p>;
  const gone = previous === undefined ? [] : compareWith(given, previous).gone;
  return (
    <dl className={classes.arguments}>
      {rows.map((row) => (
        <Argument key={row.path} row={row} shown={opened.get(row.path) ?? 0} onOpen={onOpen} />
      ))}
      {gone.map(({ path, before }) => (
        <div key={path} className={classes.row} data-change="gone">
          <dt className={classes.label}>
            <VisibleText text={toReadablePath(path)} limit={100} />
            <span className={classes.word}>gone</span>
          </dt>
          <dd className={classes.value}>
            <del className={classes.before}>
              <VisibleText text={before} lines="many lines" limit={300} />
            </del>
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ArgumentProps {
  readonly row: ArgumentRow;
  readonly shown: number;
  onOpen(path: string, shown: number): void;
}

function Argument({ row, shown, onOpen }: ArgumentProps) {
  const { path, name, depth, change } = row;
  return (
    <div className={classes.row} data-change={change?.kind}>
      <dt className={classes.label} style={{ paddingLeft: depth * 12 }}>
        <VisibleText text={name} limit={100} />
        {change !== undefined && <span className={classes.word}>{change.kind}</span>}
      </dt>
      <dd className={classes.value}>
        <Value row={row} shown={shown} onOpen={(count) => onOpen(path, count)} />
        {change?.kind === 'changed' && (
          <div className={classes.before}>
            before: <VisibleText text={change.before} lines="many lines" limit={300} />
          </div>
        )}
      </dd>
    </div>
  );
}

function Value({ row, shown, onOpen }: { row: ArgumentRow; shown: number; onOpen(count: number): void }) {
  const { kind, text, isFolded, size, name } = row;
  if (isFolded)
    return (
      <button type="button" className={classes.fold} aria-expanded="false" onClick={() => onOpen(PAGE)}>
        <span>{size}</span>
        <span className={classes.show}>Open {kind === 'heading' ? 'it' : 'the value'}</span>
        <VisuallyHidden>of {name}</VisuallyHidden>
      </button>
    );
  if (kind === 'heading') return <span className="soft">{text}</span>;
  const isLong = size !== undefined;
  const left = isLong ? text.length - shown : 0;
  const visible = left > 0 ? text.slice(0, shown) : text;
  return (
    <>
      <div className={isLong ? classes.long : undefined} data-kind={kind}>
        {kind === 'text' && text === '' ? (
          <span className="soft">empty text</span>
        ) : (
          <VisibleText text={visible} lines="many lines" limit={Number.POSITIVE_INFINITY} />
        )}
      </div>
      <Suspicious text={visible} />
      {left > 0 && (
        <button type="button" className={classes.fold} onClick={() => onOpen(shown + PAGE)}>
          {left.toLocaleString('en')} characters more
          <span className={classes.show}>Open the next {Math.min(PAGE, left).toLocaleString('en')}</span>
        </button>
      )}
    </>
  );
}

/** Says in words which suspicious characters a value has. */
function Suspicious({ text }: { readonly text: string }) {
  const [counts] = [countSuspicious(text)];
  if (counts.size === 0) return null;
  const words = [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`));
  return <div className={classes.suspicious}>Suspicious characters: {words.join(', ')}</div>;
}

/** The values that are still folded or not shown to their end. */
function foldedRows(given: JsonMembers, opened: Opened): readonly ArgumentRow[] {
  return toRows(given, new Set(opened.keys()), undefined).filter(
    ({ path, isFolded, size, kind, text }) =>
      isFolded || (size !== undefined && kind !== 'heading' && (opened.get(path) ?? 0) < text.length),
  );
}

/** Keeps which values of a request are open. */
export function useOpened(given: JsonMembers): {
  readonly opened: Opened;
  readonly folded: readonly ArgumentRow[];
  open(path: string, shown: number): void;
  openNext(): void;
} {
  const [opened, setOpened] = useState<Opened>(new Map());
  const open = (path: string, shown: number) => setOpened((before) => new Map(before).set(path, shown));
  const folded = foldedRows(given, opened);
  return {
    opened,
    folded,
    open,
    openNext() {
      for (const { path } of folded) open(path, (opened.get(path) ?? 0) + PAGE);
    },
  };
}
