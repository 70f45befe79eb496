/** What went wrong without failing anything. Each sentence is said once and kept for whoever asks later. */
export interface Warnings {
  warn(message: string): void;
  /** Says it without keeping it: it can be found out anew. */
  announce(message: string): void;
  list(): readonly string[];
}

const MANY = 1000;

/** `redact` takes the values of secrets out of what is said. */
export function createWarnings(redact: (text: string) => string): Warnings {
  const said = new Set<string>();
  const announce = (message: string) => process.emitWarning(redact(message), 'ToolcribWarning');
  return {
    announce,
    warn(told) {
      const message = redact(told);
      if (said.has(message) || said.size >= MANY) return;
      said.add(message);
      announce(message);
    },
    list: () => [...said],
  };
}
