import type { ExtensionParts, ExtensionRecord, WithClock } from '../config/records.ts';
import { flag, object } from '../config/schema-node.ts';
import type { MetricsConfig } from '../config/types/guards.ts';
import { replayOf } from '../core/begun-runs.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import {
  COUNTED,
  type CountingExtension,
  createToolRecords,
  type MetricDefinition,
  type MetricFamily,
  type MetricSample,
} from '../core/ports/observability.ts';
import { describe } from '../core/read-options.ts';
import { FACTS } from '../core/tool-call.ts';
import { TOOL_ERROR_CODES, ToolcribError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';

/** A closed set: an unknown code becomes `other`. */
const OUTCOMES: readonly string[] = ['done', 'waiting', ...TOOL_ERROR_CODES, 'other'];
const INDEX_OF = new Map(OUTCOMES.map((outcome, index) => [outcome, index]));
const OTHER = OUTCOMES.length - 1;
const BUCKETS_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120];

/** The metrics, in the order of the output. */
export const METRICS = {
  calls: {
    name: 'toolcrib_calls_total',
    type: 'counter',
    labels: ['tool', 'source', 'outcome'],
    help: 'Ended calls by outcome, without replayed ones.',
  },
  duration: {
    name: 'toolcrib_call_duration_seconds',
    type: 'histogram',
    labels: ['tool', 'source'],
    help: 'Duration of calls, including waiting for approvals and slots.',
  },
  inFlight: { name: 'toolcrib_calls_in_flight', type: 'gauge', labels: ['source'], help: 'Calls in flight.' },
  approved: {
    name: 'toolcrib_approved_calls_total',
    type: 'counter',
    labels: [],
    help: 'Calls that ran after approval.',
  },
  replayed: {
    name: 'toolcrib_replayed_calls_total',
    type: 'counter',
    labels: ['tool', 'source', 'outcome'],
    help: 'Calls answered without running the tool again.',
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

/** Counters of one tool. */
interface Tally {
  readonly tool: string;
  readonly source: string;
  readonly ends: number[];
  /** Calls answered without running the tool; not included in `ends`. */
  readonly replays: number[];
  /** Not cumulative; the last entry counts calls above all bounds. */
  readonly durations: number[];
  seconds: number;
  inFlight: number;
}

/** Options of `metrics()`. */
export type MetricsOptions = Pick<MetricsConfig, 'prometheus'>;

export const metrics: ExtensionRecord<MetricsOptions & WithClock> = {
  name: 'metrics',
  priority: 1000,
  reason: 'observer: counts every call once, whatever its outcome',
  options: object('Counts, measures and traces calls.', {
    prometheus: flag('Counts calls for /metrics; default true.'),
  }),
  codeOptions: ['clock'],
  make({ prometheus = true, clock }, ports) {
    if (typeof prometheus === 'boolean') return prometheus ? counting(clock ?? ports.clock) : {};
    throw new ToolcribError(
      'invalid_option',
      `metrics(): prometheus must be true or false, got ${describe(prometheus)}.`,
    );
  },
};

/** Counts every call once, by outcome and duration. Formatted as text only on request. */
function counting(clock: Clock): ExtensionParts & CountingExtension {
  const tallies = createToolRecords(createTally);
  let approved = 0;

  return {
    onStart(call) {
      tallies.of(call).inFlight++;
    },
    onEnd(call, result) {
      const facts = call[FACTS];
      const tally = tallies.of(call);
      tally.inFlight--;
      const outcome = outcomeOf(result);
      if (replayOf(call) !== undefined) {
        tally.replays[outcome] = (tally.replays[outcome] ?? 0) + 1;
        return;
      }
      tally.ends[outcome] = (tally.ends[outcome] ?? 0) + 1;
      const seconds = Math.max(0, clock.now() - facts.startedAt) / 1000;
      const bucket = bucketOf(seconds);
      tally.durations[bucket] = (tally.durations[bucket] ?? 0) + 1;
      tally.seconds += seconds;
      if (facts.approval !== undefined) approved++;
    },
    [COUNTED]: () => familiesOf(tallies.all(), approved),
  };
}

function createTally(tool: string, source: string): Tally {
  return {
    tool,
    source,
    ends: OUTCOMES.map(() => 0),
    replays: OUTCOMES.map(() => 0),
    durations: [...BUCKETS_SECONDS, 0].map(() => 0),
    seconds: 0,
    inFlight: 0,
  };
}

function outcomeOf(result: ToolResult): number {
  return INDEX_OF.get(result.status === 'failed' ? result.error.code : result.status) ?? OTHER;
}

function bucketOf(seconds: number): number {
  let index = 0;
  while (index < BUCKETS_SECONDS.length && seconds > (BUCKETS_SECONDS[index] ?? 0)) index++;
  return index;
}

function familiesOf(tallies: readonly Tally[], approved: number): readonly MetricFamily[] {
  const isCounted = (count: number) => count > 0;
  const called = tallies.filter(({ ends, inFlight }) => inFlight > 0 || ends.some(isCounted));
  const replayed = tallies.filter(({ replays }) => replays.some(isCounted));
  return [
    { ...METRICS.calls, samples: called.flatMap(({ tool, source, ends }) => outcomeSamples({ tool, source }, ends)) },
    { ...METRICS.duration, samples: called.flatMap(durationSamples) },
    { ...METRICS.inFlight, samples: inFlightSamples(called) },
    { ...METRICS.approved, samples: [{ labels: {}, value: approved }] },
    {
      ...METRICS.replayed,
      samples: replayed.flatMap(({ tool, source, replays }) => outcomeSamples({ tool, source }, replays)),
    },
  ];
}

function outcomeSamples(of: Pick<Tally, 'tool' | 'source'>, counts: readonly number[]): readonly MetricSample[] {
  return OUTCOMES.flatMap((outcome, index) => {
    const value = counts[index] ?? 0;
    return value === 0 ? [] : [{ labels: { ...of, outcome }, value }];
  });
}

function durationSamples({ tool, source, durations, seconds }: Tally): readonly MetricSample[] {
  const { name } = METRICS.duration;
  let count = 0;
  const buckets = durations.map((inBucket, index) => {
    count += inBucket;
    return {
      name: `${name}_bucket`,
      labels: { tool, source, le: String(BUCKETS_SECONDS[index] ?? '+Inf') },
      value: count,
    };
  });
  const labels = { tool, source };
  return [...buckets, { name: `${name}_sum`, labels, value: seconds }, { name: `${name}_count`, labels, value: count }];
}

function inFlightSamples(called: readonly Tally[]): readonly MetricSample[] {
  const bySource = new Map<string, number>();
  for (const { source, inFlight } of called) bySource.set(source, (bySource.get(source) ?? 0) + inFlight);
  return [...bySource].map(([source, value]) => ({ labels: { source }, value }));
}
