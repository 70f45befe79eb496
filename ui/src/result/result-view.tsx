import { Suspense, useEffect, useMemo, useState } from 'react';
import { copyText } from '../parts/copy-text.ts';
import { Icon } from '../parts/icons.tsx';
import { loadLater } from '../parts/load-later.ts';
import { VisibleText } from '../parts/visible-text.tsx';
import { type AnswerPart, type CutText, isMarkdown } from './call-answer.ts';
import { JsonTable, rowsOf } from './json-table.tsx';
import { JsonTree, useParsed } from './json-view.tsx';
import classes from './result.module.css';

const Markdown = loadLater(async () => (await import('./markdown.tsx')).Markdown);
const SafeLink = loadLater(async () => (await import('./markdown.tsx')).SafeLink);

/** The parts of a result, each by its type. */
export function ResultParts({ parts }: { readonly parts: readonly AnswerPart[] }) {
  if (parts.length === 0) return <p className={classes.none}>The result is empty.</p>;
  return parts.map((part, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one result never move
    <section key={place} className={classes.part} aria-label={`Part ${place + 1}: ${part.kind}`}>
      <Suspense fallback={<div className={classes.skeleton} />}>
        <Part part={part} />
      </Suspense>
    </section>
  ));
}

function Part({ part }: { readonly part: AnswerPart }) {
  switch (part.kind) {
    case 'image':
      return <Picture mimeType={part.mimeType} base64={part.base64} />;
    case 'audio':
      return <Sound mimeType={part.mimeType} base64={part.base64} />;
    case 'link':
      return (
        <p className={classes.linkPart}>
          <span className={classes.tag}>link</span>
          <SafeLink href={part.uri} label={<VisibleText text={part.name} limit={200} />} />
          {part.says !== '' && (
            <span className="soft">
              <VisibleText text={part.says} />
            </span>
          )}
        </p>
      );
    case 'resource':
      return <Resource part={part} />;
    case 'json':
      return part.of.file === undefined ? <Json of={part.of} /> : <Large of={part.of} name="result.json" />;
    default:
      return part.of.file === undefined ? (
        <TextPart text={part.of.text} isMarkdown={part.kind === 'markdown'} />
      ) : (
        <Large of={part.of} name="result.txt" />
      );
  }
}

type JsonLook = 'Table' | 'Tree' | 'Text';

function Json({ of }: { readonly of: CutText }) {
  const parsed = useParsed(of.text);
  const [look, setLook] = useState<JsonLook>();
  const rows = useMemo(() => (parsed !== undefined && 'node' in parsed ? rowsOf(parsed.node) : undefined), [parsed]);
  if (parsed === undefined) return <div className={classes.skeleton} />;
  if ('problem' in parsed) return <TextPart text={of.text} isMarkdown={false} />;
  const looks: readonly JsonLook[] = rows === undefined ? ['Tree', 'Text'] : ['Table', 'Tree', 'Text'];
  const shown = look ?? looks[0];
  return (
    <>
      <Looks looks={looks} shown={shown} onChoose={setLook} of={of} name="result.json" />
      {shown === 'Table' && rows !== undefined && <JsonTable rows={rows} />}
      {shown === 'Tree' && <JsonTree node={parsed.node} />}
      {shown === 'Text' && <Plain text={of.text} />}
    </>
  );
}

interface LooksProps<Look extends string> {
  readonly looks: readonly Look[];
  readonly shown: NoInfer<Look> | undefined;
  readonly of: CutText;
  readonly name: string;
  onChoose(look: NoInfer<Look>): void;
}

function Looks<Look extends string>({ looks, shown, onChoose, of, name }: LooksProps<Look>) {
  return (
    <div className={classes.looks}>
      {looks.map((look) => (
        <button
          key={look}
          type="button"
          className={classes.look}
          aria-pressed={look === shown}
          onClick={() => onChoose(look)}
        >
          {look}
        </button>
      ))}
      <span className={classes.space} />
      <CopyButton text={of.text} />
      <DownloadButton of={of} name={name} />
    </div>
  );
}

