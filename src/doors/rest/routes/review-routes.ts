import { MOST_LABELS, type StoredLabel } from '../../../core/ports/stored-definitions.ts';
import { notAvailable, toolError } from '../../../core/tool-error.ts';
import { examine } from '../../../crib/console/doctor.ts';
import type { Crib } from '../../../crib/crib.ts';
import { measureSearch, unknownIds } from '../../../crib/search-quality.ts';
import { reportOn } from '../../check-report.ts';
import { toTime } from '../../shown.ts';
import { type Answer, notFound, ok, refuse, refuseFor } from '../answers.ts';
import { openToList, type Route, type RouteRequest } from '../route.ts';
import { anyObject, anything, choice, flag, list, number, object, shortText, text, time, whole } from '../shapes.ts';
import { PROFILE } from './tool-routes.ts';

const QUERY = shortText('A request in plain words.', 4000);
const RELEVANT = list(shortText('The name of a tool.'), 'The tools that answer the request; empty if no tool fits.');
const LABEL = object({ id: text(), query: text(), relevant: list(text()), by: text(), at: time() });
const SHARE = { anyOf: [number('From 0 to 1.'), { type: 'null' }] };

/** Routes about the configuration, this machine and the quality of search. */
export const REVIEW_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/check',
    group: 'review',
    says: 'Checks the configuration and the sources as they are now, like `toolcrib check`.',
    who: 'operator',
    answers: {
      200: {
        says: 'The findings; ok is true without conflicts and problems.',
        schema: object({
          ok: flag(),
          configuration: object({ ok: flag(), 'message?': text() }),
          sources: list(anyObject('A source with its state.')),
          'store?': anyObject('Where the store is, and its state.'),
          extensions: list(object({ name: text(), priority: number(), reason: text() }), 'Outermost first.'),
          guardsOff: list(text(), 'Built-in guards that are off.'),
          conflicts: list(text(), 'Names that two sources claim.'),
          problems: list(text()),
          notes: list(text()),
          profiles: list(object({ name: text(), default: flag(), toolCount: whole(), tokens: anyObject() })),
          tokensExact: flag(),
        }),
      },
    },
    run: async ({ crib }) => ok(await reportOn(crib)),
  },
  {
    method: 'GET',
    path: '/api/doctor',
    group: 'review',
    says: 'Examines store, clock, versions, sandbox, Python and sources of this machine.',
    who: 'operator',
    answers: {
      200: {
        says: 'The findings, each with a remedy.',
        schema: object({
          ok: flag('True without problems.'),
          checks: list(
            object({ name: text(), state: choice(['ok', 'warning', 'problem']), says: text(), 'fix?': text() }),
          ),
        }),
      },
    },
    run: async ({ crib }) => ok(await examine(crib)),
  },
  {
    method: 'GET',
    path: '/api/configuration',
    group: 'review',
    says: 'Returns the configuration in force as it is written. Values that may be secrets are hidden.',
    who: 'operator',
    answers: {
      200: {
        says: 'Each value with its place.',
        schema: object({
          'file?': text('Absent if code passes the configuration.'),
          files: list(text(), 'Every file that was read.'),
          values: list(
            object({
              path: text('A JSON pointer.'),
              value: anything('The value as written.'),
              from: text('File and line, or code.'),
            }),
          ),
        }),
      },
    },
    run: ({ crib }) => ok(crib.server.configuration()),
  },
  {
    method: 'POST',
    path: '/api/evaluation',
    group: 'review',
    says: 'Measures how well search finds the tools of labelled requests.',
    who: 'operator',
    body: object({
      'requests?': {
        ...list(
          object({ 'id?': shortText('An id.'), query: QUERY, relevant: RELEVANT }),
          'Default: the stored labels.',
        ),
        maxItems: 2000,
      },
      'profile?': PROFILE,
      'worst?': whole('Number of requests with the worst results to list. Default: 10.', 0, 1000),
    }),
    answers: {
      200: {
        says: 'The figures; a share is null if no request counts for it.',
        schema: object({
          requests: whole(),
          ...Object.fromEntries(
            ['ndcg10', 'recall1', 'recall5', 'recall10', 'mrr', 'lost', 'empty', 'refused', 'lowRight', 'lowWrong'].map(
              (key) => [`${key}?`, SHARE],
            ),
          ),
          msPerQuery: number(),
          unknown: list(text(), 'Expected tools that do not exist.'),
          worst: list(anyObject('A request, what was expected and what was found.')),
        }),
      },
    },
    run: evaluateSearch,
  },
  {
    method: 'GET',
    path: '/api/labels',
    group: 'review',
    says: 'Lists the labelled requests that search is measured with.',
    who: 'operator',
    answers: { 200: { says: 'The labels, newest first.', schema: object({ labels: list(LABEL) }) } },
    run: async ({ crib }) => ok({ labels: (await labelsOf(crib).list()).map(toShownLabel) }),
  },
  {
    method: 'POST',
    path: '/api/labels',
    group: 'review',
    says: 'Stores which tools answer a request, for measuring search. Replaces the label of the same request.',
    who: 'operator',
    body: object({ query: QUERY, relevant: { ...RELEVANT, maxItems: 100 } }),
    answers: { 201: { says: 'The label is stored.', schema: object({ label: LABEL }) } },
    run: addLabel,
  },
  {
    method: 'DELETE',
    path: '/api/labels/{id}',
    group: 'review',
    says: 'Removes a label.',
    who: 'operator',
    answers: { 200: { says: 'The label is removed.', schema: object({ removed: list(text()) }) } },
    async run({ crib, params }) {
      const { id = '' } = params;
      const isRemoved = !/[\p{Cc}\p{Cs}]/u.test(id) && (await labelsOf(crib).remove(id));
      return isRemoved ? ok({ removed: [id] }) : notFound(`The label "${id}" was not found.`);
    },
  },
];

