import type { Kind, KindPorts } from '../../config/records.ts';
import { choice, object, oneOrMany, text } from '../../config/schema-node.ts';
import type { BuiltInExecutorsConfig } from '../../config/types/guards.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import { SANDBOX_MODES, type SandboxMode } from './shell-run.ts';

/** What a configuration says about commands. */
type ShellConfig = NonNullable<BuiltInExecutorsConfig['shell']>;

/** What may be said about a source that can bring commands. */
interface CommandSettings {
  /** Whether its commands run in a sandbox. */
  readonly sandbox?: SandboxMode;
}

/** Commands. */
export const shellKind: Kind<'shell', ShellConfig> = {
  kind: 'shell',
  pathFields: ['cwd', 'sandbox.read', 'sandbox.write'],
  failsWith: 'tool',
  options: object<ShellConfig>('Commands.', {
    sandbox: choice(
      SANDBOX_MODES,
      'Whether commands run in a sandbox. Default: where there is one; a command that declares a sandbox, or comes from a remote list, never without one unless preferred is written here or at its source.',
    ),
    roots: oneOrMany(
      text('A folder.', { use: 'path', decides: 'nothing' }),
      "Folders that commands may read and write, and paths may lie in; default this file's folder, which they may only read.",
    ),
  }),
  sourceOptions: {
    sandbox: choice(
      SANDBOX_MODES,
      'Whether its commands run in a sandbox: preferred lets those that declare one run without where there is none.',
    ),
  },
  async open(ports: KindPorts<ShellConfig>) {
    const { shellExecutor } = await import('./shell-executor.ts');
    const { options, entryOf } = ports;
    const atSource = (source: string): CommandSettings => entryOf(source) ?? {}; // checked against the schema
    return {
      executor: shellExecutor({
        ...ports,
        settings: (source) => ({ ...options(), source: atSource(source).sandbox }),
      }),
    };
  },
};

/** What the configuration says about commands. */
export interface ShellSettings {
  readonly sandbox?: SandboxMode | undefined;
  /** What the owner says at the source of the command. */
  readonly source?: SandboxMode | undefined;
  readonly roots?: string | readonly string[] | undefined;
}

/** What commands are run with. */
export interface ShellPorts extends Pick<KindPorts, 'folder' | 'env' | 'hidden'> {
  readonly secrets: Pick<Secrets, 'fill'>;
  /** What the configuration says now about commands of a source. */
  settings(source: string): ShellSettings;
  noteCode?: KindPorts['noteCode'] | undefined;
}
