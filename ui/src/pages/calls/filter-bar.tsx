import { memo, type RefObject, useEffect, useId, useState } from 'react';
import { type CallFilters, SPANS, WORD_FILTERS } from './call-filters.ts';
import { type CallRow, STATUSES } from './call-types.ts';
import classes from './filter-bar.module.css';

interface FilterBarProps {
  readonly filters: CallFilters;
  /** Loaded calls: their values are suggested when a field gets the focus. */
  readonly rows: RefObject<readonly CallRow[]>;
  onChange(changed: Partial<Record<keyof CallFilters, string>>): void;
}

/** The filters of the log. They are kept in the address. */
export const FilterBar = memo(function FilterBar({ filters, rows, onChange }: FilterBarProps) {
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <search className={classes.bar}>
      {WORD_FILTERS.filter((name) => name !== 'turn' || filters.conversation !== undefined).map((name) => (
        <WordFilter
          key={name}
          name={name}
          value={filters[name] ?? ''}
          rows={rows}
          onChange={(value) => onChange({ [name]: value })}
        />
      ))}
      <select
        className={classes.choice}
        aria-label="Status"
        data-set={filters.status !== undefined}
        value={filters.status ?? ''}
        onChange={({ target }) => onChange({ status: target.value })}
      >
        <option value="">Status</option>
        {STATUSES.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      <TimeFilter filters={filters} onChange={onChange} />
      {isFiltered && (
        <button type="button" className={classes.clear} onClick={() => onChange(NONE)}>
          Clear filters
        </button>
      )}
    </search>
  );
});

const NONE = {
  tool: '',
  caller: '',
  profile: '',
  code: '',
  conversation: '',
  turn: '',
  status: '',
  time: '',
  since: '',
  until: '',
};

function TimeFilter({ filters, onChange }: Pick<FilterBarProps, 'filters' | 'onChange'>) {
  const { time, since, until } = filters;
  const [isOwn, setOwn] = useState(since !== undefined || until !== undefined);
  const choose = (value: string) => {
    setOwn(value === 'own');
    onChange(value === 'own' ? { time: '' } : { time: value, since: '', until: '' });
  };
  return (
    <>
      <select
        className={classes.choice}
        aria-label="Time"
        data-set={isOwn || time !== undefined}
        value={isOwn ? 'own' : (time ?? '')}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">Any time</option>
        {Object.entries(SPANS).map(([key, { says }]) => (
          <option key={key} value={key}>
            {says}
          </option>
        ))}
        <option value="own">From … to …</option>
      </select>
      {isOwn &&
        (['since', 'until'] as const).map((name) => (
          <input
            key={name}
            type="datetime-local"
            className={classes.word}
            aria-label={name === 'since' ? 'From' : 'To'}
            value={toLocal(filters[name])}
            onChange={({ target }) =>
              onChange({ [name]: target.value === '' ? '' : new Date(target.value).toISOString() })
            }
          />
        ))}
    </>
  );
}

/** A time as a field for local times wants it. */
function toLocal(at: string | undefined): string {
  if (at === undefined) return '';
  const time = new Date(at);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

interface WordFilterProps {
  readonly name: (typeof WORD_FILTERS)[number];
  readonly value: string;
  readonly rows: RefObject<readonly CallRow[]>;
  onChange(value: string): void;
}

const LABELS = {
  tool: 'Tool',
  caller: 'Caller',
  profile: 'Profile',
  code: 'Error code',
  conversation: 'Conversation',
  turn: 'Turn',
};

/** A filter by a whole word. It counts when it is chosen or entered. */
function WordFilter({ name, value, rows, onChange }: WordFilterProps) {
  const list = useId();
  const [text, setText] = useState(value);
  const [isFocused, setFocused] = useState(false);
  useEffect(() => setText(value), [value]);
  const known = isFocused ? suggest(name, rows.current) : [];
  const change = (entered: string) => {
    setText(entered);
    if (entered === '' || known.includes(entered)) onChange(entered);
  };
  return (
    <>
      <input
        className={classes.word}
        aria-label={LABELS[name]}
        placeholder={LABELS[name]}
        data-set={value !== ''}
        list={list}
        maxLength={200}
        value={text}
        onFocus={() => setFocused(true)}
        onBlur={() => {
          setFocused(false);
          if (text !== value) onChange(text.trim());
        }}
        onChange={({ target }) => change(target.value)}
        onKeyDown={({ key }) => key === 'Enter' && onChange(text.trim())}
      />
      <datalist id={list}>
        {known.map((word) => (
          <option key={word} value={word} />
        ))}
      </datalist>
    </>
  );
}

function suggest(name: WordFilterProps['name'], rows: readonly CallRow[]): readonly string[] {
  const words = rows.map((row) => (name === 'code' ? row.outcome : row[name]));
  const known = new Set(
    words.filter((word) => word !== undefined && !(name === 'code' && ['done', 'running', 'waiting'].includes(word))),
  );
  return [...known]
    .filter((word) => word !== undefined)
    .sort()
    .slice(0, 50);
}
