import classes from './danger.module.css';
import { Icon, type IconName } from './icons.tsx';

const WORDS: Readonly<Record<string, readonly [IconName, string, string]>> = {
  read: ['eye', 'reads', 'Reads only: it changes nothing.'],
  write: ['pencil', 'writes', 'Writes, but destroys nothing.'],
  destructive: ['flame', 'destructive', 'Can destroy data.'],
  unknown: ['question', 'unknown effects', 'The tool does not say whether it changes anything.'],
};

/** What a tool can do to the world, by icon and word. */
export function Danger({ danger }: { readonly danger: string }) {
  const [icon, word, says] = WORDS[danger] ?? ['question', danger, ''];
  return (
    <span className={classes.danger} data-danger={danger} title={says}>
      <Icon name={icon} size={14} />
      {word}
    </span>
  );
}
