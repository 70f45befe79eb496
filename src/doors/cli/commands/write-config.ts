import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { Flags } from '../arguments/flags.ts';
import { type PastedServers, readServers } from '../arguments/read-servers.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { CONFIG_NAMES, findConfig } from '../find-config.ts';
import { note, print, printJson } from '../output/output.ts';
import { writeWhole } from '../output/write-whole.ts';
import { starterConfig } from '../starter-config.ts';

const NOTHING: PastedServers = { servers: {}, plainSecrets: [] };

/** `toolcrib init`: writes a commented configuration; one that is there stays unless `--force` is given. */
export async function writeConfig({ flags }: Invocation): Promise<ExitCode> {
  const file = targetOf(flags);
  if (flags.force !== true) refuseToReplace(file);
  const { servers, plainSecrets } =
    flags.from === undefined ? NOTHING : await readServers(resolve(flags.from), flags.from);
  const isPrivate = plainSecrets.length > 0;
  if (!writeWhole(file, starterConfig(servers), { replace: flags.force === true, isPrivate })) throw isThere(file);
  const shown = relative(process.cwd(), file) || file;
  if (flags.json === true) printJson({ file: shown, servers: Object.keys(servers) });
  else print(shown);
  if (isPrivate) {
    note(`In plain text, as they were, and so readable by you alone: ${plainSecrets.join(', ')}.`);
    note(`Better: put them into the environment and write \${NAME} instead.`);
  }
  note('Next: "toolcrib check" and "toolcrib list".');
  return 0;
}

function targetOf({ config }: Flags): string {
  const file = resolve(config ?? '.');
  return existsSync(file) && statSync(file).isDirectory() ? join(file, 'toolcrib.yaml') : file;
}

// A second configuration beside the one that is read would only confuse.
function refuseToReplace(file: string): void {
  const isUsual = CONFIG_NAMES.includes(basename(file));
  const there = isUsual ? findConfig(dirname(file)) : existsSync(file) ? file : undefined;
  if (there !== undefined) throw isThere(there);
}

function isThere(file: string): ToolcribError {
  return new ToolcribError('usage', `${relative(process.cwd(), file) || file} is there already; --force replaces it.`);
}
