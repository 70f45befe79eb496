import { ok } from '../answers.ts';
import { openToList } from '../open-chest.ts';
import type { Asked, Route } from '../route.ts';
import { flag, list, number, object, shortText, text, whole } from '../schema-builders.ts';
import { PROFILE } from './tools.ts';

interface SearchQuery {
  readonly q: string;
  readonly limit?: number;
  readonly expand?: boolean;
  readonly profile?: string;
}

/** Finding tools. */
export const SEARCH_ROUTE: Route = {
  method: 'GET',
  path: '/api/search',
  group: 'tools',
  says: 'Tools for a request in words, best first.',
  who: 'caller',
  query: {
    q: shortText('The request.', 4000),
    'limit?': whole('At most so many; 10 if absent.', 1, 100),
    'expand?': flag('Adds what belongs with the hits.'),
    'profile?': PROFILE,
  },
  answers: {
    200: {
      says: 'The tools that fit.',
      schema: object({
        results: list(
          object({ name: text(), score: number('From 0 to 1.'), description: text(), 'bundle?': text(), why: text() }),
        ),
      }),
    },
  },
  run: searchTools,
};

async function searchTools(asked: Asked) {
  const { q, profile, ...options } = asked.query as unknown as SearchQuery; // as its schema demands
  const chest = await openToList(asked, profile);
  const seen = new Set(chest.available());
  const hits = await chest.search(q, options);
  return ok({
    results: hits.map(({ name, score, description, bundle, why }) => ({
      name,
      score,
      description,
      ...(bundle !== undefined && seen.has(bundle) && { bundle }),
      why,
    })),
  });
}
