/** Warnings. Each message is emitted once and kept for `crib.warnings()`. */
export interface Warnings {
  warn(message: string): void;
  /** Emits the current problems of a topic without keeping them, as they can be computed again. Messages of the last announcement are not repeated. */
  announce(about: Topic, messages: readonly string[]): void;
  list(): readonly string[];
}

type Topic = 'configuration' | 'sources' | 'lists' | 'held back';

const MANY = 1000;

/** `redact` removes the values of secrets from messages. */
export function createWarnings(redact: (text: string) => string): Warnings {
  const said = new Set<string>();
  const standing = new Map<Topic, ReadonlySet<string>>();
  const emit = (message: string) => process.emitWarning(message, 'ToolcribWarning');
  return {
    warn(told) {
      const message = redact(told);
      if (said.has(message) || said.size >= MANY) return;
      said.add(message);
      emit(message);
    },
    announce(about, found) {
      const messages = new Set(found.map(redact));
      const before = standing.get(about);
      standing.set(about, messages);
      for (const message of messages) if (before?.has(message) !== true && !said.has(message)) emit(message);
    },
    list: () => [...said],
  };
}
