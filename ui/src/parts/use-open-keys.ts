import { useEffect, useRef } from 'react';

/** J and K open the next and the previous entry of a list. Keys count only outside of fields and without modifiers. */
export function useOpenKeys(ids: readonly string[], open: string | undefined, onOpen: (id: string) => void): void {
  const latest = useRef({ ids, open, onOpen });
  latest.current = { ids, open, onOpen };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = { j: 1, k: -1 }[event.key.toLowerCase()];
      const isTyping =
        event.target instanceof HTMLElement &&
        event.target.matches('input:not([type="radio"], [type="checkbox"]), textarea, select');
      if (step === undefined || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const { ids: all, open: current, onOpen: go } = latest.current;
      const next = all[all.indexOf(current ?? '') + step];
      if (next === undefined) return;
      event.preventDefault();
      go(next);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
