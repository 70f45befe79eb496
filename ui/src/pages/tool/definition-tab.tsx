import { useState } from 'react';
import { describeField, type Field } from '../../form/field.ts';
import type { Schema } from '../../form/schema.ts';
import { VisibleText } from '../../parts/visible-text.tsx';
import { CopyButton } from '../../result/result-view.tsx';
import classes from './definition.module.css';
import runClasses from './run.module.css';
import toolClasses from './tool.module.css';
import type { ToolDetail } from './tool-types.ts';

/** The definition of a tool to read: its arguments and its result as fields, and as JSON Schema. */
export function DefinitionTab({ tool }: { readonly tool: ToolDetail }) {
  return (
    <>
      {tool.instructions !== undefined && (
        <>
          <h3 className={toolClasses.heading}>Instructions for the model</h3>
          <p className={toolClasses.description}>
            <VisibleText text={tool.instructions} lines="many lines" limit={20_000} />
          </p>
        </>
      )}
      <SchemaSection title="Arguments" schema={tool.inputSchema} />
      {tool.outputSchema !== undefined && <SchemaSection title="Result" schema={tool.outputSchema} />}
    </>
  );
}

function SchemaSection({ title, schema }: { readonly title: string; readonly schema: Schema }) {
  const [look, setLook] = useState<'Fields' | 'JSON Schema'>('Fields');
  const text = JSON.stringify(schema, null, 2);
  return (
    <section>
      <h3 className={toolClasses.heading}>
        {title}
        <span className={toolClasses.grow} />
        {(['Fields', 'JSON Schema'] as const).map((one) => (
          <button
            key={one}
            type="button"
            className={runClasses.run}
            aria-pressed={look === one}
            onClick={() => setLook(one)}
          >
            {one}
          </button>
        ))}
        <CopyButton text={text} label="Copy schema" />
      </h3>
      {look === 'Fields' ? (
        <FieldTable schema={schema} root={schema} depth={0} />
      ) : (
        <pre className={classes.code}>
          <VisibleText text={text} lines="many lines" limit={200_000} />
        </pre>
      )}
    </section>
  );
}

interface FieldTableProps {
  readonly schema: unknown;
  readonly root: Schema;
  readonly depth: number;
}

const MAX_DEPTH = 12;

function FieldTable({ schema, root, depth }: FieldTableProps) {
  const field = describeField(schema, root);
  const rows = rowsOf(field);
  if (rows.length === 0) return <p className="soft">{depth === 0 ? 'None.' : 'Nothing more is said about it.'}</p>;
  return (
    <dl className={depth === 0 ? classes.fields : classes.innerFields}>
      {rows.map(({ name, schema: inner, isRequired }) => (
        <FieldLine key={name} name={name} isRequired={isRequired} schema={inner} root={root} depth={depth} />
      ))}
    </dl>
  );
}

interface FieldLineProps extends FieldTableProps {
  readonly name: string;
  readonly isRequired: boolean;
}

function FieldLine({ name, isRequired, schema, root, depth }: FieldLineProps) {
  const field = describeField(schema, root);
  const [isOpen, setOpen] = useState(depth < 1);
  const hasParts = rowsOf(field).length > 0 && depth < MAX_DEPTH;
  return (
    <div className={classes.field}>
      <dt>
        <span className="name">
          <VisibleText text={name} limit={100} />
        </span>
        {isRequired && <span className={classes.required}>required</span>}
      </dt>
      <dd>
        <span className="soft">{field.isNullable ? `${field.type} or null` : field.type}</span>
        {field.preset !== undefined && <span className="faint"> · default {field.preset.slice(0, 100)}</span>}
        {field.limits.length > 0 && (
          <span className="faint">
            {' · '}
            <VisibleText text={field.limits.join(', ')} limit={200} />
          </span>
        )}
        {hasParts && (
          <button type="button" className={toolClasses.inline} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Fold' : 'Show parts'}
          </button>
        )}
        {field.description !== undefined && (
          <p className={classes.says}>
            <VisibleText text={field.description} lines="many lines" limit={2000} />
          </p>
        )}
        {field.kind === 'choice' && <Choices field={field} />}
        {hasParts && isOpen && <FieldTable schema={schema} root={root} depth={depth + 1} />}
      </dd>
    </div>
  );
}

function Choices({ field }: { readonly field: Extract<Field, { kind: 'choice' }> }) {
  const shown = field.choices.slice(0, 12);
  return (
    <p className={classes.says}>
      {shown.map(({ raw, label }) => (
        <code key={raw} className={classes.choice}>
          <VisibleText text={label} limit={60} />
        </code>
      ))}
      {field.choices.length > shown.length && <span>and {field.choices.length - shown.length} more</span>}
    </p>
  );
}

/** The parts of a field: members, the item of a list, or the forms of a union. */
function rowsOf(
  field: Field,
): readonly { readonly name: string; readonly schema: unknown; readonly isRequired: boolean }[] {
  if (field.kind === 'object')
    return [
      ...field.members,
      ...(field.others === undefined || Object.keys(Object(field.others)).length === 0
        ? []
        : [{ name: 'any other name', schema: field.others, isRequired: false }]),
    ];
  if (field.kind === 'union')
    return field.variants.map(({ label, schema }) => ({
      name: label,
      schema: { ...schema, title: undefined },
      isRequired: false,
    }));
  if (field.kind !== 'list') return [];
  const first = field.first.map((schema, place) => ({ name: `item ${place}`, schema, isRequired: false }));
  const isSaid = typeof field.items === 'object' && field.items !== null && Object.keys(field.items).length > 0;
  return isSaid ? [...first, { name: 'each item', schema: field.items, isRequired: false }] : first;
}
