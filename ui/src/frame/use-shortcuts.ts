import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../api/session.ts';
import type { Layer } from './shell.tsx';

/** The second key after G, with its page. */
const PLACES: Readonly<Record<string, 'tools' | 'approvals' | 'calls' | 'sources'>> = {
  t: 'tools',
  a: 'approvals',
  c: 'calls',
  s: 'sources',
};
const SEQUENCE_MS = 1000;

/** Keys of the frame: Ctrl-K, ?, and G with the letter of a page. Keys in a field are text. */
export function useShortcuts(open: (layer: Layer) => void): void {
  const [, go] = useLocation();
  const { pages } = useSession();
  const leader = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        open('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || document.querySelector('dialog[open]'))
        return;
      if (event.key === '?') open('help');
      const place = PLACES[event.key];
      if (place !== undefined && event.timeStamp - leader.current < SEQUENCE_MS && pages.includes(place)) {
        event.stopImmediatePropagation();
        go(`/${place}`);
      }
      leader.current = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
    };
    addEventListener('keydown', listen, { capture: true });
    return () => removeEventListener('keydown', listen, { capture: true });
  }, [go, open, pages]);
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
