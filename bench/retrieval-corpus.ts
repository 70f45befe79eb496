import { readSet, setsOf, spread, type ToolRow } from './retrieval-data.ts';

const REQUESTS = 200;

/** Tools of all sets, mixed. */
export function readCorpus(): readonly ToolRow[] {
  const sets = [
    ...setsOf('train').map((name) => readSet('train', name)),
    ...setsOf('dev').map((name) => readSet('dev', name)),
  ];
  // Weak pairs are no tools as people write them.
  const rows = sets.filter(({ name }) => !/^(openapi|tldr|clinc)/.test(name)).flatMap(({ tools }) => tools);
  return rows
    .map((row, index) => ({ row, key: Math.imul(index, 0x9e3779b1) >>> 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);
}

/** So many tools out of the corpus; where it is too small, again with other names and words of their own. */
export function toolsOf(corpus: readonly ToolRow[], count: number): readonly ToolRow[] {
  return Array.from({ length: count }, (_, index) => {
    const row = corpus[index % corpus.length] as ToolRow; // within the corpus
    const round = Math.floor(index / corpus.length);
    const name = `${row.name}_${index}`;
    if (round === 0) return { ...row, id: name };
    return { ...row, id: name, name, description: `${row.description} Region${index % 997} edition${round}.` };
  });
}

/** Requests of 20 to 30 words. */
export function longRequests(): readonly string[] {
  const requests = setsOf('dev').flatMap((name) => readSet('dev', name).requests);
  const long = requests
    .map(({ query }) => query)
    .filter((query) => {
      const words = query.split(/\s+/).length;
      return words >= 20 && words <= 30;
    });
  return spread(long, REQUESTS);
}
