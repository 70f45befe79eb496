import { Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import type { JsonNode } from '../json/json-text.ts';
import type { JsonPath } from '../json/json-value.ts';
import { VisibleText } from '../parts/visible-text.tsx';
import type { Field } from './field.ts';
import classes from './form.module.css';
import { type InnerFieldProps, isNull, usePlace } from './form-context.ts';

export interface FieldProps extends Omit<InnerFieldProps, 'schema'> {
  readonly field: Field;
}

interface FieldRowProps extends FieldProps {
  readonly children: ReactNode;
  /** True if the row holds rows of its own. */
  readonly isGroup?: boolean;
}

/** The label of a field, its state, the field itself, and what is wrong with it. */
export function FieldRow({ children, isGroup = false, ...props }: FieldRowProps) {
  const { path, field, isRequired, name, actions, canBeAbsent = true } = props;
  const { id, issues, draft } = usePlace(path);
  const label = name ?? field.title;
  return (
    <div className={isGroup ? classes.group : classes.row} data-invalid={issues.length > 0 || draft !== undefined}>
      {label !== undefined && (
        <div className={classes.head}>
          <label className="name" htmlFor={id}>
            <VisibleText text={label} limit={120} />
          </label>
          {isRequired && <span className={classes.required}>required</span>}
          <span className={classes.type}>{field.isNullable ? `${field.type} or null` : field.type}</span>
          {field.isDeprecated && <span className={classes.required}>deprecated</span>}
          <span className={classes.space} />
          {field.kind !== 'constant' && <StateMenu path={path} field={field} canBeAbsent={canBeAbsent} label={label} />}
          {actions}
        </div>
      )}
      {children}
      <FieldNotes {...props} />
    </div>
  );
}

function FieldNotes({ path, field, name }: FieldProps) {
  const { issues, id } = usePlace(path);
  const words = [name === undefined || name === field.title ? undefined : field.title, field.description];
  const says = words
    .filter((word) => word !== undefined)
    .join('. ')
    .replaceAll('..', '.');
  return (
    <>
      {issues.map(({ message }) => (
        <p key={message} className={classes.issue} id={`${id}-issue`} role="alert">
          <VisibleText text={message} />
        </p>
      ))}
      {(says !== '' || field.limits.length > 0) && (
        <p className={classes.says}>
          {says !== '' && <VisibleText text={says} lines="many lines" limit={600} />}
          {field.limits.length > 0 && (
            <span className="faint">
              {says === '' ? '' : ' '}
              <VisibleText text={field.limits.join(', ')} limit={200} />
            </span>
          )}
        </p>
      )}
    </>
  );
}

const EMPTY: Partial<Record<Field['kind'], readonly [string, string]>> = {
  text: ['Empty text', '""'],
  list: ['Empty list', '[]'],
  object: ['Empty object', '{}'],
};

interface StateMenuProps {
  readonly path: JsonPath;
  readonly field: Field;
  readonly canBeAbsent: boolean;
  readonly label: string;
}

/** Says whether a value is absent, empty, null or set, and lets each be chosen. */
function StateMenu({ path, field, canBeAbsent, label }: StateMenuProps) {
  const { node, set, remove } = usePlace(path);
  const empty = EMPTY[field.kind];
  const canBeNull = field.isNullable || field.kind === 'any';
  const state = stateOf(node);
  if (!canBeAbsent && empty === undefined && !canBeNull) return null;
  return (
    <Menu position="bottom-end" width={180} shadow="md" withinPortal>
      <Menu.Target>
        <button
          type="button"
          className={classes.state}
          data-state={state}
          aria-label={`${label}: ${state}. Choose absent, empty or null`}
        >
          {state}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {canBeAbsent && (
          <Menu.Item onClick={remove} rightSection={state === 'not set' ? '✓' : undefined}>
            Not set
          </Menu.Item>
        )}
        {empty !== undefined && (
          <Menu.Item onClick={() => set(empty[1])} rightSection={<span className="name faint">{empty[1]}</span>}>
            {empty[0]}
          </Menu.Item>
        )}
        {canBeNull && (
          <Menu.Item onClick={() => set('null')} rightSection={isNull(node) ? '✓' : undefined}>
            Null
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function stateOf(node: JsonNode | undefined): string {
  if (node === undefined) return 'not set';
  if (isNull(node)) return 'null';
  if (node.type === 'string' && node.value === '') return 'empty';
  if (node.type === 'array' && node.items.length === 0) return 'empty';
  if (node.type === 'object' && node.members.length === 0) return 'empty';
  return 'set';
}

/** The placeholder of a field: its default, which the server uses, or what an absent value means. */
export function placeholderOf(field: Field, node: JsonNode | undefined): string {
  if (isNull(node)) return 'null';
  if (node !== undefined) return '';
  return field.preset === undefined ? '' : `default: ${field.preset.slice(0, 200)}`;
}
