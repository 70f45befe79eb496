import type { AuditRow } from '../../../core/ports/stored-audit.ts';
import { defined } from '../../../core/read-options.ts';
import { toTime } from '../../shown.ts';
import { ok } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { anyObject, flag, list, number, object, text, time, whole } from '../shapes.ts';

/** Number of newest calls in the statistics. */
const LOOKED_AT = 1000;
const MOST_TOOLS = 20;

/** Routes of statistics and of the audit log. */
export const STATS_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/stats',
    group: 'calls',
    says: `Counts tools, sources and approvals, and summarizes the last ${LOOKED_AT} calls.`,
    who: 'operator',
    answers: {
      200: {
        says: 'The statistics.',
        schema: object({
          tools: whole(),
          bundles: whole(),
          profiles: whole(),
          sources: anyObject('Number of sources in each state.'),
          approvalsWaiting: whole(),
          calls: object({
            count: whole('Without replayed calls.'),
            replayed: whole('Calls answered from a stored result, without running the tool.'),
            'since?': time(),
            byOutcome: anyObject(),
            byTool: list(
              object({ tool: text(), count: whole(), failed: whole(), 'medianMs?': number(), 'slowestMs?': number() }),
            ),
          }),
        }),
      },
    },
    run: describeCrib,
  },
  {
    method: 'GET',
    path: '/api/audit/verify',
    group: 'calls',
    says: 'Verifies every row of the audit log.',
    who: 'operator',
    answers: {
      200: {
        says: 'The findings: rows that were changed, removed, moved, added, cut off, replaced by an older copy, or left open. ok is true without findings.',
        schema: object({
          ok: flag(),
          rows: whole(),
          chains: list(anyObject()),
          findings: list(anyObject()),
          moreFindings: whole(),
          notes: list(text()),
        }),
      },
    },
    async run({ crib }) {
      const report = await crib.audit.verify();
      const findings = report.findings.map(({ at, ...finding }) => ({
        ...finding,
        ...(at !== undefined && { at: toTime(at) }),
      }));
      return ok({ ...report, findings });
    },
  },
];

async function describeCrib({ crib, asker }: RouteRequest) {
  const [rows, waiting] = await Promise.all([
    crib.calls.list({ limit: LOOKED_AT }),
    crib.approvals.list({ state: 'waiting' }),
  ]);
  const chest = await crib.openAll(asker.caller);
  const oldest = rows.at(-1);
  const ran = rows.filter(({ isReplayed }) => isReplayed !== true);
  return ok({
    tools: crib.catalog.specs.length,
    bundles: chest.available().length,
    profiles: crib.profiles().length,
    sources: countBy(crib.sources(), ({ state }) => state),
    approvalsWaiting: waiting.length,
    calls: {
      count: ran.length,
      replayed: rows.length - ran.length,
      ...(oldest !== undefined && { since: toTime(oldest.at) }),
      byOutcome: countBy(ran, ({ outcome }) => outcome),
      byTool: byTool(ran),
    },
  });
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Readonly<Record<string, number>> {
  const groups = Map.groupBy(items, keyOf);
  return Object.fromEntries([...groups].map(([key, members]) => [key, members.length]));
}

function byTool(rows: readonly AuditRow[]) {
  const groups = [...Map.groupBy(rows, ({ tool }) => tool)].toSorted(([, a], [, b]) => b.length - a.length);
  return groups.slice(0, MOST_TOOLS).map(([tool, calls]) => {
    const times = calls.flatMap(({ durationMs }) => durationMs ?? []).toSorted((a, b) => a - b);
    const [medianMs, slowestMs] = [times[Math.floor(times.length / 2)], times.at(-1)];
    return {
      tool,
      count: calls.length,
      failed: calls.filter(({ outcome }) => outcome !== 'done' && outcome !== 'waiting').length,
      ...defined({ medianMs, slowestMs }),
    };
  });
}
