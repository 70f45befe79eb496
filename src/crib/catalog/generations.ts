import { type Changes, compareCatalogs } from '../../core/catalog.ts';
import type { Generation } from '../../core/ports/generation.ts';
import { describe } from '../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';

/** The generation of this moment. A change marks it old; the next one is built when somebody looks, or listens. */
export interface Generations {
  current(): Generation;
  markOld(): void;
  onChange(listener: (changes: Changes) => void): () => void;
  /** Tells of each next one, also where its tools are the same: profiles and bundles may have changed. */
  onNext(listener: () => void): () => void;
}

export function createGenerations(build: () => Generation, warn: (message: string) => void): Generations {
  let generation = build();
  let isOld = false;
  const listeners = new Set<(changes: Changes) => void>();
  const followers = new Set<() => void>();

  const current = (): Generation => {
    if (!isOld) return generation;
    isOld = false;
    const before = generation;
    generation = build();
    if (listeners.size > 0) announce(compareCatalogs(before.catalog, generation.catalog));
    for (const follower of followers) follower();
    return generation;
  };

  const announce = (changes: Changes): void => {
    if (changes.added.length + changes.removed.length + changes.changed.length === 0) return;
    for (const listener of listeners) {
      try {
        listener(changes);
      } catch (cause) {
        warn(`A listener of onChange failed: ${messageOf(cause)}`);
      }
    }
  };

  return {
    current,
    markOld() {
      if (isOld) return;
      isOld = true;
      if (listeners.size + followers.size > 0) queueMicrotask(current); // many changes at once are one
    },
    onChange(listener) {
      if (typeof listener !== 'function')
        throw new ToolcribError('invalid_option', `onChange takes a function, got ${describe(listener)}.`);
      current(); // what changed before is no news, and nothing may wait to be looked at: then nobody would be told of the next change
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onNext(listener) {
      current(); // as above
      followers.add(listener);
      return () => followers.delete(listener);
    },
  };
}
