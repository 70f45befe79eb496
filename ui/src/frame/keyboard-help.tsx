import { Dialog } from '../parts/dialog.tsx';
import classes from './keyboard-help.module.css';

const KEYS: readonly (readonly [title: string, rows: readonly (readonly [keys: string, says: string])[]])[] = [
  [
    'Everywhere',
    [
      ['Ctrl K', 'Search tools, and go to anything'],
      ['G T', 'Tools'],
      ['G A', 'Approvals'],
      ['G C', 'Calls'],
      ['G S', 'Sources'],
      ['Esc', 'Close what is on top'],
      ['?', 'This list'],
    ],
  ],
  [
    'In lists',
    [
      ['J', 'Next row'],
      ['K', 'Previous row'],
      ['Enter', 'Open'],
    ],
  ],
  [
    'On a request for approval',
    [
      ['A', 'Approve'],
      ['D', 'Deny'],
      ['O', 'Open folded values'],
      ['N', 'Write a note'],
    ],
  ],
];

/** The keys of the console. */
export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {KEYS.map(([title, rows]) => (
        <section key={title} className={classes.section}>
          <h3 className={classes.title}>{title}</h3>
          <dl className={classes.keys}>
            {rows.map(([keys, says]) => (
              <div key={keys} className={classes.row}>
                <dt>
                  {keys.split(' ').map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{says}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
