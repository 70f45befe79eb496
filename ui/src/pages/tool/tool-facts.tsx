import { useState } from 'react';
import { Link } from 'wouter';
import { Danger } from '../../parts/danger.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './tool.module.css';
import type { ToolDetail } from './tool-types.ts';

const FOLDED_LENGTH = 280;

/** What a tool is: its words, where it comes from, what it does to the world and what it costs. */
export function ToolFacts({ tool }: { readonly tool: ToolDetail }) {
  return (
    <div className={classes.facts}>
      <Description text={tool.description} />
      <div className={classes.line}>
        <Danger danger={tool.danger} />
        <Link href={`/sources/${encodeURIComponent(tool.source)}`} className={classes.fact}>
          <span className="faint">source</span> <VisibleText text={tool.source} limit={60} />
        </Link>
        {tool.kind !== undefined && <Fact word="kind" value={tool.kind} />}
        {tool.category !== undefined && <Fact word="category" value={tool.category} />}
        {tool.bundles.length > 0 && <Fact word="bundle" value={tool.bundles.join(', ')} />}
        {tool.tags.length > 0 && <Fact word="tags" value={tool.tags.join(', ')} />}
        {tool.version !== undefined && <Fact word="version" value={tool.version} />}
        <span className={classes.fact} title={tokensOf(tool)}>
          <span className="faint">tokens</span> {tool.tokens.openai ?? Object.values(tool.tokens)[0] ?? 0}
        </span>
      </div>
      <Warnings tool={tool} />
    </div>
  );
}

function tokensOf({ tokens }: ToolDetail): string {
  return Object.entries(tokens)
    .map(([format, count]) => `${format} ${count}`)
    .join(', ');
}

function Fact({ word, value }: { readonly word: string; readonly value: string }) {
  return (
    <span className={classes.fact}>
      <span className="faint">{word}</span> <VisibleText text={value} limit={120} />
    </span>
  );
}

function Description({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  const isLong = text.length > FOLDED_LENGTH || text.includes('\n\n');
  const [first = ''] = text.split('\n\n');
  return (
    <p className={classes.description}>
      <VisibleText text={isOpen ? text : first.slice(0, FOLDED_LENGTH)} lines="many lines" limit={20_000} />
      {isLong && (
        <button type="button" className={classes.inline} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Less' : `… more (${text.length.toLocaleString('en')} characters)`}
        </button>
      )}
    </p>
  );
}

/** What keeps the tool from working as it should, each in a line. */
function Warnings({ tool }: { readonly tool: ToolDetail }) {
  return (
    <>
      {tool.stops?.map((stop) => (
        <p key={stop} className={classes.warning}>
          <Status tone="danger">Stopped</Status> <VisibleText text={stop} />
        </p>
      ))}
      {tool.status !== 'ready' && (
        <p className={classes.warning}>
          <Status tone="warn">{`Source ${tool.status}`}</Status> The source “
          <VisibleText text={tool.source} limit={60} />” is {tool.status}
          {tool.since !== undefined && (
            <>
              {' '}
              since <RelativeTime at={tool.since} />
            </>
          )}
          . <Link href={`/sources/${encodeURIComponent(tool.source)}`}>Show the source</Link>
        </p>
      )}
      {[...(tool.fixedArguments ?? []), ...(tool.hiddenArguments ?? [])].length > 0 && (
        <p className={classes.warning}>
          <Status tone="quiet">Set by the operator</Status>{' '}
          <VisibleText text={[...(tool.fixedArguments ?? []), ...(tool.hiddenArguments ?? [])].join(', ')} />
        </p>
      )}
    </>
  );
}
