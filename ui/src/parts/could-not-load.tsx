import type { ReactNode } from 'react';
import { Empty } from './empty.tsx';
import { Icon } from './icons.tsx';
import { VisibleText } from './visible-text.tsx';

interface CouldNotLoadProps {
  /** The thing that is missing, such as "The calls". */
  readonly what: string;
  /** The reason, in the words of the server. */
  readonly message: string;
  onRetry?(): void;
  /** A way on, beside the reason. */
  readonly children?: ReactNode;
}

/** A place whose content the server did not give: what is missing, why, and another try. */
export function CouldNotLoad({ what, message, onRetry, children }: CouldNotLoadProps) {
  return (
    <Empty title={`${what} could not be loaded.`}>
      <p className="soft" role="alert">
        <VisibleText text={message} /> {children}
      </p>
      {onRetry !== undefined && (
        <button type="button" className="button" onClick={onRetry}>
          <Icon name="refresh" size={14} /> Try again
        </button>
      )}
    </Empty>
  );
}
