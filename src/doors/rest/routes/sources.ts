import { tokensOf } from '../../../formats/token-cost.ts';
import { notFound, ok } from '../answers.ts';
import type { Asked, Route } from '../route.ts';
import { choice, list, object, text, whole } from '../schema-builders.ts';
import { SOURCE_STATES } from '../tool-shapes.ts';

/** Where tools come from. */
export const SOURCE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/sources',
    group: 'sources',
    says: 'The sources and how each is doing.',
    who: 'operator',
    answers: {
      200: {
        says: 'In the order of the configuration.',
        schema: object({
          sources: list(
            object({
              name: text(),
              state: choice(
                SOURCE_STATES,
                'Down: its tools are listed and cannot be called. Stale: the connection from before an edit answers.',
              ),
              'reason?': text(),
              'since?': text('Since when it is stale.'),
              toolCount: whole(),
              tokens: whole('What its definitions cost in the OpenAI format, estimated.'),
            }),
          ),
        }),
      },
    },
    run: listSources,
  },
  {
    method: 'GET',
    path: '/api/sources/{id}/output',
    group: 'sources',
    says: 'What the process of a source has said of late besides its answers.',
    who: 'operator',
    answers: {
      200: {
        says: 'The end of it; empty where it said nothing or has no process.',
        schema: object({ output: text() }),
      },
    },
    run({ crib, params }) {
      const { id = '' } = params;
      if (!crib.sources().some(({ name }) => name === id)) return notFound(`There is no source "${id}".`);
      return ok({ output: crib.sourceOutput(id) ?? '' });
    },
  },
  {
    method: 'POST',
    path: '/api/sources/{id}/reload',
    group: 'sources',
    says: 'Reads a source again.',
    who: 'operator',
    answers: {
      200: {
        says: 'Names of tools that came, went or changed.',
        schema: object({ added: list(text()), removed: list(text()), changed: list(text()) }),
      },
    },
    async run({ crib, params }) {
      const { id = '' } = params;
      const changes = await crib.server.reloadSource(id);
      return changes === undefined ? notFound(`There is no source "${id}".`) : ok(changes);
    },
  },
];

async function listSources({ crib }: Asked) {
  const reports = crib.sources().filter(({ name, toolCount }) => name !== 'code' || toolCount > 0);
  const bySource = Map.groupBy(crib.catalog.specs, (spec) => spec.source);
  const sources = reports.map(async ({ name, state, reason, since, toolCount }) => ({
    name,
    state,
    ...(reason !== undefined && { reason }),
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    toolCount,
    tokens: await tokensOf(bySource.get(name) ?? [], 'openai', 'estimate'),
  }));
  return ok({ sources: await Promise.all(sources) });
}
