import type { ChildProcess } from 'node:child_process';
import { createOutputTail } from './output-tail.ts';

/** What a program said. */
export interface ProgramOutput {
  readonly stdout: Buffer;
  /** The end of it. */
  readonly stderr: string;
  /** More than it may, on one of the two. */
  readonly saidTooMuch: boolean;
}

/** Reads both outputs up to the bound; what it returns tells what was read so far. */
export function collectOutput(child: ChildProcess, maxBytes: number, onTooMuch: () => void): () => ProgramOutput {
  const chunks: Buffer[] = [];
  const tail = createOutputTail();
  let saidTooMuch = false;
  const bounded = (keep: (chunk: Buffer) => void) => {
    let bytes = 0;
    return (chunk: Buffer): void => {
      bytes += chunk.length;
      if (saidTooMuch) return;
      if (bytes <= maxBytes) {
        keep(chunk);
        return;
      }
      saidTooMuch = true;
      chunks.length = 0; // nobody will get it
      onTooMuch();
    };
  };
  const { stdout, stderr } = child;
  stdout?.on(
    'data',
    bounded((chunk) => void chunks.push(chunk)),
  );
  stderr?.on('data', bounded(tail.add));
  for (const stream of [stdout, stderr]) stream?.on('error', () => {}); // whoever said it is gone
  return () => ({ stdout: Buffer.concat(chunks), stderr: tail.text(), saidTooMuch });
}