function labelsOf({ store }: Crib) {
  if (store === undefined) throw notAvailable('The store of labels', 'pass a configuration to createCrib');
  return store.labels;
}

function toShownLabel({ at, ...label }: StoredLabel): object {
  return { ...label, at: toTime(at) };
}

async function addLabel({ crib, asker, body }: RouteRequest): Promise<Answer> {
  const { query, relevant } = body as { readonly query: string; readonly relevant: readonly string[] }; // as its schema demands
  if (/[\0\p{Cs}]/u.test(`${query}${relevant.join('')}`)) return refuseFor(NOT_TEXT);
  const by = asker.caller.id ?? 'operator';
  const label = await labelsOf(crib).put({ query, relevant: [...new Set(relevant)], by });
  if (label !== undefined) return ok({ label: toShownLabel(label) }, 201);
  const message = `The limit of ${MOST_LABELS} labels is reached. Remove some first.`;
  return refuse(409, { code: 'conflict', message, retryable: false });
}

const NOT_TEXT = toolError('invalid_input', 'The request contains characters that cannot be stored.');

interface EvaluationBody {
  readonly requests?: readonly { readonly id?: string; readonly query: string; readonly relevant: readonly string[] }[];
  readonly profile?: string;
  readonly worst?: number;
}

async function evaluateSearch(asked: RouteRequest): Promise<Answer> {
  const { requests: given, profile, worst = 10 } = asked.body as EvaluationBody; // as its schema demands
  const requests = (given ?? (await labelsOf(asked.crib).list())).map(({ id, query, relevant }, index) => ({
    id: id ?? `${index + 1}`,
    query,
    relevant,
  }));
  if (requests.length === 0) return refuseFor(NOTHING_TO_MEASURE);
  const chest = await openToList(asked, profile);
  const { outcomes, ...measured } = await measureSearch(chest, requests);
  return ok({
    ...measured,
    unknown: unknownIds(requests, (name) => chest.get(name) !== undefined),
    worst: outcomes.filter(({ ndcg10 }) => ndcg10 < 1).slice(0, worst),
  });
}

const NOTHING_TO_MEASURE = toolError(
  'invalid_input',
  'Nothing can be measured without requests. Send "requests", or store labels first.',
);
