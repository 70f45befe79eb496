import type { Backlog } from '../../audit/row-queue.ts';
import type { Extension } from '../../core/extension.ts';
import { COUNTED, type Counting, type MetricFamily } from '../../core/ports/metrics.ts';
import { ToolcribError } from '../../core/tool-error.ts';

/** The content type of what `crib.metrics()` resolves to. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What the extensions have counted and what the audit has still to write, as text for Prometheus. Its package is loaded by the first who asks. */
export async function metricsText(
  extensions: readonly (Extension & Partial<Counting>)[],
  backlog: Backlog | undefined,
): Promise<string> {
  const counting = extensions.flatMap((extension) => extension[COUNTED] ?? []);
  if (counting.length === 0) {
    throw new ToolcribError(
      'not_counted',
      'Calls are not counted here: the extension "metrics" is off; take "metrics: false" out of the configuration, or give createCrib metrics().',
    );
  }
  const { toPrometheusText } = await import('../../system/prometheus.ts');
  return toPrometheusText([
    ...counting.flatMap((count) => count()),
    ...(backlog === undefined ? [] : familiesOf(backlog)),
  ]);
}

function familiesOf({ rows, oldestMs, lost }: Backlog): readonly MetricFamily[] {
  const gauge = (name: string, help: string, value: number): MetricFamily => ({
    name: `toolcrib_audit_${name}`,
    help,
    type: 'gauge',
    samples: [{ labels: {}, value }],
  });
  return [
    gauge('waiting_rows', 'Rows of the audit that are not written yet.', rows),
    gauge('waiting_seconds', 'How long the oldest of them has been waiting.', oldestMs / 1000),
    gauge('lost_rows', 'Rows that could not be kept and are not on record yet as lost.', lost),
  ];
}
