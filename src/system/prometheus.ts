import { type Metric, Registry } from 'prom-client';
import type { MetricFamily } from '../core/ports/observability.ts';

/** What was counted, in the text format of Prometheus. */
export function toPrometheusText(families: readonly MetricFamily[]): Promise<string> {
  const registry = new Registry();
  for (const family of families) registry.registerMetric(toMetric(family));
  return registry.metrics();
}

// A metric that counts nothing itself and answers with what was counted: all that a registry asks of one.
function toMetric({ name, help, type, samples }: MetricFamily): Metric {
  const values = samples.map((sample) => ({
    metricName: sample.name ?? name,
    labels: sample.labels,
    value: sample.value,
  }));
  const metric = { name, help, type, get: async () => ({ name, help, type, values }) };
  return metric as unknown as Metric; // the classes of the package offer more, and no way to hand counts in
}
