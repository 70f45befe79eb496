import type { Secrets } from '../secrets/secrets.ts';
import type { SandboxMode } from './shell-run.ts';

/** What the configuration says about commands. */
export interface ShellSettings {
  readonly sandbox?: SandboxMode | undefined;
  readonly roots?: string | readonly string[] | undefined;
}

/** What no command may see, wherever it lies: keys, tokens, the database; and what none may change in a sandbox. */
export interface HiddenPaths {
  readonly folders: readonly string[];
  readonly files: readonly string[];
  /** The files of the configuration, which say what may be run. */
  readonly readOnly: readonly string[];
}

/** What commands are run with. */
export interface ShellPorts {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secrets: Pick<Secrets, 'fill'>;
  /** What the configuration says now. */
  settings(): ShellSettings;
  hidden(): HiddenPaths;
}
