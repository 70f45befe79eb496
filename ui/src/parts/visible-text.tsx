import { memo } from 'react';
import { toPieces } from './visible-characters.ts';
import classes from './visible-text.module.css';

interface VisibleTextProps {
  readonly text: string;
  /** A name is shown on one line; a value keeps its line breaks. */
  readonly lines?: 'one line' | 'many lines';
  /** Longer texts are cut, and their length is said. */
  readonly limit?: number;
}

/** A text that others wrote: never markup, and every character that a reader could not see or would misread is marked. */
export const VisibleText = memo(function VisibleText({ text, lines = 'one line', limit = 500 }: VisibleTextProps) {
  const shown = text.length > limit ? text.slice(0, limit).toWellFormed() : text;
  return (
    <bdi className={lines === 'one line' ? undefined : classes.lines}>
      {toPieces(shown, lines).map((piece, place) =>
        piece.kind === 'text' ? (
          piece.text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text have no other identity
          <mark key={place} className={classes.mark} title={`${piece.name} (${piece.code})`}>
            {piece.name === 'letter of another script' ? `${piece.text} ${piece.code}` : piece.code}
          </mark>
        ),
      )}
      {text.length > limit && <span className="soft"> … ({text.length.toLocaleString('en')} characters)</span>}
    </bdi>
  );
});
