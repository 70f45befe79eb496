import { Combobox, useCombobox } from '@mantine/core';
import { useMemo, useState } from 'react';
import { printJson } from '../json/json-value.ts';
import { Icon } from '../parts/icons.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import type { Choice } from './field.ts';
import { type FieldProps, FieldRow, placeholderOf } from './field-row.tsx';
import classes from './form.module.css';
import { usePlace } from './form-context.ts';

const MAX_SHOWN = 60;
const FEW = 4;
const MAX_SEGMENTS_LENGTH = 36;

/** One of several values: buttons for few, a list that is searched by typing for many. */
export function ChoiceField(props: FieldProps) {
  const { path, field, name, canBeAbsent = true } = props;
  const { id, node, set, remove } = usePlace(path);
  if (field.kind !== 'choice') return null;
  const { choices } = field;
  const raw = node === undefined ? undefined : printJson(node);
  const length = choices.reduce((sum, { label }) => sum + label.length + 3, 0);
  return (
    <FieldRow {...props}>
      {choices.length <= FEW && length <= MAX_SEGMENTS_LENGTH ? (
        <fieldset className={classes.segments} id={id} aria-label={name ?? field.title ?? 'Value'}>
          {choices.map((choice) => (
            <button
              key={choice.raw}
              type="button"
              className={classes.segment}
              aria-pressed={raw === choice.raw}
              onClick={() => (raw === choice.raw && canBeAbsent ? remove() : set(choice.raw))}
            >
              <VisibleText text={choice.label} limit={40} />
              {node === undefined && field.preset === choice.raw && <span className="faint"> (default)</span>}
            </button>
          ))}
        </fieldset>
      ) : (
        <ChoiceList id={id} choices={choices} raw={raw} placeholder={placeholderOf(field, node)} onChoose={set} />
      )}
    </FieldRow>
  );
}

interface ChoiceListProps {
  readonly id: string;
  readonly choices: readonly Choice[];
  readonly raw: string | undefined;
  readonly placeholder: string;
  onChoose(raw: string): void;
}

/** A list of choices that is filtered by typing. A value that is not among them is shown as it is. */
export function ChoiceList({ id, choices, raw, placeholder, onChoose }: ChoiceListProps) {
  const [typed, setTyped] = useState<string>();
  const combobox = useCombobox({ onDropdownClose: () => setTyped(undefined) });
  const matching = useMemo(() => filterChoices(choices, typed ?? ''), [choices, typed]);
  const label = choices.find((choice) => choice.raw === raw)?.label ?? raw ?? '';
  return (
    <Combobox
      store={combobox}
      withinPortal
      shadow="md"
      onOptionSubmit={(chosen) => {
        onChoose(chosen);
        combobox.closeDropdown();
      }}
    >
      <Combobox.Target>
        <div className={classes.control}>
          <input
            id={id}
            className={classes.input}
            value={typed ?? label}
            placeholder={placeholder || 'Choose'}
            autoComplete="off"
            onFocus={() => combobox.openDropdown()}
            onClick={() => combobox.openDropdown()}
            onBlur={() => combobox.closeDropdown()}
            onChange={({ target }) => {
              setTyped(target.value);
              combobox.openDropdown();
              combobox.selectFirstOption();
            }}
          />
          <span className={classes.inside} aria-hidden="true">
            <Icon name="down" />
          </span>
        </div>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options mah={280} className={classes.options}>
          {matching.slice(0, MAX_SHOWN).map((choice) => (
            <Combobox.Option value={choice.raw} key={choice.raw} active={choice.raw === raw}>
              <VisibleText text={choice.label} limit={100} />
            </Combobox.Option>
          ))}
          {matching.length === 0 && <Combobox.Empty>No value matches.</Combobox.Empty>}
          {matching.length > MAX_SHOWN && (
            <Combobox.Empty>{(matching.length - MAX_SHOWN).toLocaleString('en')} more. Type to narrow.</Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

function filterChoices(choices: readonly Choice[], typed: string): readonly Choice[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0
    ? choices
    : choices.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
}
