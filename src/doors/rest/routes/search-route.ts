import { toSearchAnswer } from '../../../core/retriever.ts';
import { ok } from '../answers.ts';
import { openToList, type Route, type RouteRequest } from '../route.ts';
import { choice, flag, list, number, object, shortText, text, whole } from '../shapes.ts';
import { PROFILE } from './tool-routes.ts';

interface SearchQuery {
  readonly q: string;
  readonly limit?: number;
  readonly expand?: boolean;
  readonly profile?: string;
}

/** The route that searches tools. */
export const SEARCH_ROUTE: Route = {
  method: 'GET',
  path: '/api/search',
  group: 'tools',
  says: 'Searches tools by a request in plain words.',
  who: 'caller',
  query: {
    q: shortText('The request.', 4000),
    'limit?': whole('Maximum number of results. Default: 10.', 1, 100),
    'expand?': flag('Adds the tools that belong with the results.'),
    'profile?': PROFILE,
  },
  answers: {
    200: {
      says: 'The matching tools, best first. If none clearly matches, the three nearest.',
      schema: object({
        results: list(
          object({ name: text(), score: number('From 0 to 1.'), description: text(), 'bundle?': text(), why: text() }),
        ),
        'confidence?': choice(['high', 'low'], 'The confidence of the best result; low without results.'),
        'note?': text('Present if no tool clearly matches.'),
      }),
    },
  },
  run: searchTools,
};

async function searchTools(asked: RouteRequest) {
  const { q, profile, ...options } = asked.query as unknown as SearchQuery; // as its schema demands
  const chest = await openToList(asked, profile);
  const seen = new Set(chest.available());
  const { hits, ...answer } = toSearchAnswer(await chest.search(q, options));
  return ok({
    results: hits.map(({ name, score, description, bundle, why }) => ({
      name,
      score,
      description,
      ...(bundle !== undefined && seen.has(bundle) && { bundle }),
      why,
    })),
    ...answer,
  });
}
