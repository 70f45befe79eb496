import { type Metric, Registry } from 'prom-client';
import type { MetricFamily } from '../core/ports/observability.ts';

/** Metrics in the text format of Prometheus. */
export function toPrometheusText(families: readonly MetricFamily[]): Promise<string> {
  const registry = new Registry();
  for (const family of families) registry.registerMetric(toMetric(family));
  return registry.metrics();
}

// A metric that only returns existing counts, which is all that a registry needs.
function toMetric({ name, help, type, samples }: MetricFamily): Metric {
  const values = samples.map((sample) => ({
    metricName: sample.name ?? name,
    labels: sample.labels,
    value: sample.value,
  }));
  const metric = { name, help, type, get: async () => ({ name, help, type, values }) };
  return metric as unknown as Metric; // the package's classes have more members, and no way to set counts
}
