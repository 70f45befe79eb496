import { isRecord } from '../../core/json.ts';
import type { KeptListPort } from '../../core/ports/store.ts';
import type { LiveSource, Source } from '../../core/source.ts';
import { kindOf, type ToolSpec } from '../../core/tool-spec.ts';
import { oneAtATime } from '../../system/clock.ts';
import { createListeners } from '../../system/listeners.ts';
import type { PythonDescriptions } from './python-descriptions.ts';
import type { PythonWorkers } from './python-workers.ts';

export interface DescribingOptions {
  readonly workers: PythonWorkers;
  /** Cache of descriptions, so that an unchanged start need not run Python. */
  readonly kept: KeptListPort;
}

/** Wraps a source: Python tools without an input schema are described by their signature and docstring. */
export function describePython(source: Source, options: DescribingOptions): Source {
  return {
    ...source,
    async start(context) {
      const live = await source.start(context);
      const listeners = createListeners();
      let descriptions: PythonDescriptions | undefined;
      const update = oneAtATime(async () => {
        const silent = live.specs().filter(isSilent);
        if (silent.length === 0) return;
        const { createDescriptions } = await import('./python-descriptions.ts'); // most sources do not need it
        descriptions ??= createDescriptions({ ...options, context, source: source.name });
        await descriptions.learn(silent);
      });
      const describe = (spec: ToolSpec): ToolSpec => (isSilent(spec) ? (descriptions?.describe(spec) ?? spec) : spec);
      await update();
      const stop = live.onChange(() => void update().finally(listeners.tell));
      return {
        ...live,
        specs: () => (descriptions === undefined ? live.specs() : live.specs().map(describe)),
        onChange: listeners.add,
        async refresh() {
          await live.refresh?.();
          await update();
        },
        async close() {
          stop();
          await live.close();
          await descriptions?.written();
        },
      } satisfies LiveSource;
    },
  };
}

/** True for a Python tool without a schema: its spec then has the schema of no arguments, which differs from `{ type: object }`. */
function isSilent(spec: ToolSpec): boolean {
  if (kindOf(spec) !== 'python') return false;
  const { type, properties, ...rest } = spec.input;
  const isEmpty = isRecord(properties) && Object.keys(properties).length === 0;
  return isEmpty && type === 'object' && Object.keys(rest).length === 0;
}
