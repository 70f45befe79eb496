import type { HiddenPaths } from '../../config/records.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import type { SandboxMode } from './shell-run.ts';

/** What the configuration says about commands. */
export interface ShellSettings {
  readonly sandbox?: SandboxMode | undefined;
  /** What the owner says at the source of the command. */
  readonly source?: SandboxMode | undefined;
  readonly roots?: string | readonly string[] | undefined;
}

/** What commands are run with. */
export interface ShellPorts {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secrets: Pick<Secrets, 'fill'>;
  /** What the configuration says now about commands of a source. */
  settings(source: string): ShellSettings;
  hidden(): HiddenPaths;
  /** Hears which files a tool runs as code; `hidden` has them from then on. */
  noteCode?(spec: ToolSpec, files: readonly string[]): void;
}
