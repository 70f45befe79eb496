import { useMemo } from 'react';
import type { JsonNode } from '../json/json-text.ts';
import { ChoiceField } from './choice-field.tsx';
import { describeField, type Field } from './field.ts';
import type { FieldProps } from './field-row.tsx';
import classes from './form.module.css';
import { FormProvider, type FormState, type InnerFieldProps, useForm } from './form-context.ts';
import type { Issue } from './issue.ts';
import { ListField } from './list-field.tsx';
import { ObjectField } from './object-field.tsx';
import type { Schema } from './schema.ts';
import { BooleanField, ConstantField, NumberField, RawField, TextField } from './simple-fields.tsx';
import { UnionField } from './union-field.tsx';
import type { Arguments } from './use-arguments.ts';

interface SchemaFormProps {
  readonly schema: Schema;
  readonly argumentsText: Arguments;
  readonly node: JsonNode;
  readonly issues: readonly Issue[];
}

/** A form made from a schema. It is a view of the text of the arguments, as the editor beside it is. */
export function SchemaForm({ schema, argumentsText, node, issues }: SchemaFormProps) {
  const byPointer = useMemo(() => Map.groupBy(issues, ({ path }) => path), [issues]);
  const state: FormState = { ...argumentsText, root: schema, node, issues: byPointer, Inner: AnyField };
  const field = describeField(schema, schema);
  const isEmpty = field.kind === 'object' && field.members.length === 0 && field.others === undefined;
  return (
    <FormProvider value={state}>
      {isEmpty && <p className={classes.none}>This tool takes no arguments.</p>}
      <AnyField
        schema={{ ...schema, title: undefined, description: undefined }}
        path={[]}
        isRequired={false}
        canBeAbsent={false}
      />
    </FormProvider>
  );
}

/** The field of a schema, whatever its kind. */
function AnyField({ schema, ...props }: InnerFieldProps) {
  const { root } = useForm();
  const field = describeField(schema, root);
  const Kind = KINDS[field.kind];
  return <Kind {...props} field={field} />;
}

const KINDS: Readonly<Record<Field['kind'], (props: FieldProps) => React.ReactNode>> = {
  text: TextField,
  number: NumberField,
  boolean: BooleanField,
  choice: ChoiceField,
  constant: ConstantField,
  any: RawField,
  object: ObjectField,
  list: ListField,
  union: UnionField,
};
