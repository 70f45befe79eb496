import { type ParsedJson, parseJson } from '../json/json-text.ts';
import type { JsonWork } from './answer-thread.ts';
import { type CallAnswer, readAnswer } from './call-answer.ts';

/** Shorter texts are parsed at once: a thread would take longer. */
const AT_ONCE_LENGTH = 100_000;

let thread: Worker | undefined;
let lastId = 0;
const waiting = new Map<number, (result: never) => void>();

/** Reads an answer; a long one in a thread of its own. */
export function readAnswerAside(text: string): Promise<CallAnswer> {
  return text.length < AT_ONCE_LENGTH ? Promise.resolve(readAnswer(text)) : ask<CallAnswer>('answer', text);
}

/** Parses JSON; a long text in a thread of its own. */
export function parseAside(text: string): Promise<ParsedJson> {
  return text.length < AT_ONCE_LENGTH ? Promise.resolve(parseJson(text)) : ask<ParsedJson>('parse', text);
}

function ask<Result>(kind: JsonWork['kind'], text: string): Promise<Result> {
  thread ??= startThread();
  const id = ++lastId;
  const { promise, resolve } = Promise.withResolvers<Result>();
  waiting.set(id, resolve as (result: never) => void); // each question knows the type of its answer
  thread.postMessage({ id, kind, text } satisfies JsonWork);
  return promise;
}

function startThread(): Worker {
  const made = new Worker(new URL('./answer-thread.ts', import.meta.url), { type: 'module' });
  made.onmessage = ({ data }: MessageEvent<{ readonly id: number; readonly result: never }>) => {
    waiting.get(data.id)?.(data.result);
    waiting.delete(data.id);
  };
  return made;
}
