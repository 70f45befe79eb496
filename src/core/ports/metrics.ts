/** The key under which an extension tells what it counted. */
export const COUNTED: unique symbol = Symbol('toolcrib.counted');

/** An extension that counts. */
export interface Counting {
  readonly [COUNTED]: () => readonly MetricFamily[];
}

/** What was counted under one name, as Prometheus knows it. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly MetricSample[];
}

/** One number; those of a histogram have names of their own. */
export interface MetricSample {
  readonly name?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
