import { useState } from 'react';
import classes from './copy-line.module.css';
import { copyText } from './copy-text.ts';
import { Icon } from './icons.tsx';

/** A command to copy. */
export function CopyLine({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div className={classes.line}>
      <code className={classes.text}>{text}</code>
      <button type="button" className="icon-button" aria-label={`Copy ${text}`} onClick={() => void copy()}>
        <Icon name={isCopied ? 'check' : 'copy'} />
      </button>
      <span role="status" className={classes.said}>
        {isCopied && 'Copied'}
      </span>
    </div>
  );
}