function TextPart({ text, isMarkdown }: { readonly text: string; readonly isMarkdown: boolean }) {
  const [look, setLook] = useState<'Markdown' | 'Text'>(isMarkdown ? 'Markdown' : 'Text');
  const of = useMemo(() => ({ text, bytes: text.length }), [text]);
  return (
    <>
      <Looks
        looks={isMarkdown ? ['Markdown', 'Text'] : ['Text']}
        shown={look}
        onChoose={setLook}
        of={of}
        name="result.txt"
      />
      {look === 'Markdown' ? <Markdown text={text} /> : <Plain text={text} />}
    </>
  );
}

const MAX_PLAIN = 200_000;

function Plain({ text }: { readonly text: string }) {
  return (
    <pre className={classes.plain}>
      <VisibleText text={text} lines="many lines" limit={MAX_PLAIN} />
    </pre>
  );
}

/** A text above the limit: its beginning, its size, and a download of the whole. */
function Large({ of, name }: { readonly of: CutText; readonly name: string }) {
  return (
    <>
      <div className={classes.looks}>
        <span>
          Large result: <b>{toSize(of.bytes)}</b>. Its beginning is shown.
        </span>
        <span className={classes.space} />
        <DownloadButton of={of} name={name} />
      </div>
      <Plain text={of.text} />
    </>
  );
}

function Resource({ part }: { readonly part: Extract<AnswerPart, { kind: 'resource' }> }) {
  const { uri, mimeType, of, isBinary } = part;
  const isPicture = isBinary && mimeType.startsWith('image/');
  return (
    <>
      <p className={classes.linkPart}>
        <span className={classes.tag}>resource</span>
        <span className="name">
          <VisibleText text={uri} limit={200} />
        </span>
        <span className="faint">
          <VisibleText text={mimeType} limit={60} /> {toSize(of.bytes)}
        </span>
      </p>
      {isPicture && of.file === undefined && <Picture mimeType={mimeType} base64={of.text} />}
      {!isBinary && of.file === undefined && (
        <TextPart text={of.text} isMarkdown={mimeType === 'text/markdown' || isMarkdown(of.text)} />
      )}
      {of.file !== undefined && <Large of={of} name="resource" />}
    </>
  );
}

const PICTURES = /^image\/[\w.+-]+$/;
const SOUNDS = /^audio\/[\w.+-]+$/;

function Picture({ mimeType, base64 }: { readonly mimeType: string; readonly base64: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken || !PICTURES.test(mimeType))
    return <p className={classes.none}>A picture ({mimeType.slice(0, 60)}) that this browser cannot show.</p>;
  return (
    <img
      className={classes.picture}
      src={`data:${mimeType};base64,${base64}`}
      alt="Result of the tool"
      onError={() => setBroken(true)}
    />
  );
}

function Sound({ mimeType, base64 }: { readonly mimeType: string; readonly base64: string }) {
  if (!SOUNDS.test(mimeType)) return <p className={classes.none}>A sound of an unknown type.</p>;
  // biome-ignore lint/a11y/useMediaCaption: sounds of tools come without captions
  return <audio className={classes.sound} controls src={`data:${mimeType};base64,${base64}`} />;
}

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <button type="button" className={classes.quiet} onClick={() => void copyText(text).then(() => setDone(true))}>
      <Icon name={isDone ? 'check' : 'copy'} size={14} />
      {isDone ? 'Copied' : label}
    </button>
  );
}

function DownloadButton({ of, name }: { readonly of: CutText; readonly name: string }) {
  const save = () => {
    const address = URL.createObjectURL(of.file ?? new Blob([of.text]));
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return (
    <button type="button" className={classes.quiet} onClick={save}>
      <Icon name="download" size={14} />
      Download
    </button>
  );
}

/** A size in bytes, to read. */
export function toSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
