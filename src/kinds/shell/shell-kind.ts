import type { Kind, KindPorts } from '../../config/records.ts';
import { choice, object, oneOrMany, text } from '../../config/schema-node.ts';
import type { BuiltInExecutorsConfig } from '../../config/types/guards.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import { SANDBOX_MODES, type SandboxMode } from './shell-run.ts';

/** The configuration of the kind `shell`. */
type ShellConfig = NonNullable<BuiltInExecutorsConfig['shell']>;

/** Settings of a source that can contain commands. */
interface CommandSettings {
  /** The sandbox mode of its commands. */
  readonly sandbox?: SandboxMode;
}

/** The kind `shell`. */
export const shellKind: Kind<'shell', ShellConfig> = {
  kind: 'shell',
  pathFields: ['cwd', 'sandbox.read', 'sandbox.write'],
  failsWith: 'tool',
  options: object<ShellConfig>('Commands.', {
    sandbox: choice(
      SANDBOX_MODES,
      'Whether commands run in a sandbox. Default: in one if available. Commands that declare a sandbox or come from a remote list require one, unless preferred is set here or at their source.',
    ),
    roots: oneOrMany(
      text('A folder.', { use: 'path', decides: 'nothing' }),
      "Folders that commands may read and write, and that path arguments must lie in; default this file's folder, read-only.",
    ),
  }),
  sourceOptions: {
    sandbox: choice(
      SANDBOX_MODES,
      'Whether its commands run in a sandbox. With preferred, commands that declare one run without it if none is available.',
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

/** Settings for commands. */
export interface ShellSettings {
  readonly sandbox?: SandboxMode | undefined;
  /** The mode configured at the source of the command. */
  readonly source?: SandboxMode | undefined;
  readonly roots?: string | readonly string[] | undefined;
}

/** Options for running commands. */
export interface ShellPorts extends Pick<KindPorts, 'folder' | 'env' | 'hidden'> {
  readonly secrets: Pick<Secrets, 'fill'>;
  /** The current settings for commands of a source. */
  settings(source: string): ShellSettings;
  noteCode?: KindPorts['noteCode'] | undefined;
}
