import type { HeldBack } from '../core/catalog.ts';

/** What went wrong without failing anything. Each sentence is said once and kept for whoever asks later. */
export interface Warnings {
  warn(message: string): void;
  /** Says it without keeping it: it can be found out anew. */
  announce(message: string): void;
  /** Says which names are held back by now, each as long as it was not held back before. */
  announceHeld(held: readonly HeldBack[]): void;
  list(): readonly string[];
}

const MANY = 1000;

/** `redact` takes the values of secrets out of what is said. */
export function createWarnings(redact: (text: string) => string): Warnings {
  const said = new Set<string>();
  let heldBefore: ReadonlySet<string> = new Set();
  const announce = (message: string) => process.emitWarning(redact(message), 'ToolcribWarning');
  return {
    announce,
    warn(told) {
      const message = redact(told);
      if (said.has(message) || said.size >= MANY) return;
      said.add(message);
      announce(message);
    },
    announceHeld(held) {
      const messages = new Set(held.map(({ message }) => message));
      for (const message of messages) if (!heldBefore.has(message)) announce(message);
      heldBefore = messages;
    },
    list: () => [...said],
  };
}
