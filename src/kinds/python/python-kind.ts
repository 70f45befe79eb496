import {
  childEnvNode,
  initTimeoutMs,
  type Kind,
  type KindPorts,
  type OwnEntry,
  paths,
  requireOne,
  type SourceEntry,
} from '../../config/records.ts';
import { object, text, whole } from '../../config/schema-node.ts';
import type { PythonConfig } from '../../config/types/guards.ts';
import type { PythonSourceConfig } from '../../config/types/sources.ts';
import { idleClock } from '../../system/clock.ts';
import { createListeners } from '../../system/listeners.ts';
import { childEnvironment } from '../../system/processes/child-environment.ts';
import { describeWithheld } from '../../system/processes/network-trouble.ts';
import { fillAll } from '../../system/secrets/secret-template.ts';
import { findInterpreter, interpreterFile } from './interpreter.ts';
import type { FollowedPythonWorkers, PythonWorkers } from './python-workers.ts';

/** Python files, or folders of Python files. */
type PythonEntry = OwnEntry<PythonSourceConfig>;

const pythonSource: SourceEntry<PythonEntry> = {
  key: 'python',
  description: 'Python functions.',
  properties: { python: paths('Python files, or folders of Python files.'), initTimeoutMs },
};

export const pythonKind: Kind<'python', PythonConfig, PythonEntry> = {
  kind: 'python',
  pathFields: ['module'],
  findsModules: 'always',
  runsOwnCode: true,
  failsWith: 'tool',
  takesServices: 'json',
  options: object<PythonConfig>('Python functions.', {
    interpreter: text('A program, or the folder of a virtual environment; default python3.', { use: 'command' }),
    workers: whole('Most blocking functions that run at the same time in one folder; default 4.'),
    env: childEnvNode,
  }),
  source: pythonSource,
  async open(ports) {
    const [{ pythonExecutor }, { describePython }] = await Promise.all([
      import('./python-executor.ts'),
      import('./described-source.ts'),
    ]);
    const workers = lazyWorkers(ports);
    return {
      executor: pythonExecutor(workers, ports.noteCode),
      async makeSource(name, entry, { watch, kept }) {
        const { python } = await import('./python-source.ts');
        const path = requireOne(entry.python, name);
        return python({ name, path, workers, watch, importTimeoutMs: entry.initTimeoutMs, kept: kept(name, path) });
      },
      describe: (source, kept) => describePython(source, { workers, kept }),
    };
  },
};

/** The Python workers of a configuration. Even the code that starts them is loaded lazily. */
function lazyWorkers({
  env,
  secrets,
  clock,
  options: settings,
}: Pick<KindPorts<PythonConfig>, 'env' | 'secrets' | 'clock' | 'options'>): FollowedPythonWorkers {
  let workers: PythonWorkers | undefined;
  let loading: Promise<PythonWorkers> | undefined;
  const outputs = createListeners<[string, Uint8Array]>();
  const interpreter = () => interpreterFile(findInterpreter(settings().interpreter), env.PATH);
  const load = async (): Promise<PythonWorkers> => {
    const { createPythonWorkers } = await import('./python-workers.ts');
    const environment = async () => {
      const filled = await fillAll(settings().env ?? {}, (text) => secrets.fill(text, { child: true }));
      return childEnvironment(env, filled);
    };
    workers = createPythonWorkers({ settings, interpreter, environment, clock, idleClock, onOutput: outputs.tell });
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
    onOutput: (folder, listener) => outputs.add((from, printed) => from === folder && listener(printed)),
    describeWithheld(said) {
      const given = childEnvironment(
        env,
        Object.fromEntries(Object.keys(settings().env ?? {}).map((name) => [name, ''])),
      );
      return describeWithheld({ said, env, given, cure: 'set the ones that it needs in executors.python.env' });
    },
    close: async () => (await loading)?.close(),
  };
}
