import { parseJson } from '../json/json-text.ts';
import { readAnswer } from './call-answer.ts';

/** Work for the thread that parses large JSON, so that the page does not stand still. */
export interface JsonWork {
  readonly id: number;
  readonly kind: 'answer' | 'parse';
  readonly text: string;
}

addEventListener('message', ({ data: { id, kind, text } }: MessageEvent<JsonWork>) => {
  postMessage({ id, result: kind === 'answer' ? readAnswer(text) : parseJson(text) });
});
