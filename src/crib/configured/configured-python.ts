import type { PythonConfig } from '../../config/types/guards.ts';
import type { PythonSourceConfig } from '../../config/types/sources.ts';
import type { Source } from '../../core/source.ts';
import { findInterpreter, interpreterFile } from '../../kinds/python/interpreter.ts';
import type { PythonWorkers } from '../../kinds/python/python-workers.ts';
import type { KeptListPort } from '../../specs/kept-list.ts';
import { idleClock } from '../../system/clock.ts';
import type { ExecutorPorts } from './configured-executors.ts';
import type { SourceSurroundings } from './configured-sources.ts';

/** The Python workers of a configuration. Not even the code that starts them is loaded before they are asked. */
export function configuredPython({
  env,
  secrets,
  clock,
  config,
}: Pick<ExecutorPorts, 'env' | 'secrets' | 'clock' | 'config'>): PythonWorkers {
  let workers: PythonWorkers | undefined;
  let loading: Promise<PythonWorkers> | undefined;
  const settings = () => config().executors?.python ?? NO_SETTINGS;
  const interpreter = () => interpreterFile(findInterpreter(settings().interpreter), env.PATH);
  const load = async (): Promise<PythonWorkers> => {
    const [{ createPythonWorkers }, { childEnvironment }] = await Promise.all([
      import('../../kinds/python/python-workers.ts'),
      import('../../system/processes/child-environment.ts'),
    ]);
    const environment = async () => {
      const texts = Object.entries(settings().env ?? {});
      const filled = texts.map(async ([name, text]) => [name, await secrets.fill(text, { child: true })] as const);
      return childEnvironment(env, Object.fromEntries(await Promise.all(filled)));
    };
    workers = createPythonWorkers({ settings, interpreter, environment, clock, idleClock });
    return workers;
  };
  const loaded = (): Promise<PythonWorkers> => {
    loading ??= load();
    return loading;
  };
  return {
    call: async (call) => (workers ?? (await loaded())).call(call),
    look: async (look) => (workers ?? (await loaded())).look(look),
    interpreter,
    settingsText: () => JSON.stringify(settings()),
    output: (folder) => workers?.output(folder) ?? '',
    close: async () => (await loading)?.close(),
  };
}

/** What is said of a folder of Python. */
interface PythonFolder {
  readonly name: string;
  readonly path: string;
  readonly config: PythonSourceConfig;
  readonly kept: KeptListPort;
}

/** The source of a folder of Python. */
export async function pythonSource(
  { name, path, config, kept }: PythonFolder,
  { python: workers, watch }: Pick<SourceSurroundings, 'python' | 'watch'>,
): Promise<Source> {
  const { python } = await import('../../kinds/python/source/python.ts');
  return python({ name, path, workers, watch, importTimeoutMs: config.initTimeoutMs, kept });
}

const NO_SETTINGS: PythonConfig = {};
