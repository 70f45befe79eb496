import type { Answer } from '../../api/answer.ts';
import type { Tone } from '../../parts/status.tsx';

/** A source and its state. */
export type SourceRow = Answer<'/api/sources'>['sources'][number];

/** How each state is shown: tone and word. */
export const STATES: Readonly<Record<SourceRow['state'], readonly [Tone, string]>> = {
  ready: ['good', 'Ready'],
  starting: ['active', 'Starting'],
  stale: ['warn', 'Stale'],
  down: ['danger', 'Down'],
  failed: ['danger', 'Failed'],
};

/** What a state means for calls. */
export const MEANINGS: Readonly<Record<SourceRow['state'], string>> = {
  ready: 'Its tools are listed and can be called.',
  starting: 'No tools are listed until the source has answered.',
  stale: 'The edited entry is not in use; the connection from before the edit still answers.',
  down: 'Its tools are listed, but its program or server is gone. The next call connects again, and so does a reload.',
  failed: 'It has not listed its tools. Mend the cause, then reload it.',
};
