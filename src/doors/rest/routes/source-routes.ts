import type { JsonObject } from '../../../core/json.ts';
import type { StoredSpecs } from '../../../core/ports/store.ts';
import { defined, didYouMean } from '../../../core/read-options.ts';
import { notAvailable } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import { tokensOf } from '../../../formats/token-cost.ts';
import { toShownStop, toTime } from '../../shown.ts';
import { type Answer, notFound, ok, refuse } from '../answers.ts';
import { EVENT_HEADERS } from '../event-stream.ts';
import type { Route, RouteRequest } from '../route.ts';
import { anyObject, choice, flag, list, object, SOURCE_STATES, text, time, whole } from '../shapes.ts';
import { readStops } from '../tool-shapes.ts';
import { STOP } from './stop-routes.ts';

/** Routes of sources. */
export const SOURCE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/sources',
    group: 'sources',
    says: 'Lists the sources and their state.',
    who: 'operator',
    answers: {
      200: {
        says: 'The sources, in the order of the configuration.',
        schema: object({
          sources: list(
            object({
              name: text(),
              state: choice(
                SOURCE_STATES,
                'down: the tools are listed but cannot be called. stale: the connection from before an edit still answers. starting: no tools are listed yet; the reason contains the last output of its program.',
              ),
              'reason?': text(),
              'waitingFor?': text('The thing that a source waits for while it starts.'),
              'leftOut?': whole('Number of entries that did not become tools; GET /api/tools/facets lists them.'),
              'since?': text('Since when the source is stale.'),
              'runsOn?': choice(['worker'], 'worker: only workers start the source; calls are handed to them.'),
              'stop?': STOP,
              toolCount: whole(),
              tokens: whole('Estimated token cost of its definitions in the OpenAI format.'),
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
    says: 'Returns the recent output of the program of a source, without secrets. With `follow`: server-sent events `output` with `lines`, first the recent ones, then each new one; `lost` tells a slow client how many events were dropped.',
    who: 'operator',
    query: { 'follow?': flag('Streams until the client or the server closes the connection.') },
    answers: {
      200: {
        says: 'The recent output; empty if the program has printed nothing or the source has no program.',
        schema: object({ output: text(), 'hasProgram?': flag('True if the crib runs a program for the source.') }),
        type: 'text/event-stream',
      },
    },
    run: readOutput,
  },
  {
    method: 'GET',
    path: '/api/sources/{id}/changes',
    group: 'sources',
    says: 'Returns the changes of a source since the server started: its states, and the tools that it added, removed and changed.',
    who: 'operator',
    answers: {
      200: {
        says: 'The newest 50 changes, newest first.',
        schema: object({
          'since?': time('Start of the record. Absent if this process records no changes.'),
          changes: list(
            object({
              at: time(),
              'state?': choice(SOURCE_STATES, 'The state after the change.'),
              'reason?': text(),
              'added?': list(text(), 'At most 50 names, as of the other lists.'),
              'removed?': list(text()),
              'changed?': list(text()),
              'count?': whole('Number of changed tools, if a list of names is cut.'),
            }),
          ),
        }),
      },
    },
    run: readChanges,
  },
  {
    method: 'POST',
    path: '/api/sources/{id}/reload',
    group: 'sources',
    says: 'Reloads a source.',
    who: 'operator',
    answers: {
      200: {
        says: 'The names of added, removed and changed tools.',
        schema: object({ added: list(text()), removed: list(text()), changed: list(text()) }),
      },
    },
    async run({ crib, params }) {
      const { id = '' } = params;
      const changes = await crib.server.reloadSource(id);
      return changes === undefined ? notFound(`The source "${id}" was not found.`) : ok(changes);
    },
  },
];

function readChanges({ crib, params }: RouteRequest) {
  const { id = '' } = params;
  const { since, changes } = crib.server.sourceLog.of(id);
  return (
    unknownSource(crib, id) ??
    ok({
      ...(since !== undefined && { since: toTime(since) }),
      changes: changes.map(({ at, ...change }) => ({ at: toTime(at), ...change })),
    })
  );
}

function unknownSource(crib: Crib, id: string): Answer | undefined {
  const names = crib.sources().map(({ name }) => name);
  return names.includes(id) ? undefined : notFound(`The source "${id}" was not found.${didYouMean(id, names)}`);
}

function readOutput({ crib, params, query, feed, request }: RouteRequest) {
  const { id = '' } = params;
  const unknown = unknownSource(crib, id);
  if (unknown !== undefined) return unknown;
  if (query.follow !== true) {
    const output = crib.sourceOutput(id);
    return ok(output === undefined ? { output: '' } : { output, hasProgram: true });
  }
  if (request.method === 'HEAD') return new Response(null, { headers: EVENT_HEADERS });
  const stream = feed.openOwn(({ send }) => crib.server.followOutput(id, (lines) => send('output', { lines })));
  if (stream !== undefined) return new Response(stream, { headers: EVENT_HEADERS });
  return refuse(503, {
    code: 'unavailable',
    message: 'Too many clients listen to events. Close some of them, or try again later.',
    retryable: true,
  });
}

async function listSources({ crib }: RouteRequest) {
  const reports = crib.sources().filter(({ name, toolCount }) => name !== 'code' || toolCount > 0);
  const bySource = Map.groupBy(crib.catalog.specs, (spec) => spec.source);
  const stops = new Map((await readStops(crib)).map((stop) => [stop.target, toShownStop(stop)]));
  const sources = reports.map(
    async ({ name, state, reason, since, toolCount, runsOn, malformed = [], excluded = [] }) => ({
      name,
      state,
      ...(reason !== undefined && { reason }),
      ...(state === 'starting' && { waitingFor: reason ?? 'its first list of tools' }),
      ...(malformed.length + excluded.length > 0 && { leftOut: malformed.length + excluded.length }),
      ...(since !== undefined && { since: new Date(since).toISOString() }),
      ...defined({ runsOn }),
      ...defined({ stop: stops.get(`source:${name}`) ?? stops.get('all') }),
      toolCount,
      tokens: await tokensOf(bySource.get(name) ?? [], 'openai', 'estimate'),
    }),
  );
  return ok({ sources: await Promise.all(sources) });
}

/** Routes of stored specs. How a tool runs can be written, but not read. */
export const SPEC_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/specs',
    group: 'specs',
    says: 'Lists the stored specs.',
    who: 'operator',
    answers: {
      200: {
        says: 'The names, each with its last change. Their content is available as tools.',
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
    says: 'Adds specs, or replaces those of the same name. If one is invalid, none is stored.',
    who: 'operator',
    body: object({ tools: list(anyObject('A tool in the format of spec files.')) }),
    answers: {
      200: {
        says: 'The result for each spec.',
        schema: object({
          specs: list(object({ name: text(), result: choice(['added', 'changed', 'unchanged']) })),
          unseen: list(text(), 'Stored, but not available as tools: no source reads them, or their name is taken.'),
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
    answers: { 200: { says: 'The spec is removed.', schema: object({ removed: list(text()) }) } },
    run: removeSpec,
  },
];

function specsOf({ store }: Crib): StoredSpecs {
  if (store === undefined) throw notAvailable('The store', 'pass a configuration to createCrib');
  return store.specs;
}

async function addSpecs({ crib, asker, body }: RouteRequest) {
  const { tools } = body as { readonly tools: readonly JsonObject[] }; // as its schema demands
  const specs = specsOf(crib);
  const mistakes = await crib.server.checkStored(tools);
  if (mistakes.length > 0) {
    const issues = mistakes.map(({ index, message }) => ({ path: `/tools/${index}`, message }));
    return refuse(400, {
      code: 'invalid_input',
      message: 'Invalid specs; nothing was stored.',
      retryable: false,
      issues,
    });
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
    return notFound(`The spec "${name}" was not found in the store.`);
  await crib.server.reloadStored();
  return ok({ removed: [name] });
}
