/** Shapes of the icons, drawn on 16 by 16 with a line of 1.5. */
const SHAPES = {
  back: 'M9.5 3.5L5 8l4.5 4.5',
  check: 'M3.5 8.5l3 3 6-7',
  clock: 'M8 4.5V8l2.5 1.5M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  close: 'M4.5 4.5l7 7m0-7l-7 7',
  copy: 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z',
  down: 'M4.5 6.5L8 10l3.5-3.5',
  download: 'M8 2.5v8m0 0l-3-3m3 3l3-3M3 13.5h10',
  flame:
    'M8 2c.5 2.5 3.5 3.7 3.5 7.2A3.6 3.6 0 0 1 8 13a3.6 3.6 0 0 1-3.5-3.8c0-1.5.8-2.3 1.5-3.2.3 1 .8 1.5 1.5 1.7C8.2 6 7.5 4 8 2z',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM10 8a2 2 0 1 1-4 0 2 2 0 0 1 4 0z',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  pencil: 'M10.5 3l2.5 2.5L6 12.5l-3 .5.5-3zM9 4.5L11.5 7',
  play: 'M5 3.5l7.5 4.5L5 12.5z',
  plus: 'M8 3.5v9M3.5 8h9',
  question: 'M6 6a2 2 0 1 1 2.8 1.8c-.5.2-.8.6-.8 1.2M8 11.5v.1M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  refresh: 'M13 4.5v3h-3M3 11.5v-3h3M4 6.5a4.5 4.5 0 0 1 8.5 1M12 9.5a4.5 4.5 0 0 1-8.5-1',
  right: 'M6.5 4.5L10 8l-3.5 3.5',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3 3',
  stop: 'M4.5 4.5h7v7h-7z',
  up: 'M4.5 9.5L8 6l3.5 3.5',
  warn: 'M8 2.5l6 11H2zM8 6.5v3.5M8 11.8v.1',
} as const;

export type IconName = keyof typeof SHAPES;

/** One of our few icons. It is decoration: the word beside it, or the label of its button, says what it means. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg viewBox="0 0 16 16" width={size} height={size} aria-hidden="true" focusable="false">
      <path
        d={SHAPES[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
