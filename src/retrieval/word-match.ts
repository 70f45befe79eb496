import type { Retriever } from '../core/retriever.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

const NAME_WEIGHT = 2;

/** Ranks by the share of the request's words that stand in a tool's name, title, tags or description. */
export function wordMatch(): Retriever {
  const indexed = new Map<string, { readonly name: ReadonlySet<string>; readonly text: ReadonlySet<string> }>();
  return {
    add(specs) {
      for (const spec of specs) indexed.set(spec.name, { name: wordsOf(spec.name), text: wordsOf(textOf(spec)) });
    },
    remove(names) {
      for (const name of names) indexed.delete(name);
    },
    async rank(query, { limit, among = () => true, minScore = 0 }) {
      const wanted = [...wordsOf(query)];
      const hits = [];
      for (const [name, words] of indexed) {
        if (!among(name)) continue;
        const inName = wanted.filter((word) => words.name.has(word));
        const inText = wanted.filter((word) => words.text.has(word) && !words.name.has(word));
        const score = (inName.length * NAME_WEIGHT + inText.length) / (wanted.length * NAME_WEIGHT);
        if (score <= 0 || score < minScore) continue;
        hits.push({ name, score, why: `matches ${[...inName, ...inText].map((word) => `"${word}"`).join(', ')}` });
      }
      // Equal scores keep catalog order: sorting is stable.
      return hits.sort((a, b) => b.score - a.score).slice(0, limit);
    },
  };
}

function textOf(spec: ToolSpec): string {
  return [spec.title ?? '', spec.description, spec.category ?? '', ...spec.tags].join(' ');
}

/** Lower-case words; a name is split at case changes and punctuation. */
function wordsOf(text: string): ReadonlySet<string> {
  const spaced = text.replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').toLowerCase();
  return new Set(spaced.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== ''));
}
