import type { JsonObject } from '../../core/json.ts';
import type { StoredSpecs } from '../../core/ports/store.ts';
import { didYouMean } from '../../core/read-options.ts';
import { notAvailable } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { tokensOf } from '../../formats/token-cost.ts';
import { toTime } from '../shown.ts';
import { notFound, ok, refuse } from './answers.ts';
import { EVENT_HEADERS } from './event-stream.ts';
import type { Route, RouteRequest } from './route.ts';
import { anyObject, choice, flag, list, object, SOURCE_STATES, text, time, whole } from './shapes.ts';

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
                'Down: its tools are listed and cannot be called. Stale: the connection from before an edit answers. Starting: it has no list yet; the reason has what its program printed last.',
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
    says: 'What the program of a source has printed of late besides its answers, without secrets. With `follow`: server-sent events `output` with `lines`, first those that are there, then each as it comes; `lost` tells a client that reads too slowly how many events were dropped.',
    who: 'operator',
    query: { 'follow?': flag('Goes on until the client or the server ends it.') },
    answers: {
      200: {
        says: 'The end of it; empty where it printed nothing or has no program here.',
        schema: object({ output: text(), 'hasProgram?': flag('True where the crib runs a program for the source.') }),
        type: 'text/event-stream',
      },
    },
    run: readOutput,
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

function readOutput({ crib, params, query, feed, request }: RouteRequest) {
  const { id = '' } = params;
  const names = crib.sources().map(({ name }) => name);
  if (!names.includes(id)) return notFound(`There is no source "${id}".${didYouMean(id, names)}`);
  if (query.follow !== true) {
    const output = crib.sourceOutput(id);
    return ok(output === undefined ? { output: '' } : { output, hasProgram: true });
  }
  if (request.method === 'HEAD') return new Response(null, { headers: EVENT_HEADERS });
  const stream = feed.openOwn((send) => crib.server.followOutput(id, (lines) => send('output', { lines })));
  if (stream !== undefined) return new Response(stream, { headers: EVENT_HEADERS });
  return refuse(503, { code: 'unavailable', message: 'Too many clients listen to events.', retryable: true });
}

async function listSources({ crib }: RouteRequest) {
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

/** Specs that are kept in the store. How their tools run goes in and never comes out. */
export const SPEC_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/specs',
    group: 'specs',
    says: 'The specs that are kept in the store.',
    who: 'operator',
    answers: {
      200: {
        says: 'By name, with who changed each last. What they say is seen as tools.',
        schema: object({ specs: list(object({ name: text(), by: text(), at: time() })) }),
      },
    },
    run: async ({ crib }) =>
      ok({ specs: (await specsOf(crib).list()).map(({ name, by, at }) => ({ name, by, at: toTime(at) })) }),
  },
  {
    method: 'POST',
    path: '/api/specs',
    group: 'specs',
    says: 'Adds specs or replaces those of the same name: all of them, or none where one is wrong.',
    who: 'operator',
    body: object({ tools: list(anyObject('A tool, in the format of spec files.')) }),
    answers: {
      200: {
        says: 'What became of each.',
        schema: object({
          specs: list(object({ name: text(), result: choice(['added', 'changed', 'unchanged']) })),
          unseen: list(text(), 'Stored, but not among the tools: no source reads them, or their name is taken.'),
        }),
      },
    },
    run: addSpecs,
  },
  {
    method: 'DELETE',
    path: '/api/specs/{name}',
    group: 'specs',
    says: 'Removes a spec.',
    who: 'operator',
    answers: { 200: { says: 'It is gone.', schema: object({ removed: list(text()) }) } },
    run: removeSpec,
  },
];

function specsOf({ store }: Crib): StoredSpecs {
  if (store === undefined) throw notAvailable('The store', 'give createCrib a configuration');
  return store.specs;
}

async function addSpecs({ crib, asker, body }: RouteRequest) {
  const { tools } = body as { readonly tools: readonly JsonObject[] }; // as its schema demands
  const specs = specsOf(crib);
  const mistakes = await crib.server.checkStored(tools);
  if (mistakes.length > 0) {
    const issues = mistakes.map(({ index, message }) => ({ path: `/tools/${index}`, message }));
    return refuse(400, { code: 'invalid_input', message: 'Nothing was stored.', retryable: false, issues });
  }
  const results = await specs.putAll(tools, asker.caller.id ?? 'operator');
  await crib.server.reloadStored();
  const seen = new Set(crib.catalog.specs.map((spec) => spec.origin)); // a source may give them other names
  const names = tools.map(({ name }) => String(name));
  return ok({
    specs: names.map((name, index) => ({ name, result: results[index] })),
    unseen: names.filter((name) => !seen.has(name)),
  });
}

async function removeSpec({ crib, asker, params }: RouteRequest) {
  const { name = '' } = params;
  if (!(await specsOf(crib).remove(name, asker.caller.id ?? 'operator')))
    return notFound(`No spec "${name}" is stored.`);
  await crib.server.reloadStored();
  return ok({ removed: [name] });
}
