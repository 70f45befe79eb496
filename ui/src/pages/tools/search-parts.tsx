import type { KeyboardEvent, Ref } from 'react';
import { CopyLine } from '../../parts/copy-line.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './tools.module.css';
import type { SearchAnswer } from './use-tools.ts';

interface SearchFieldProps {
  readonly ref: Ref<HTMLInputElement>;
  readonly words: string;
  onWords(words: string): void;
  onKeyDown(event: KeyboardEvent): void;
}

/** Where a task is described in plain words. */
export function SearchField({ ref, words, onWords, onKeyDown }: SearchFieldProps) {
  return (
    <div className={classes.search}>
      <Icon name="search" />
      <input
        ref={ref}
        type="search"
        className={classes.field}
        value={words}
        placeholder="Describe what you want to do, such as: send an invoice again"
        aria-label="Search tools by meaning"
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => onWords(target.value)}
        onKeyDown={onKeyDown}
      />
      {words === '' ? (
        <kbd className={classes.key}>/</kbd>
      ) : (
        <button type="button" className={classes.clear} aria-label="Clear the search" onClick={() => onWords('')}>
          <Icon name="close" size={14} />
        </button>
      )}
    </div>
  );
}

/** How sure the search is. */
export function Confidence({ answer, found }: { readonly answer: SearchAnswer; readonly found: number }) {
  const isHigh = answer.confidence === 'high';
  if (found === 0) return null; // the place of the list says it
  return (
    <p className={classes.note} role="status">
      <Status tone={isHigh ? 'good' : 'warn'}>{isHigh ? 'High confidence' : 'Low confidence'}</Status>
      <span className="soft">
        {found === 1 ? '1 tool' : `${found} tools`}
        {answer.note === undefined ? '' : '. '}
        {answer.note !== undefined && <VisibleText text={answer.note.replace(/; nearest:$/, '. These are nearest.')} />}
      </span>
    </p>
  );
}

interface NothingHereProps {
  /** What hides all tools: words, or filters alone. Absent if there are no tools. */
  readonly narrowedBy?: 'words' | 'filters' | undefined;
  onClear(): void;
}

export function NothingHere({ narrowedBy, onClear }: NothingHereProps) {
  if (narrowedBy !== undefined)
    return (
      <Empty title="No tool matches.">
        <p className="soft">
          {narrowedBy === 'words'
            ? 'Describe the task in other words, such as: send an invoice again.'
            : 'No tool has all of the chosen properties.'}
        </p>
        <button type="button" className="button" onClick={onClear}>
          {narrowedBy === 'words' ? 'Show all tools' : 'Clear the filters'}
        </button>
      </Empty>
    );
  return (
    <Empty title="This crib has no tools yet.">
      <p className="soft">
        Add the MCP servers of another client, or write a file of tools; the server sees it at once.
      </p>
      <CopyLine text="toolcrib init --from mcp.json" />
    </Empty>
  );
}
