const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Ends the process on Ctrl-C between two steps of the program, never inside one: files are written in one step. */
export function endOnInterrupt(): void {
  for (const signal of SIGNALS) process.on(signal, endAtOnce);
}

/** Work that Ctrl-C cancels; a second Ctrl-C ends the process. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** What Ctrl-C does, for a prompt that takes the key itself. */
  interrupt(): void;
}

/** From now on Ctrl-C cancels instead of ending the process. */
export function cancelOnInterrupt(): Interruption {
  const controller = new AbortController();
  const interrupt = () => {
    endOnInterrupt();
    controller.abort();
  };
  for (const signal of SIGNALS) process.off(signal, endAtOnce).once(signal, interrupt);
  return { signal: controller.signal, interrupt };
}

// 130 or 143: what a shell reports for a program that the signal ended.
function endAtOnce(_signal: string, number: number): never {
  process.exit(128 + number);
}
