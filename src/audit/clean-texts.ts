import { hash } from 'node:crypto';

/** Cleans texts of callers for rows: redacts secrets, cuts to 200 characters, drops other types. */
export interface Cleaner {
  clean(text: unknown): string;
  cleanList(texts: readonly string[]): readonly string[];
  /** Clears the cache, because new secrets may be known. */
  forget(): void;
}

const MAX_LENGTH = 200;
const KEPT_LENGTH = 160;
const HASH_LENGTH = 16;
const MAX_LIST = 20;
/** Length of call ids, which are unique and therefore not cached. */
const ID_LENGTH = 36;
const MAX_KNOWN = 1000;

export function createCleaner(redact: (text: string) => string): Cleaner {
  const known = new Map<string, string>();
  let lists = new WeakMap<readonly string[], readonly string[]>();
  const clean = (text: unknown): string => {
    if (typeof text !== 'string') return '';
    if (text.length === ID_LENGTH) return redact(text);
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= MAX_KNOWN) known.clear();
    const cleaned = cut(redact(text));
    if (text.length <= MAX_LENGTH) known.set(text, cleaned);
    return cleaned;
  };
  return {
    clean,
    cleanList(texts) {
      const found = lists.get(texts);
      if (found !== undefined) return found;
      const cleaned = texts.slice(0, MAX_LIST).map(clean);
      lists.set(texts, cleaned);
      return cleaned;
    },
    forget() {
      known.clear();
      lists = new WeakMap();
    },
  };
}

/** Cuts a long text and adds its hash, so that different texts stay different. */
function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, KEPT_LENGTH)}…${hash('sha256', text).slice(0, HASH_LENGTH)}`;
}
