import type { AuditRow } from '../../../core/ports/stored-audit.ts';
import { defined } from '../../../core/read-options.ts';
import { kindOf, type ToolSpec } from '../../../core/tool-spec.ts';
import type { Crib } from '../../../crib/crib.ts';
import { toShownCall, toTime } from '../../shown.ts';
import { notFound, ok } from '../answers.ts';
import { USE_DAYS } from '../recent-use.ts';
import { openToList, type Route, type RouteRequest } from '../route.ts';
import { anyObject, choice, list, number, object, text, time, whole } from '../shapes.ts';
import { dangerOf } from '../tool-shapes.ts';
import { CALL } from './call-routes.ts';
import { PROFILE } from './tool-routes.ts';

const COUNTS = list(object({ value: text('Empty for tools without one.'), count: whole() }), 'Most first.');
const WHYS = ['duplicate', 'malformed', 'excluded'] as const;
/** Maximum number of entries that are left out of an answer that lists them. */
const MOST_LEFT_OUT = 1000;
/** Number of newest calls that figures of one tool are made of. */
const LOOKED_AT = 1000;
const LAST_CALLS = 10;

/** Routes about all tools at once, and about the calls of one tool. */
export const FACET_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/tools/facets',
    group: 'tools',
    says: 'Counts the tools by kind, source, bundle, category, tag, state and danger, and lists entries that did not become tools.',
    who: 'caller',
    query: { 'profile?': PROFILE },
    answers: {
      200: {
        says: 'Counts of the tools that the caller sees.',
        schema: object({
          total: whole(),
          facets: object({
            'kind?': COUNTS,
            source: COUNTS,
            bundle: COUNTS,
            category: COUNTS,
            tags: COUNTS,
            state: COUNTS,
            danger: COUNTS,
          }),
          'leftOut?': list(
            object({ name: text(), source: text(), why: choice(WHYS), reason: text() }),
            `Entries that did not become tools, at most ${MOST_LEFT_OUT}. Only for operators.`,
          ),
          'leftOutTotal?': whole(),
        }),
      },
    },
    run: countFacets,
  },
  {
    method: 'GET',
    path: '/api/tools/{name}/stats',
    group: 'tools',
    says: `Summarizes the calls of a tool in the last ${USE_DAYS} days, of the newest ${LOOKED_AT}.`,
    who: 'operator',
    answers: {
      200: {
        says: 'The figures. Durations are those of calls that ran; replayed calls do not count.',
        schema: object({
          tool: text(),
          days: whole(),
          calls: whole('Calls that have ended.'),
          failed: whole(),
          errorRate: number('From 0 to 1.'),
          'p50Ms?': number(),
          'p95Ms?': number(),
          'lastUsedAt?': time(),
          byOutcome: anyObject('Number of calls by outcome.'),
          lastCalls: list(object(CALL), 'The newest calls, newest first.'),
        }),
      },
    },
    run: describeCalls,
  },
];

async function countFacets(asked: RouteRequest) {
  const { profile } = asked.query as { readonly profile?: string }; // as its schema demands
  const { crib, asker } = asked;
  const chest = await openToList(asked, profile);
  const specs = chest.listActive();
  const seen = new Set(chest.available());
  const states = new Map(crib.sources().map(({ name, state }) => [name, state]));
  const bundlesOf = ({ name }: ToolSpec) =>
    crib.bundles.of(name).flatMap((bundle) => (seen.has(bundle.name) ? [bundle.name] : []));
  const leftOut = asker.operator ? leftOutOf(crib) : undefined;
  return ok({
    total: specs.length,
    facets: {
      ...(asker.operator && { kind: countBy(specs, (spec) => [kindOf(spec)]) }),
      source: countBy(specs, ({ source }) => [source]),
      bundle: countBy(specs, bundlesOf),
      category: countBy(specs, ({ category }) => [category ?? '']),
      tags: countBy(specs, ({ tags }) => tags),
      state: countBy(specs, ({ source }) => [states.get(source) ?? 'ready']),
      danger: countBy(specs, ({ effects }) => [dangerOf(effects)]),
    },
    ...(leftOut !== undefined && { leftOut: leftOut.slice(0, MOST_LEFT_OUT), leftOutTotal: leftOut.length }),
  });
}

function countBy(specs: readonly ToolSpec[], valuesOf: (spec: ToolSpec) => readonly string[]): readonly object[] {
  const counts = new Map<string, number>();
  for (const spec of specs)
    for (const value of new Set(valuesOf(spec))) counts.set(value, (counts.get(value) ?? 0) + 1);
  const rows = Array.from(counts, ([value, count]) => ({ value, count }));
  return rows.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

interface LeftOut {
  readonly name: string;
  readonly source: string;
  readonly why: (typeof WHYS)[number];
  readonly reason: string;
}

/** Entries of sources that did not become tools: their name is taken, they are invalid, or a setting leaves them out. */
function leftOutOf(crib: Crib): readonly LeftOut[] {
  const duplicates = crib.catalog.held.map(
    ({ name, heldBack, message }): LeftOut => ({ name, source: heldBack, why: 'duplicate', reason: message }),
  );
  const ofSources = crib
    .sources()
    .flatMap(({ name: source, malformed = [], excluded = [] }): readonly LeftOut[] => [
      ...malformed.map((reason) => ({ name: nameIn(reason), source, why: 'malformed' as const, reason })),
      ...excluded.map((name) => ({ name, source, why: 'excluded' as const, reason: EXCLUDED })),
    ]);
  const conditional = crib.server
    .leftOut()
    .map(({ name, reason }): LeftOut => ({ name, source: '', why: 'excluded', reason }));
  return [...duplicates, ...ofSources, ...conditional];
}

const EXCLUDED = 'include or exclude of its source leaves it out.';

/** The name in a sentence about an entry; empty if the sentence names none. */
function nameIn(reason: string): string {
  return /"([^"]{1,200})"/.exec(reason)?.[1] ?? '';
}

async function describeCalls({ crib, params }: RouteRequest) {
  const { name = '' } = params;
  if (/[\p{Cc}\p{Cs}]/u.test(name)) return notFound('The name is not valid.');
  const since = Date.now() - USE_DAYS * 86_400_000;
  const rows = await crib.calls.list({ tool: name, limit: LOOKED_AT, since });
  const ran = rows.filter(({ isReplayed }) => isReplayed !== true);
  const ended = ran.filter(({ outcome }) => outcome !== 'waiting'); // a call that waited has another row
  const failed = ended.filter(({ outcome }) => outcome !== 'done').length;
  const times = ran
    .flatMap(({ durationMs, outcome }) => (outcome === 'done' ? (durationMs ?? []) : []))
    .sort((a, b) => a - b);
  const [newest] = rows;
  return ok({
    tool: name,
    days: USE_DAYS,
    calls: ended.length,
    failed,
    errorRate: ended.length === 0 ? 0 : failed / ended.length,
    ...defined({ p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95) }),
    ...(newest !== undefined && { lastUsedAt: toTime(newest.at) }),
    byOutcome: outcomesOf(ran),
    lastCalls: rows.slice(0, LAST_CALLS).map(toShownCall),
  });
}

function outcomesOf(rows: readonly AuditRow[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(rows, ({ outcome }) => outcome);
  return Object.fromEntries(Array.from(groups, ([outcome, members]) => [outcome, members.length]));
}

/** The value that this share of sorted values does not exceed. */
function quantile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
