import { Icon } from '../../parts/icons.tsx';
import classes from './list-rows.module.css';
import type { Sort } from './tool-rows.ts';

/** What the headings of the list show and do. */
export interface ListHeadProps {
  readonly isSearch: boolean;
  /** False for callers that may not see how much tools are used. */
  readonly hasUse: boolean;
  readonly sort: Sort;
  readonly isBackwards: boolean;
  onSort(sort: Sort): void;
}

type Column = readonly [Sort | undefined, string, string?];

const COLUMNS: readonly Column[] = [
  ['name', 'Name'],
  [undefined, 'Description'],
  [undefined, 'Effect'],
  ['source', 'Source'],
  ['tokens', 'Tokens', 'figure'],
];

const USE_COLUMNS: readonly Column[] = [
  ['calls', 'Calls 30 d', 'figure'],
  ['used', 'Last used', 'figure'],
];

/** What was found stands in the order of its score. */
const SEARCH_COLUMNS: readonly Column[] = [
  [undefined, 'Score'],
  [undefined, 'Tool, and why it was found'],
  [undefined, 'Effect'],
  [undefined, 'Source'],
  [undefined, 'Tokens', 'figure'],
];

/** The headings; a press on one sorts by it. */
export function ListHead({ isSearch, hasUse, sort, isBackwards, onSort }: ListHeadProps) {
  const columns = isSearch ? SEARCH_COLUMNS : hasUse ? [...COLUMNS, ...USE_COLUMNS] : COLUMNS;
  return (
    <tr className={`${classes.row} ${classes.head}`} aria-rowindex={1} data-search={isSearch} data-use={hasUse}>
      {columns.map(([by, title, look]) => (
        <th
          key={title}
          data-look={look}
          title={title === 'Tokens' ? 'Estimated. The page of a tool has the exact number.' : undefined}
          aria-sort={!isSearch && by === sort ? (isBackwards ? 'descending' : 'ascending') : undefined}
        >
          {by === undefined ? (
            title
          ) : (
            <button type="button" className={classes.sort} onClick={() => onSort(by)}>
              {title}
              {by === sort && <Icon name={isBackwards ? 'up' : 'down'} size={12} />}
            </button>
          )}
        </th>
      ))}
    </tr>
  );
}
