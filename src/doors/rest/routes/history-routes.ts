import { CHANGE_KINDS, type DefinitionChange } from '../../../crib/console/definition-changes.ts';
import { toTime } from '../../shown.ts';
import { notFound, ok } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { anyObject, anything, choice, flag, list, object, text, time, whole } from '../shapes.ts';

const CHANGE = object({
  path: text('A JSON pointer into the definition.'),
  kind: choice(CHANGE_KINDS, 'narrowed: calls that were valid may now fail. words: only text changed.'),
  says: text('The change in words.'),
  'before?': anything('The value before.'),
  'after?': anything('The value after.'),
});

/** The route of the definitions of a tool as the crib saw them. */
export const HISTORY_ROUTE: Route = {
  method: 'GET',
  path: '/api/tools/{name}/history',
  group: 'tools',
  says: 'Returns the definitions of a tool as the server saw them, what changed from one to the next, and what a change concerns.',
  who: 'operator',
  answers: {
    200: {
      says: 'The definitions, newest first, at most 50.',
      schema: object({
        tool: text(),
        versions: list(
          object({
            hash: text('SHA-256 of the definition and of how the tool runs.'),
            source: text(),
            firstSeenAt: time(),
            lastSeenAt: time(),
            current: flag('True for the definition that is in use.'),
            definition: anyObject('The parts that people and models see.'),
            changes: list(
              CHANGE,
              'The changes against the next older definition. Empty if only how the tool runs changed.',
            ),
          }),
        ),
        touches: object({
          profiles: list(text(), 'The profiles that show the tool.'),
          keys: list(
            object({ id: text(), name: text(), caller: text() }),
            'The active API keys that open one of them.',
          ),
          calls7Days: whole(),
          callers7Days: list(text()),
        }),
      }),
    },
  },
  run: showHistory,
};

const WEEK_MS = 7 * 86_400_000;

async function showHistory({ crib, params }: RouteRequest) {
  const { name = '' } = params;
  if (/[\p{Cc}\p{Cs}]/u.test(name)) return notFound('The name is not valid.');
  const versions = await crib.server.definitions.of(name);
  if (versions.length === 0 && crib.get(name) === undefined)
    return notFound(`The tool "${name}" was never seen, or no store keeps definitions.`);
  const use = (await crib.calls.use(Date.now() - WEEK_MS)).filter(({ tool }) => tool === name);
  const reach = await crib.server.definitions.reach(name);
  return ok({
    tool: name,
    versions: versions.map(({ isCurrent, firstSeen, lastSeen, changes, ...version }) => ({
      ...version,
      firstSeenAt: toTime(firstSeen),
      lastSeenAt: toTime(lastSeen),
      current: isCurrent,
      changes: changes.map((change) => ({ ...change, says: inWords(change) })),
    })),
    touches: {
      ...reach,
      calls7Days: use.reduce((sum, { calls }) => sum + calls, 0),
      callers7Days: use.map(({ caller }) => caller).filter((caller) => caller !== ''),
    },
  });
}

const SAID: Readonly<Record<DefinitionChange['kind'], string>> = {
  added: 'was added',
  removed: 'was removed',
  narrowed: 'allows less than before',
  widened: 'allows more than before',
  words: 'has other words',
  changed: 'changed',
};

function inWords({ path, kind }: DefinitionChange): string {
  const isRequired = /\/required\/([^/]+)$/.exec(path);
  if (isRequired !== null) return `"${isRequired[1]}" is ${kind === 'narrowed' ? 'now' : 'no longer'} required`;
  const parts = path.split('/').slice(1);
  const shown = parts.filter((part, index) => !(part === 'properties' && index % 2 === 1)).join('.');
  return `${shown} ${SAID[kind]}`;
}
