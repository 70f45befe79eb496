import type { MatchedWord } from '../lexical/lexical-index.ts';
import type { Field } from '../search-texts.ts';

const MAX_WORDS = 5;

const PLACES: Readonly<Record<Field, string>> = {
  name: 'name',
  title: 'title',
  description: 'description',
  source: 'source',
  bundle: 'bundle',
  category: 'category',
  tags: 'tags',
  parameters: 'parameters',
  parameterTexts: 'parameters',
  examples: 'examples',
};

/** What made a tool a hit. */
export interface Reasons {
  readonly isNamed: boolean;
  readonly words: readonly MatchedWord[];
  readonly similarity: number | undefined;
}

/** Why a tool was found, in words: `name: "read", "file"; description: "folder"; similar in meaning (0.71)`. */
export function explainHit({ isNamed, words, similarity }: Reasons): string {
  const places: string[] = [];
  const parts: string[] = [];
  for (const { word, field } of words.slice(0, MAX_WORDS)) {
    const place = PLACES[field];
    const known = places.indexOf(place);
    if (known >= 0) parts[known] += `, "${word}"`;
    else {
      places.push(place);
      parts.push(`${place}: "${word}"`);
    }
  }
  if (isNamed) parts.unshift('named in the request');
  if (similarity !== undefined && similarity >= 0.3) parts.push(`similar in meaning (${similarity.toFixed(2)})`);
  return parts.length === 0 ? 'similar in meaning' : parts.join('; ');
}
