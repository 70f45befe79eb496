import { useState } from 'react';
import { insertAt, removeAt, swapWithNext } from '../json/edit-json.ts';
import type { JsonPath } from '../json/json-value.ts';
import { Icon } from '../parts/icons.tsx';
import { type FieldProps, FieldRow, placeholderOf } from './field-row.tsx';
import { isNull, usePlace } from './form-context.ts';
import classes from './list-field.module.css';
import { MoreButton } from './object-field.tsx';
import { RawField } from './simple-fields.tsx';
import { firstValue } from './variants.ts';

const PAGE = 50;

/** A list: its items can be added, moved and removed. */
export function ListField(props: FieldProps) {
  const { path, field } = props;
  const { node, form } = usePlace(path);
  const [count, setCount] = useState(PAGE);
  if (field.kind !== 'list') return null;
  if (node !== undefined && node.type !== 'array' && !isNull(node)) return <RawField {...props} />;
  const length = node?.type === 'array' ? node.items.length : 0;
  const schemaAt = (index: number) => field.first[index] ?? field.items ?? {};
  const canAdd = length < field.first.length || field.items !== false; // `items: false` ends a list of fixed length
  return (
    <FieldRow {...props} isGroup>
      {length > 0 && (
        <div className={classes.nested}>
          {Array.from({ length: Math.min(length, count) }, (_, place) => (
            <form.Inner
              // biome-ignore lint/suspicious/noArrayIndexKey: an item is known by its place
              key={place}
              path={[...path, place]}
              name={String(place)}
              schema={schemaAt(place)}
              isRequired={false}
              canBeAbsent={false}
              actions={<ItemButtons path={path} place={place} length={length} />}
            />
          ))}
          {length > count && <MoreButton rest={length - count} onMore={() => setCount(count + PAGE)} />}
        </div>
      )}
      <div className={classes.add}>
        <button
          type="button"
          className={classes.link}
          disabled={!canAdd}
          onClick={() => {
            form.edit((text) => insertAt(text, path, { index: length, raw: firstValue(schemaAt(length), form.root) }));
            setCount(Math.max(count, length + 1));
          }}
        >
          <Icon name="plus" size={12} /> Add item
        </button>
        <span className="faint">
          {length === 0 ? placeholderOf(field, node) : `${length.toLocaleString('en')} items`}
        </span>
      </div>
    </FieldRow>
  );
}

function ItemButtons({
  path,
  place,
  length,
}: {
  readonly path: JsonPath;
  readonly place: number;
  readonly length: number;
}) {
  const { form } = usePlace(path);
  const swap = (first: number) => form.edit((text) => swapWithNext(text, path, first));
  return (
    <>
      <button
        type="button"
        className={classes.icon}
        disabled={place === 0}
        aria-label={`Move item ${place} up`}
        onClick={() => swap(place - 1)}
      >
        <Icon name="up" size={14} />
      </button>
      <button
        type="button"
        className={classes.icon}
        disabled={place === length - 1}
        aria-label={`Move item ${place} down`}
        onClick={() => swap(place)}
      >
        <Icon name="down" size={14} />
      </button>
      <button
        type="button"
        className={classes.icon}
        aria-label={`Remove item ${place}`}
        onClick={() => form.edit((text) => removeAt(text, [...path, place]))}
      >
        <Icon name="close" size={14} />
      </button>
    </>
  );
}
