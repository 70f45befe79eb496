import { describe } from '../core/read-options.ts';

/** Where something stands in a configuration: keys and positions, from the root. */
export type Path = readonly (string | number)[];

/** One thing that is wrong with a configuration. */
export interface Mistake {
  readonly path: Path;
  /** Whether the key or the value is what is wrong. */
  readonly at: 'key' | 'value';
  readonly message: string;
}

/** More than these are not worth reading at once. */
export const MAX_MISTAKES = 20;

/** A path as people write it: `profiles.assistant.include[2]`. */
export function toPathText(path: Path): string {
  if (path.length === 0) return 'the configuration';
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    const isPlain = /^[\w$.@/-]{1,64}$/.test(segment);
    if (!isPlain) return `${text}[${describe(segment)}]`;
    return text === '' ? segment : `${text}.${segment}`;
  }, '');
}

/** True where a value may be a credential that was written down in the wrong place: nobody should see it quoted. */
export function isDelicate(path: Path): boolean {
  return path.some((segment) => DELICATE.has(segment));
}

const DELICATE: ReadonlySet<string | number> = new Set(['secrets', 'secret', 'env', 'headers', 'key']);
