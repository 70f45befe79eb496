import { readConfigText } from '../../../config/config-text.ts';
import { readConfigFile } from '../../../config/read-config-file.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { findServers } from '../../../crib/config/pasted-server.ts';

/** The servers of an mcp.json, and where in them something secret may stand in plain text. */
export interface PastedServers {
  readonly servers: Readonly<Record<string, unknown>>;
  readonly plainSecrets: readonly string[];
}

/** Reads the servers of Claude, Cursor, VS Code and the like. */
export async function readServers(file: string, shownAs: string): Promise<PastedServers> {
  const { value } = await readConfigText(await readConfigFile(file, shownAs), shownAs);
  const servers: Readonly<Record<string, unknown>> = { ...findServers(value)?.servers };
  if (Object.keys(servers).length === 0) throw new ToolcribError('usage', `${shownAs} holds no servers.`);
  return { servers, plainSecrets: Object.entries(servers).flatMap(([name, server]) => plainSecretsOf(name, server)) };
}

// Their values are not looked at closely: what is not a variable may be a key.
function plainSecretsOf(name: string, server: unknown): readonly string[] {
  return ['env', 'headers'].flatMap((block) =>
    Object.entries(membersOf(membersOf(server)[block]))
      .filter(([, value]) => typeof value === 'string' && value !== '' && !value.includes('${'))
      .map(([key]) => `${name}.${block}.${key}`),
  );
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
