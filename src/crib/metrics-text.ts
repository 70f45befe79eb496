import type { Extension } from '../core/extension.ts';
import { COUNTED, type Counting } from '../core/metrics.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** The content type of what `crib.metrics()` resolves to. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What the extensions have counted, as text for Prometheus. Its package is loaded by the first who asks. */
export async function metricsText(extensions: readonly (Extension & Partial<Counting>)[]): Promise<string> {
  const counting = extensions.flatMap((extension) => extension[COUNTED] ?? []);
  if (counting.length === 0) {
    throw new ToolcribError(
      'not_counted',
      'Calls are not counted here: the extension "metrics" is off; take "metrics: false" out of the configuration, or give createCrib metrics().',
    );
  }
  const { toPrometheusText } = await import('../runtime/prometheus.ts');
  return toPrometheusText(counting.flatMap((count) => count()));
}
