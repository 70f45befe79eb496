import { metrics as otel } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

/** A metric as an exporter gets it. */
export interface Collected {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly {
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly value: number | Histogram;
  }[];
}

let exporter: InMemoryMetricExporter;
let reader: PeriodicExportingMetricReader;

/** From now on metrics are collected in memory: all up to now, or what is new since they were looked at. */
export function collectMetrics(since: 'start' | 'lastLook' = 'start'): void {
  const { CUMULATIVE, DELTA } = AggregationTemporality;
  exporter = new InMemoryMetricExporter(since === 'start' ? CUMULATIVE : DELTA);
  reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  otel.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
}

/** Metrics are not collected any more. */
export async function stopMetrics(): Promise<void> {
  otel.disable();
  await reader.shutdown();
}

/** What has been measured up to now. */
export async function measured(): Promise<readonly Collected[]> {
  exporter.reset();
  await reader.forceFlush();
  const scopes = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  return scopes.flatMap((scope) => scope.metrics.map(toCollected));
}

function toCollected({ descriptor, dataPoints }: MetricData): Collected {
  const points = dataPoints as readonly DataPoint<number | Histogram>[]; // either, whatever the metric
  return {
    name: descriptor.name,
    unit: descriptor.unit,
    points: points.map(({ attributes, value }) => ({ attributes, value })),
  };
}

/** The points of one metric; none where it was not measured. */
export async function pointsOf(name: string): Promise<Collected['points']> {
  return (await measured()).find((metric) => metric.name === name)?.points ?? [];
}
