import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

/** Throws where two specs would be exported under one name, naming the sources of both. */
export function requireDistinctNames(specs: readonly Pick<ToolSpec, 'name' | 'source'>[]): void {
  const owners = new Map<string, string>();
  for (const { name, source } of specs) {
    const owner = owners.get(name);
    if (owner !== undefined) {
      throw new ToolcribError(
        'duplicate',
        `"${name}" is given twice, from ${owner} and from ${source}; a model needs one tool per name, so leave one out.`,
      );
    }
    owners.set(name, source);
  }
}

/** Throws where a vendor would refuse the whole request because of too many tools. */
export function requireAtMost(specs: readonly unknown[], maxTools: number, vendor: string): void {
  if (specs.length <= maxTools) return;
  throw new ToolcribError(
    'too_many_tools',
    `${vendor} takes at most ${maxTools} tools and ${specs.length} were given; narrow the profile, deactivate bundles, or let the model search with "expose: search".`,
  );
}

/** The text, cut with an ellipsis where it is longer than a vendor allows. */
export function shorten(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const kept = text.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, ''); // never half of a surrogate pair
  return `${kept}…`;
}
