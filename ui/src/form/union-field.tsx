import { removeAt, setAt } from '../json/edit-json.ts';
import { toPointer } from '../json/json-value.ts';
import { ChoiceList } from './choice-field.tsx';
import { type FieldProps, FieldRow } from './field-row.tsx';
import { isNull, usePlace } from './form-context.ts';
import classes from './list-field.module.css';
import { fittingVariant, switchVariant } from './variants.ts';

/** One of several forms: the chosen one, or the one that fits the value. */
export function UnionField(props: FieldProps) {
  const { path, field, name, isRequired, canBeAbsent = true } = props;
  const { id, node, form, pointer } = usePlace(path);
  if (field.kind !== 'union') return null;
  const { variants } = field;
  const fitting = node === undefined || isNull(node) ? undefined : fittingVariant(node, variants, form.root);
  const index = form.chosen.get(pointer) ?? fitting;
  const chosen = index === undefined ? undefined : variants[index];
  const choose = (next: number) => {
    const variant = variants[next];
    if (variant === undefined) return;
    form.choose(pointer, next);
    const raw = switchVariant(node, [chosen, variant], form.root);
    const isRoot = path.length === 0;
    form.edit((text) =>
      raw === undefined ? (canBeAbsent && !isRoot ? removeAt(text, path) : text) : setAt(text, path, raw),
    );
  };
  return (
    <FieldRow {...props} isGroup>
      <ChoiceList
        id={id}
        choices={variants.map(({ label }, place) => ({ raw: String(place), label }))}
        raw={index === undefined ? undefined : String(index)}
        placeholder={`Choose one of ${variants.length} forms`}
        onChoose={(raw) => choose(Number(raw))}
      />
      {chosen !== undefined && (
        <div className={path.length === 0 ? undefined : classes.nested} data-variant={toPointer(path)}>
          <form.Inner
            key={index}
            path={path}
            schema={{ ...chosen.schema, title: undefined, description: undefined }}
            isRequired={isRequired}
            canBeAbsent={canBeAbsent}
            {...(name === undefined ? {} : { name: undefined })}
          />
        </div>
      )}
    </FieldRow>
  );
}
