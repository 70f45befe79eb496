import { type ComponentType, createContext, type ReactNode, useContext } from 'react';
import { removeAt, setAt } from '../json/edit-json.ts';
import type { JsonNode } from '../json/json-text.ts';
import { type JsonPath, nodeAt, toPointer } from '../json/json-value.ts';
import type { Issue } from './issue.ts';
import type { Schema } from './schema.ts';

/** A field inside another one, by its schema. */
export interface InnerFieldProps {
  readonly schema: unknown;
  readonly path: JsonPath;
  readonly isRequired: boolean;
  /** The name of the field; absent for the root. */
  readonly name?: string | undefined;
  /** Buttons beside the label, such as those of an item. */
  readonly actions?: ReactNode;
  /** False where a value must be there, as for items of lists. */
  readonly canBeAbsent?: boolean;
}

/** What all fields of a form share: the one text that they are views of. */
export interface FormState {
  readonly root: Schema;
  readonly text: string;
  readonly node: JsonNode;
  readonly issues: ReadonlyMap<string, readonly Issue[]>;
  /** What was typed into fields and is not JSON yet, by pointer. It blocks running and is never dropped. */
  readonly drafts: ReadonlyMap<string, string>;
  /** The chosen variants of unions, by pointer. */
  readonly chosen: ReadonlyMap<string, number>;
  /** Shows the fields inside objects, lists and unions. */
  readonly Inner: ComponentType<InnerFieldProps>;
  edit(change: (text: string) => string): void;
  setDraft(pointer: string, draft: string | undefined): void;
  choose(pointer: string, variant: number): void;
}

const FormContext = createContext<FormState | undefined>(undefined);

export const FormProvider = FormContext.Provider;

export function useForm(): FormState {
  const form = useContext(FormContext);
  if (form === undefined) throw new Error('A field stands outside of a form.');
  return form;
}

/** One place of the form: its value and how to change it. */
export function usePlace(path: JsonPath) {
  const form = useForm();
  const pointer = toPointer(path);
  return {
    form,
    pointer,
    id: `argument${pointer}`,
    node: nodeAt(form.node, path),
    draft: form.drafts.get(pointer),
    issues: form.issues.get(pointer) ?? [],
    set(raw: string) {
      form.setDraft(pointer, undefined);
      form.edit((text) => setAt(text, path, raw));
    },
    remove() {
      form.setDraft(pointer, undefined);
      form.edit((text) => removeAt(text, path));
    },
    keepDraft: (draft: string) => form.setDraft(pointer, draft),
  };
}

/** True if the value at a place is the JSON null. */
export function isNull(node: JsonNode | undefined): boolean {
  return node?.type === 'literal' && node.value === null;
}
