import { useEffect, useRef, useState } from 'react';
import { OWN_HEADER } from '../../api/client.ts';
import { readEventStream } from '../../api/event-stream.ts';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './source-detail.module.css';

/** The largest number of lines that is shown; older ones go. */
const MOST_LINES = 500;

/** The output of the program of a source, live. New lines scroll into view unless the reader has scrolled up. */
export function SourceOutput({ name }: { readonly name: string }) {
  const lines = useOutput(name);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const count = lines.length;
  useEffect(() => {
    if (isAtEnd.current && count > 0) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [count]);
  return (
    <section>
      <h3 className={classes.section}>Server output</h3>
      {lines.length === 0 ? (
        <p className={classes.quiet}>The program has printed nothing, or the source has no program.</p>
      ) : (
        <div
          ref={box}
          className={classes.output}
          role="log"
          aria-label={`Output of ${name}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region must be reachable by keyboard
          tabIndex={0}
          onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
            isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
          }}
        >
          {lines.map(({ number, text }) => (
            <div key={number} className={classes.line}>
              <VisibleText text={text} limit={2000} />
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

interface Line {
  readonly number: number;
  readonly text: string;
}

function useOutput(name: string): readonly Line[] {
  const [lines, setLines] = useState<readonly Line[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    let next = 0;
    const add = (texts: readonly string[]): void => {
      const added = texts.map((text) => ({ number: next++, text }));
      setLines((before) => [...before, ...added].slice(-MOST_LINES));
    };
    const follow = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        setLines([]);
        await readEventStream(`/api/sources/${encodeURIComponent(name)}/output?follow=true`, {
          headers: OWN_HEADER,
          signal: stop.signal,
          onEvent({ name: event, data }) {
            if (event === 'output') add(linesOf(data));
          },
        });
        await new Promise((resolve) => setTimeout(resolve, 3000)); // the server ended the stream: it restarts
      }
    };
    void follow();
    return () => stop.abort();
  }, [name]);
  return lines;
}

function linesOf(data: unknown): readonly string[] {
  const { lines } = data as { readonly lines?: string | readonly string[] }; // the event of this route
  const texts = typeof lines === 'string' ? lines.split('\n') : (lines ?? []);
  return texts.flatMap((text) => text.split('\n')).filter((text) => text !== '');
}
