import { useState } from 'react';
import { renameAt, setAt } from '../json/edit-json.ts';
import type { JsonNode } from '../json/json-text.ts';
import type { JsonPath } from '../json/json-value.ts';
import { Icon } from '../parts/icons.tsx';
import type { Member } from './field.ts';
import { type FieldProps, FieldRow } from './field-row.tsx';
import formClasses from './form.module.css';
import { isNull, usePlace } from './form-context.ts';
import classes from './list-field.module.css';
import { RawField } from './simple-fields.tsx';
import { firstValue } from './variants.ts';

const PAGE = 100;
const OPEN_DEPTH = 2;

/** An object. An absent one stays folded until it is opened: its fields are made then, so a schema may contain itself. */
export function ObjectField(props: FieldProps) {
  const { path, field, isRequired, name } = props;
  const { node } = usePlace(path);
  const [isOpen, setOpen] = useState<boolean>();
  if (field.kind !== 'object') return null;
  if (node !== undefined && node.type !== 'object' && !isNull(node)) return <RawField {...props} />;
  const members = <Members members={field.members} others={field.others} path={path} />;
  if (path.length === 0 || name === undefined) return members;
  const isShown = isOpen ?? (node?.type === 'object' || (isRequired && path.length <= OPEN_DEPTH));
  return (
    <FieldRow
      {...props}
      isGroup
      actions={
        <>
          {props.actions}
          <button
            type="button"
            className={classes.fold}
            aria-expanded={isShown}
            aria-label={`Fields of ${name}`}
            onClick={() => setOpen(!isShown)}
          >
            {isShown ? 'Fold' : 'Open'}
            <Icon name={isShown ? 'up' : 'down'} size={12} />
          </button>
        </>
      }
    >
      {isShown && <div className={classes.nested}>{members}</div>}
    </FieldRow>
  );
}

interface MembersProps {
  readonly members: readonly Member[];
  readonly others: unknown;
  readonly path: JsonPath;
}

/** The members that the schema names, then all others that the value has: nothing that is sent is hidden. */
function Members({ members, others, path }: MembersProps) {
  const { node, form } = usePlace(path);
  const [count, setCount] = useState(PAGE);
  const known = new Set(members.map(({ name }) => name));
  const unknown = node?.type === 'object' ? node.members.filter(({ key }) => !known.has(key)) : [];
  const all = [...members, ...unknown.map(({ key }) => ({ name: key, schema: others ?? {}, isRequired: false }))];
  return (
    <>
      {all.slice(0, count).map(({ name, schema, isRequired }) => (
        <form.Inner
          key={name}
          path={[...path, name]}
          name={name}
          schema={schema}
          isRequired={isRequired}
          actions={!known.has(name) && others !== undefined && <RenameButton path={[...path, name]} />}
        />
      ))}
      {all.length > count && <MoreButton rest={all.length - count} onMore={() => setCount(count + PAGE)} />}
      {others !== undefined && <AddMember path={path} schema={others} node={node} />}
    </>
  );
}

export function MoreButton({ rest, onMore }: { readonly rest: number; onMore(): void }) {
  return (
    <button type="button" className={classes.link} onClick={onMore}>
      Show more ({rest.toLocaleString('en')} not shown)
    </button>
  );
}

function RenameButton({ path }: { readonly path: JsonPath }) {
  const { form } = usePlace(path);
  const [name, setName] = useState<string>();
  if (name === undefined)
    return (
      <button type="button" className={classes.fold} onClick={() => setName(String(path.at(-1)))}>
        Rename
      </button>
    );
  return (
    <input
      className={classes.rename}
      aria-label="New name"
      value={name}
      // biome-ignore lint/a11y/noAutofocus: the operator asked for this field by pressing Rename
      autoFocus
      onChange={({ target }) => setName(target.value)}
      onBlur={() => setName(undefined)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') setName(undefined);
        if (event.key !== 'Enter') return;
        form.edit((text) => renameAt(text, path, name));
        setName(undefined);
      }}
    />
  );
}

interface AddMemberProps {
  readonly path: JsonPath;
  readonly schema: unknown;
  readonly node: JsonNode | undefined;
}

function AddMember({ path, schema, node }: AddMemberProps) {
  const { form } = usePlace(path);
  const [name, setName] = useState('');
  const isTaken = node?.type === 'object' && node.members.some(({ key }) => key === name);
  const isReady = name !== '' && !isTaken;
  const add = () => {
    form.edit((text) => setAt(text, [...path, name], firstValue(schema, form.root)));
    setName('');
  };
  return (
    <div className={classes.add}>
      <input
        className={formClasses.input}
        value={name}
        placeholder="Name of a new member"
        aria-label="Name of a new member"
        onChange={({ target }) => setName(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey && isReady) add();
        }}
      />
      <button type="button" className={classes.link} disabled={!isReady} onClick={add}>
        {isTaken ? 'This name is taken' : 'Add'}
      </button>
    </div>
  );
}
