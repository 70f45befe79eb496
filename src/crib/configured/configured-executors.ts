import type { BuiltInExecutorsConfig, CustomExecutorConfig } from '../../config/types/guards.ts';
import type { Executor, ExecutorContext } from '../../core/executor.ts';
import type { Clock } from '../../core/ports/ports.ts';
import { listOf } from '../../core/text/names.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { httpExecutor } from '../../kinds/http/http.ts';
import { mcpExecutor } from '../../kinds/mcp/mcp.ts';
import type { McpServers } from '../../kinds/mcp/mcp-servers.ts';
import { pythonExecutor } from '../../kinds/python/python.ts';
import type { PythonWorkers } from '../../kinds/python/python-workers.ts';
import { shellExecutor } from '../../kinds/shell/shell.ts';
import type { HiddenPaths, ShellPorts, ShellSettings } from '../../kinds/shell/shell-ports.ts';
import { isServedAt } from '../../system/fetch/served-place.ts';
import { importExport } from '../../system/modules/import-export.ts';
import { toSecretText } from '../../system/secrets/secret-template.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import type { Config } from '../config/loaded-config.ts';
import { withPythonFolders } from '../loaded-code.ts';

/** What the executors of a configuration are made of. */
export interface ExecutorPorts {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly servers: McpServers;
  readonly python: PythonWorkers;
  /** What the configuration says now: it may have changed since the last call. */
  config(): Config;
  /** What no program may see. */
  hidden(): HiddenPaths;
}

type BuiltIn = (ports: ExecutorPorts & Required<Pick<ShellPorts, 'noteCode'>>) => Executor;

/** The executors every configured crib has; none of them loads what it runs with before its first call. */
const BUILT_IN: readonly BuiltIn[] = [
  ({ servers, clock }) => mcpExecutor(servers, clock),
  ({ config, ...ports }) =>
    httpExecutor({
      ...ports,
      allowPrivate: () => listOf(config().executors?.http?.allowPrivate),
      isOwn: (url, address) => isServedAt(config().server ?? {}, url, address),
    }),
  ({ python, noteCode }) => pythonExecutor(python, noteCode),
  ({ config, ...ports }) => shellExecutor({ ...ports, settings: (source) => shellSettings(config(), source) }),
];

function shellSettings({ executors, sources }: Config, source: string): ShellSettings {
  const entry = Object.hasOwn(sources, source) ? sources[source] : undefined;
  return { ...executors?.shell, source: entry !== undefined && 'sandbox' in entry ? entry.sandbox : undefined };
}

/** Kinds that are tuned under `executors:`; every other name there is one of somebody's own. */
const TUNED: { readonly [Kind in keyof Required<BuiltInExecutorsConfig>]: true } = {
  shell: true,
  http: true,
  python: true,
};

/** The built-in executors, and those that the configuration names by module. */
export async function configuredExecutors(ports: ExecutorPorts): Promise<readonly Executor[]> {
  const own = Object.entries(ownOf(ports.config())).map(([kind, entry]) =>
    importExecutor(kind, entry, contextOf(ports)),
  );
  const noting = withCode(ports);
  return [...BUILT_IN.map((make) => make(noting)), ...(await Promise.all(own))];
}

/** What tools run as code is known when they are let in. A command that could write it would decide what runs under the approval of another tool. */
function withCode(ports: ExecutorPorts) {
  const code = new Map<string, readonly string[]>();
  return {
    ...ports,
    noteCode({ source, name }: ToolSpec, files: readonly string[]) {
      if (files.length > 0) code.set(`${source}\n${name}`, files);
    },
    hidden() {
      const hidden = ports.hidden();
      return {
        ...hidden,
        readOnly: withPythonFolders([...hidden.readOnly, ...[...code.values()].flat()], ports.folder),
      };
    },
  };
}

/** Executors live as long as the crib: the entries of somebody's own that say something else than at the start. */
export function changedExecutors(before: Config, now: Config): readonly string[] {
  const [then, today] = [ownOf(before), ownOf(now)];
  const kinds = new Set([...Object.keys(then), ...Object.keys(today)]);
  return [...kinds].filter((kind) => JSON.stringify(then[kind]) !== JSON.stringify(today[kind]));
}

function ownOf({ executors = {} }: Config): Readonly<Record<string, CustomExecutorConfig>> {
  const own = Object.entries(executors).filter(([kind]) => !Object.hasOwn(TUNED, kind));
  return Object.fromEntries(own) as Readonly<Record<string, CustomExecutorConfig>>; // checked against the schema
}

function contextOf({ folder, secrets }: ExecutorPorts): ExecutorContext {
  return Object.freeze({
    folder,
    fillSecrets: (text: string, host: string) => secrets.fill(toSecretText(text), { host }),
  });
}

/** An executor of somebody's own: the module exports one, or makes one of the entry's options. */
async function importExecutor(kind: string, entry: CustomExecutorConfig, context: ExecutorContext): Promise<Executor> {
  const { module, options = {} } = entry;
  try {
    const exported = await importExport(module, context.folder);
    const made: unknown = typeof exported === 'function' ? await exported(options, context) : exported;
    if (typeof made === 'object' && made !== null && 'kind' in made && made.kind === kind) return made as Executor; // judged with the others
  } catch (cause) {
    throw new ToolcribError('invalid_config', `The executor "${kind}": ${messageOf(cause)}`, { cause });
  }
  throw new ToolcribError(
    'invalid_config',
    `The executor "${kind}": ${module} exports no executor of the kind "${kind}", nor a function that makes one.`,
  );
}
