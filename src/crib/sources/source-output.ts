import type { SourceContext } from '../../core/source.ts';
import { idleClock } from '../../system/clock.ts';
import { createListeners } from '../../system/listeners.ts';
import { createLineFeed } from '../../system/processes/child-output.ts';

/** Takes lines that the program of a source has printed. */
export type TakeLines = (lines: readonly string[]) => void;

/** What the programs of sources print, as it comes. */
export interface SourceOutputs {
  /** For the context of sources. */
  readonly take: NonNullable<SourceContext['onOutput']>;
  /** Tells of what a source has printed so far, and then of every line; returns how to stop. */
  follow(following: FollowOutput): () => void;
}

interface FollowOutput {
  readonly source: string;
  /** What is there already. */
  readonly printed: string;
  onLines: TakeLines;
}

/** `redact` takes the values of secrets out of the lines. It sees all lines of a piece together: a secret may have several. */
export function createSourceOutputs(redact: (text: string) => string): SourceOutputs {
  const outputs = createListeners<[string, Uint8Array]>();
  return {
    take: outputs.tell,
    follow({ source, printed, onLines }) {
      const feed = createLineFeed((lines) => onLines(redact(lines.join('\n')).split('\n')), idleClock);
      if (printed !== '') feed.add(Buffer.from(printed));
      const stop = outputs.add((from, piece) => from === source && feed.add(piece));
      return () => {
        stop();
        feed.end();
      };
    },
  };
}
