import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';

/** Moves through a list by J and K or the arrows, opens by Enter, and goes to the search by /. */
export function useListKeys<Item>(
  items: readonly Item[],
  field: RefObject<HTMLInputElement | null>,
  open: (item: Item) => void,
) {
  const [place, setPlace] = useState<number>();
  const chosen = place === undefined || items.length === 0 ? undefined : Math.min(place, items.length - 1);
  const latest = useRef({ items, chosen, open });
  latest.current = { items, chosen, open };
  const move = (step: number) =>
    setPlace(Math.max(0, Math.min(latest.current.items.length - 1, (latest.current.chosen ?? -1) + step)));
  const openChosen = () => {
    const item = latest.current.items[latest.current.chosen ?? 0];
    if (item !== undefined) latest.current.open(item);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the listener reads the latest state
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement && event.target.closest('input, textarea, select, button, a') !== null;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.key === '/') field.current?.focus();
      else if (event.key === 'j' || event.key === 'ArrowDown') move(1);
      else if (event.key === 'k' || event.key === 'ArrowUp') move(-1);
      else if (event.key === 'Enter' && latest.current.chosen !== undefined) openChosen();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const onFieldKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter') openChosen();
    else if (event.key === 'Escape') field.current?.blur();
    else return setPlace(undefined);
    event.preventDefault();
  };
  return { chosen, onFieldKey };
}
