import type { SourceContext } from '../../core/source.ts';
import { idleClock } from '../../system/clock.ts';
import { createListeners } from '../../system/listeners.ts';
import { createLineFeed } from '../../system/processes/child-output.ts';

/** Receives output lines of the program of a source. */
export type TakeLines = (lines: readonly string[]) => void;

/** The live output of the programs of sources. */
export interface SourceOutputs {
  /** Passed to sources in their context. */
  readonly take: NonNullable<SourceContext['onOutput']>;
  /** Passes on past and future output of a source. Returns a function that stops it. */
  follow(following: FollowOutput): () => void;
}

interface FollowOutput {
  readonly source: string;
  /** Past output. */
  readonly printed: string;
  onLines: TakeLines;
}

/** `redact` removes the values of secrets. It gets all lines of a chunk together, as a secret may have several lines. */
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
