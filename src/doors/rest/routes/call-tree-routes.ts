import type { CallRow } from '../../../audit/recorded-calls.ts';
import { toolError } from '../../../core/tool-error.ts';
import type { RunningCall } from '../../../crib/console/running-calls.ts';
import type { Crib } from '../../../crib/crib.ts';
import { toShownCall, toShownRunning, toTime } from '../../shown.ts';
import { type Answer, notFound, ok, refuseFor } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { choice, flag, list, object, shortText, text, time, whole } from '../shapes.ts';
import { readStops } from '../tool-shapes.ts';
import { LISTED_CALL } from './call-routes.ts';

/** Maximum number of calls inside a call that are listed. */
const MOST_CHILDREN = 2000;
/** Rows of the audit log that are read at once, and in all, to find the calls inside a call. */
const PAGE = 1000;
const MOST_READ = 50_000;

/** Routes that end calls, list the calls inside a call, and list callers. */
export const CALL_TREE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/calls/{id}/children',
    group: 'calls',
    says: 'Lists all calls inside a call, recorded and in flight, for the caller of the call or an operator.',
    who: 'caller',
    answers: {
      200: {
        says: `The calls, oldest first, at most ${MOST_CHILDREN}; parentId says which call made each of them.`,
        schema: object({ calls: list(LISTED_CALL), 'isCut?': flag('True if there are more calls.') }),
      },
    },
    run: listChildren,
  },
  {
    method: 'POST',
    path: '/api/calls/{id}/cancel',
    group: 'calls',
    says: 'Cancels a call in flight in this process, or a background call, with the calls inside it. For its caller or an operator.',
    who: 'caller',
    answers: {
      200: {
        says: 'The call was told to end.',
        schema: object({ callId: text(), cancelled: whole('Number of calls, with those inside it.') }),
      },
    },
    run: cancelCall,
  },
  {
    method: 'POST',
    path: '/api/calls/cancel',
    group: 'calls',
    says: 'Cancels all calls of a conversation that are in flight in this process: those of the caller, or all for an operator.',
    who: 'credential',
    body: object({ conversation: shortText('The conversation.') }),
    answers: {
      200: { says: 'The calls were told to end.', schema: object({ cancelled: whole('Number of calls.') }) },
    },
    run: cancelConversation,
  },
  {
    method: 'GET',
    path: '/api/callers',
    group: 'calls',
    says: 'Lists the callers of the last 30 days, and those that have an API key.',
    who: 'operator',
    answers: {
      200: {
        says: 'The callers, those with the most calls first.',
        schema: object({
          callers: list(
            object({
              id: text('Empty for anonymous callers.'),
              calls30Days: whole(),
              failed30Days: whole(),
              'lastSeenAt?': time(),
              roles: list(text(), 'The roles of its API keys.'),
              keys: list(object({ id: text(), name: text(), state: choice(['active', 'expired', 'revoked']) })),
              'stopped?': { const: true, description: 'An emergency stop refuses its calls.' },
            }),
          ),
        }),
      },
    },
    run: listCallers,
  },
];

function noSuchCall(id: string): Answer {
  return notFound(`The call "${id}" was not found.`);
}

/** True if the caller of the request may see and end a call of this caller. */
function isOwn({ asker }: RouteRequest, caller: string | undefined): boolean {
  return asker.operator || (caller !== undefined && caller === asker.caller.id);
}

async function listChildren(asked: RouteRequest): Promise<Answer> {
  const { id = '' } = asked.params;
  const { crib } = asked;
  const inFlight = crib.server.running.list();
  const running = inFlight.find(({ callId }) => callId === id);
  const row = running === undefined ? await crib.server.callRow(id) : undefined;
  const root = running ?? row;
  if (root === undefined || !isOwn(asked, root.caller)) return noSuchCall(id);
  const until = row?.durationMs === undefined ? undefined : row.at + row.durationMs + 1000; // clocks are rounded
  const { rows, isCut } = await readNested(crib, root, until);
  const inside = below(id, [...rows, ...inFlight]);
  const sorted = inside.toSorted((a, b) => a.at - b.at);
  const shown = sorted
    .slice(0, MOST_CHILDREN)
    .map((call) => ('outcome' in call ? toShownCall(call) : toShownRunning(call)));
  return ok({ calls: shown, ...((isCut || sorted.length > MOST_CHILDREN) && { isCut: true }) });
}

