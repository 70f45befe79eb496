import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import classes from './palette.module.css';
import type { Layer } from './shell.tsx';
import { type PaletteItem, usePaletteItems } from './use-palette-items.ts';

interface PaletteProps {
  onClose(): void;
  onLayer(layer: Layer | undefined): void;
}

/** Finds tools, profiles, sources and actions from anywhere. */
export function Palette({ onClose, onLayer }: PaletteProps) {
  const [query, setQuery] = useState('');
  const [chosen, choose] = useState(0);
  const list = useId();
  const { items, isSearching } = usePaletteItems(useDeferredValue(query.trim()), { onClose, onLayer });
  const at = Math.min(chosen, Math.max(0, items.length - 1));
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);

  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && items.length > 0) {
      event.preventDefault();
      choose((at + step + items.length) % items.length);
    }
    if (event.key !== 'Enter') return;
    event.preventDefault();
    items[at]?.run();
  };

  return (
    <Dialog title="Search or go to" look="bare" onClose={onClose}>
      <div className={classes.field}>
        <Icon name="search" />
        <input
          ref={field}
          className={classes.input}
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={items.length === 0 ? undefined : `${list}-${at}`}
          aria-label="Search tools, profiles, sources and actions"
          placeholder="Search tools, profiles, sources and actions"
          spellCheck={false}
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            choose(0);
          }}
          onKeyDown={press}
        />
        <kbd>Esc</kbd>
      </div>
      <div id={list} role="listbox" aria-label="Results" className={classes.list}>
        {items.map((item, place) => (
          <Option
            key={`${item.group} ${item.title}`}
            id={`${list}-${place}`}
            item={item}
            isFirst={items[place - 1]?.group !== item.group}
            isChosen={place === at}
            onPoint={() => choose(place)}
          />
        ))}
      </div>
      {items.length === 0 && !isSearching && <p className={classes.none}>Nothing matches “{query}”.</p>}
    </Dialog>
  );
}

interface OptionProps {
  readonly id: string;
  readonly item: PaletteItem;
  readonly isFirst: boolean;
  readonly isChosen: boolean;
  onPoint(): void;
}

function Option({ id, item, isFirst, isChosen, onPoint }: OptionProps) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <>
      {isFirst && (
        <div role="presentation" className={classes.group}>
          {item.group}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and the keys */}
      <div
        ref={row}
        id={id}
        role="option"
        tabIndex={-1}
        aria-selected={isChosen}
        className={classes.option}
        onMouseMove={onPoint}
        onClick={item.run}
      >
        <span className={item.group === 'Tools' ? `name ${classes.title}` : classes.title}>
          <VisibleText text={item.title} limit={80} />
        </span>
        <span className={classes.says}>{item.says !== undefined && <VisibleText text={item.says} limit={160} />}</span>
      </div>
    </>
  );
}
