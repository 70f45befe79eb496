import { useState } from 'react';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './call-detail.module.css';
import { toWords } from './call-types.ts';

/** A result of a call, as REST answers it. */
export interface KeptResult {
  readonly status?: string;
  readonly content?: readonly { readonly type: string; readonly text?: string; readonly mimeType?: string }[];
  readonly data?: unknown;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly issues?: readonly { readonly path: string; readonly message: string }[];
  };
}

/** Characters of a value that are shown at once. */
const PAGE = 20_000;

/** A value as text, page by page if it is long. Nothing in it is ever markup. */
function KeptText({ text }: { readonly text: string }) {
  const [shown, setShown] = useState(PAGE);
  const left = text.length - shown;
  if (text === '') return <span className="soft">The text is empty.</span>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it */}
      <div className={classes.value} tabIndex={0}>
        <VisibleText
          text={left > 0 ? text.slice(0, shown) : text}
          lines="many lines"
          limit={Number.POSITIVE_INFINITY}
        />
      </div>
      {left > 0 && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          Show more ({left.toLocaleString('en')} characters left)
        </button>
      )}
    </>
  );
}

/** A JSON value as text. */
export function KeptValue({ value }: { readonly value: unknown }) {
  return <KeptText text={JSON.stringify(value, undefined, 2) ?? ''} />;
}

/** A result: its error, or its parts. */
export function ResultParts({ result }: { readonly result: KeptResult }) {
  const { error, content = [], data } = result;
  if (error !== undefined)
    return (
      <>
        <Status tone="danger">{toWords(error.code)}</Status>
        <KeptText text={error.message} />
        {(error.issues ?? []).map(({ path, message }) => (
          <p key={path} className={classes.line}>
            <span className="name">
              <VisibleText text={path} limit={120} />
            </span>{' '}
            <VisibleText text={message} />
          </p>
        ))}
      </>
    );
  return (
    <>
      {content.map((part, place) =>
        part.text === undefined ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a result have no other identity
          <p key={place} className={classes.line}>
            <span className="soft">
              {part.type} {part.mimeType}
            </span>
          </p>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a result have no other identity
          <KeptText key={place} text={part.text} />
        ),
      )}
      {content.length === 0 && data !== undefined && <KeptValue value={data} />}
      {content.length === 0 && data === undefined && <span className="soft">The result is empty.</span>}
    </>
  );
}
