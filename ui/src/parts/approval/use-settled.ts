import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** A card that appeared or moved takes no answer for this long: the key or click was meant for what was there before. */
const SETTLE_MS = 400;

interface Settled {
  readonly isSettled: boolean;
  /** Looks again at this moment: false if the element has moved since the last look. */
  isStill(): boolean;
}

/** Says whether the element has stood still for 400 ms, under the same identity. */
export function useSettled(element: RefObject<HTMLElement | null>, identity: string): Settled {
  const [settled, setSettled] = useState('');
  const place = useRef('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const look = useRef(() => {});
  look.current = () => {
    const box = element.current?.getBoundingClientRect();
    const now = `${identity} ${Math.round(box?.left ?? 0)} ${Math.round(box?.top ?? 0)}`;
    if (now === place.current) return;
    place.current = now;
    setSettled('');
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSettled(identity), SETTLE_MS);
  };
  useLayoutEffect(() => look.current()); // after every change of the card
  useEffect(() => {
    const again = () => look.current();
    const observer = new ResizeObserver(again);
    for (let box = element.current; box !== null; box = box.parentElement) observer.observe(box);
    const siblings = element.current?.parentElement?.children ?? [];
    for (const sibling of siblings) observer.observe(sibling);
    again();
    addEventListener('scroll', again, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      removeEventListener('scroll', again, { capture: true });
      clearTimeout(timer.current);
      place.current = '';
    };
  }, [element]);
  const isSettled = settled === identity;
  return {
    isSettled,
    isStill() {
      const before = place.current;
      look.current();
      return isSettled && before === place.current;
    },
  };
}
