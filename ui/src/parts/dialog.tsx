import { type ReactNode, useEffect, useId, useRef } from 'react';
import classes from './dialog.module.css';
import { Icon } from './icons.tsx';

interface DialogProps {
  readonly title: string;
  /** `bare`: the content brings its own first line; the title is for screen readers. */
  readonly look?: 'usual' | 'bare';
  /** Without it the dialog cannot be dismissed. */
  onClose?(): void;
  readonly children: ReactNode;
}

/** A layer on top of the page that keeps the focus. Esc and a click beside it close it. */
export function Dialog({ title, look = 'usual', onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement;
    current?.showModal();
    return () => {
      current?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it, too
    <dialog
      ref={dialog}
      className={classes.dialog}
      data-look={look}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClick={(event) => event.target === dialog.current && onClose?.()}
    >
      <div className={classes.content}>
        <header className={look === 'bare' ? classes.hidden : classes.header}>
          <h2 id={name} className={classes.title}>
            {title}
          </h2>
          {onClose !== undefined && look === 'usual' && (
            <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