/** The nested calls of the same caller while a call ran. */
async function readNested(crib: Crib, { at, caller }: RunningCall | CallRow, until: number | undefined) {
  const rows: CallRow[] = [];
  const query = {
    nested: true,
    limit: PAGE,
    since: Math.floor(at) - 1,
    ...(until !== undefined && { until: Math.ceil(until) }),
    ...(caller !== undefined && { caller }),
  };
  for (let page = await crib.calls.list(query); ; ) {
    rows.push(...page);
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return { rows, isCut: false };
    if (rows.length >= MOST_READ) return { rows, isCut: true };
    page = await crib.calls.list({ ...query, before: last });
  }
}

/** The calls inside a call, at any depth. */
function below<T extends { readonly callId: string; readonly parentId?: string | undefined }>(
  id: string,
  calls: readonly T[],
): readonly T[] {
  const byParent = Map.groupBy(calls, ({ parentId }) => parentId);
  const found: T[] = [];
  const parents = [id];
  const seen = new Set(parents);
  for (const parent of parents)
    for (const call of byParent.get(parent) ?? []) {
      found.push(call);
      if (seen.has(call.callId)) continue;
      seen.add(call.callId);
      parents.push(call.callId);
    }
  return found;
}

async function cancelCall(asked: RouteRequest): Promise<Answer> {
  const { id = '' } = asked.params;
  const { crib, asker } = asked;
  const inFlight = crib.server.running.list();
  const running = inFlight.find(({ callId }) => callId === id);
  if (running !== undefined && isOwn(asked, running.caller)) {
    const meant = new Set([id, ...below(id, inFlight).map(({ callId }) => callId)]);
    return ok({ callId: id, cancelled: crib.server.running.cancel(({ callId }) => meant.has(callId), nameOf(asked)) });
  }
  if ((await crib.tasks.get(id, asker.caller)) !== undefined) {
    const outcome = await crib.tasks.cancel(id, asker.caller);
    return outcome.ok ? ok({ callId: id, cancelled: 1 }) : refuseFor(outcome.error);
  }
  const row = await crib.server.callRow(id);
  return row !== undefined && isOwn(asked, row.caller) ? refuseFor(OVER) : noSuchCall(id);
}

const OVER = toolError('conflict', 'The call has already ended, or it runs in another process. It was not cancelled.');

function cancelConversation(asked: RouteRequest): Answer {
  const { conversation } = asked.body as { readonly conversation: string }; // as its schema demands
  const isMeant = (call: RunningCall) => call.conversation === conversation && isOwn(asked, call.caller);
  return ok({ cancelled: asked.crib.server.running.cancel(isMeant, nameOf(asked)) });
}

function nameOf({ asker }: RouteRequest): string {
  return asker.operator ? 'the operator' : 'its caller';
}

async function listCallers({ crib, use }: RouteRequest): Promise<Answer> {
  const used = await use.byCaller();
  const keys = await crib.keys.list().catch(() => []); // without a store there are none
  const byCaller = Map.groupBy(keys, ({ caller }) => caller);
  const stopped = new Set((await readStops(crib)).map(({ target }) => target));
  const callers = [...new Set([...used.keys(), ...byCaller.keys()])].map((id) => {
    const { calls = 0, failed = 0, lastAt } = used.get(id) ?? {};
    const own = byCaller.get(id) ?? [];
    return {
      id,
      calls30Days: calls,
      failed30Days: failed,
      ...(lastAt !== undefined && { lastSeenAt: toTime(lastAt) }),
      roles: [...new Set(own.flatMap(({ roles }) => roles))],
      keys: own.map((key) => ({ id: key.id, name: key.name, state: key.state })),
      ...((stopped.has(`caller:${id}`) || stopped.has('all')) && { stopped: true }),
    };
  });
  return ok({ callers: callers.toSorted((a, b) => b.calls30Days - a.calls30Days || (a.id < b.id ? -1 : 1)) });
}
