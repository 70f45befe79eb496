import { findHints } from './hints.ts';
import type { Schema } from './schema.ts';

/** A question to the thread that finds hints. */
export interface HintQuestion {
  readonly id: number;
  readonly schema: Schema;
  readonly text: string;
}

// A pattern of a hostile schema can run for hours. Here it does not stop the page, which ends this thread.
addEventListener('message', ({ data }: MessageEvent<HintQuestion>) => {
  postMessage({ id: data.id, issues: findHints(data.schema, data.text) });
});
