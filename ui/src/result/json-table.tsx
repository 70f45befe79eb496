import { useState } from 'react';
import type { JsonNode, ObjectNode } from '../json/json-text.ts';
import { childOf } from '../json/json-value.ts';
import { VisibleText } from '../parts/visible-text.tsx';
import { Leaf } from './json-view.tsx';
import classes from './result.module.css';

const PAGE = 100;
const MAX_COLUMNS = 24;

/** A list of objects in a value: the value itself, or its only list. */
export function rowsOf(node: JsonNode): readonly ObjectNode[] | undefined {
  if (node.type === 'object') {
    const lists = node.members.map(({ value }) => value).filter(({ type }) => type === 'array');
    const [list] = lists;
    return lists.length === 1 && list !== undefined && node.members.length <= 6 ? rowsOf(list) : undefined;
  }
  if (node.type !== 'array' || node.items.length === 0) return undefined;
  const objects = node.items.filter((item): item is ObjectNode => item.type === 'object' && item.members.length > 0);
  return objects.length === node.items.length ? objects : undefined;
}

/** A list of objects as a table: a column for each name. */
export function JsonTable({ rows }: { readonly rows: readonly ObjectNode[] }) {
  const [count, setCount] = useState(PAGE);
  const names = [...new Set(rows.slice(0, 200).flatMap(({ members }) => members.map(({ key }) => key)))];
  const columns = names.slice(0, MAX_COLUMNS);
  return (
    <div className={classes.scroll}>
      <table className={classes.table} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th className="faint">#</th>
            {columns.map((name) => (
              <th key={name} className="name">
                <VisibleText text={name} limit={60} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, count).map((row, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a result are known by their place
            <tr key={place} aria-rowindex={place + 2}>
              <td className="faint">{place}</td>
              {columns.map((name) => (
                <Cell key={name} node={childOf(row, name)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > count && (
        <button type="button" className={classes.more} onClick={() => setCount(count + PAGE)}>
          Show more ({(rows.length - count).toLocaleString('en')} rows not shown)
        </button>
      )}
      {names.length > MAX_COLUMNS && (
        <p className="faint">{names.length - MAX_COLUMNS} columns are only in the tree.</p>
      )}
    </div>
  );
}

function Cell({ node }: { readonly node: JsonNode | undefined }) {
  if (node === undefined) return <td className="faint" />;
  const isNumber = node.type === 'number';
  return (
    <td className={isNumber ? classes.figure : undefined}>
      {node.type === 'string' ? <VisibleText text={node.value} limit={120} /> : <Leaf node={node} />}
    </td>
  );
}
