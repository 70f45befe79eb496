import { packageVersion } from '../../../system/package-version.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { print, printJson } from '../output/output.ts';

/** `toolcrib --version`. */
export async function printVersion({ flags }: Invocation): Promise<ExitCode> {
  const version = packageVersion();
  if (flags.json === true) printJson({ version, node: process.versions.node });
  else print(version);
  return 0;
}
