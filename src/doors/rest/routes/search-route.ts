import { toSearchAnswer } from '../../../core/retriever.ts';
import { ok, refuse } from '../answers.ts';
import { openToList, type Route, type RouteRequest } from '../route.ts';
import { choice, flag, list, number, object, shortText, text, whole } from '../shapes.ts';
import { PROFILE } from './tool-routes.ts';

interface SearchQuery {
  readonly q?: string;
  readonly goal?: string;
  readonly limit?: number;
  readonly expand?: boolean;
  readonly profile?: string;
}

const ASKED = {
  'q?': shortText('The request.', 4000),
  'goal?': shortText('Instead of q: a job of several steps. Finds the tools for each step.', 4000),
  'limit?': whole('Maximum number of results. Default: 10.', 1, 100),
  'expand?': flag('Adds the tools that belong with the results.'),
  'profile?': PROFILE,
};

const FOUND = {
  200: {
    says: 'The matching tools, best first; for a goal, the best of each step in turns. If none clearly matches, the three nearest.',
    schema: object({
      results: list(
        object({ name: text(), score: number('From 0 to 1.'), description: text(), 'bundle?': text(), why: text() }),
      ),
      'confidence?': choice(['high', 'low'], 'The confidence of the best result; low without results.'),
      'note?': text('Present if no tool clearly matches.'),
    }),
  },
};

/** The routes that search tools. */
export const SEARCH_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/search',
    group: 'tools',
    says: 'Searches tools by a request in plain words, or by a goal.',
    who: 'caller',
    query: ASKED,
    answers: FOUND,
    run: (asked) => searchTools(asked, asked.query as SearchQuery), // as its schema demands
  },
  {
    method: 'POST',
    path: '/api/search',
    group: 'tools',
    says: 'Searches tools like GET, with the request or the goal in the body.',
    who: 'caller',
    body: object(ASKED),
    answers: FOUND,
    run: (asked) => searchTools(asked, asked.body as SearchQuery), // as its schema demands
  },
];

const NOT_VALID = 'The query parameters are not valid.';

async function searchTools(asked: RouteRequest, { q, goal, profile, ...options }: SearchQuery) {
  if ((q === undefined) === (goal === undefined)) {
    const issue =
      q === undefined
        ? { path: '/q', message: 'is required' }
        : { path: '/goal', message: 'cannot be combined with q' };
    return refuse(400, { code: 'invalid_input', message: NOT_VALID, retryable: false, issues: [issue] });
  }
  const chest = await openToList(asked, profile);
  const seen = new Set(chest.available());
  const { hits, ...answer } = toSearchAnswer(await chest.search(q ?? { goal: goal ?? '' }, options));
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
