import { useEffect, useRef, useState } from 'react';
import type { HintQuestion } from './hint-thread.ts';
import type { Issue } from './issue.ts';
import type { Schema } from './schema.ts';

const DELAY_MS = 150;
const MAX_MS = 2000;

/** Hints about arguments, found in a thread of its own. A schema whose check takes too long gets no hints. */
export function useHints(schema: Schema, text: string): readonly Issue[] {
  const [issues, setIssues] = useState<readonly Issue[]>([]);
  const thread = useRef<Worker | undefined>(undefined);
  const asked = useRef(0);
  useEffect(() => () => end(thread), []);
  useEffect(() => {
    const id = ++asked.current;
    let limit: ReturnType<typeof setTimeout> | undefined;
    const delay = setTimeout(() => {
      thread.current ??= new Worker(new URL('./hint-thread.ts', import.meta.url), { type: 'module' });
      thread.current.onmessage = ({ data }: MessageEvent<{ id: number; issues: readonly Issue[] }>) => {
        if (data.id !== asked.current) return;
        clearTimeout(limit);
        setIssues(data.issues);
      };
      limit = setTimeout(() => {
        end(thread);
        setIssues([]);
      }, MAX_MS);
      thread.current.postMessage({ id, schema, text } satisfies HintQuestion);
    }, DELAY_MS);
    return () => {
      clearTimeout(delay);
      clearTimeout(limit);
    };
  }, [schema, text]);
  return issues;
}

function end(thread: { current: Worker | undefined }): void {
  thread.current?.terminate();
  thread.current = undefined;
}
