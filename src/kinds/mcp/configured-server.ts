import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import type { SourcePorts } from '../../config/records.ts';
import type { ClientCredentials, McpChild, McpRemote, McpServer } from '../../config/types/sources.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Source } from '../../core/source.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { listOf } from '../../core/visible-text.ts';
import { systemClock } from '../../system/clock.ts';
import { fillAll, hostNamesOf, type SecretText } from '../../system/secrets/secret-template.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import type { McpEntry } from './mcp-kind.ts';
import type { McpServers } from './mcp-servers.ts';
import { mcp } from './mcp-source.ts';
import type { ClientSdk, McpAddress } from './open-connection.ts';
import { serverEnvironment } from './server-environment.ts';

/** The source of a configured MCP server. Its secrets are read only when the server is started or called. */
export function configuredServer(
  name: string,
  entry: McpEntry,
  { servers, ...ports }: SourcePorts & { readonly servers: McpServers },
): Source {
  const { share, initTimeoutMs, refreshMs, mcp: server, passEnv } = entry;
  const address =
    'command' in server ? childAddress(server, passEnv, ports) : remoteAddress(name, server, ports.secrets);
  return mcp({
    name,
    address,
    server: placeOf(server),
    servers,
    share,
    initTimeoutMs,
    refreshMs,
    kept: ports.kept(name, server),
    learnsLater: ports.background,
    reopens: ports.watch,
  });
}

/** Identifies the server by its command or address, without environment, headers and credentials. */
function placeOf(server: McpServer): string {
  if (!('command' in server)) return canonicalJson(server.url);
  const { command, args = [], cwd = null } = server;
  return canonicalJson([command, args, cwd]);
}

function childAddress(
  server: McpChild,
  passEnv: McpEntry['passEnv'],
  { env, secrets }: Pick<SourcePorts, 'env' | 'secrets'>,
): McpAddress {
  const { command, args = [], cwd, envFile, env: configured = {} } = server;
  return {
    kind: 'child',
    async command() {
      const filled = await fillAll(configured, (text) => secrets.fill(text, { child: true }));
      const inFile = envFile === undefined ? {} : await readEnvFile(envFile);
      const variables = { command, passEnv: listOf(passEnv), configured: { ...inFile, ...filled } };
      const { credentials, ...given } = serverEnvironment(env, variables);
      for (const { name, value } of credentials) secrets.hide(name, value); // before any output can contain it
      return { command, args, cwd, ...given };
    },
  };
}

async function readEnvFile(file: string): Promise<Readonly<Record<string, string | undefined>>> {
  try {
    return parseEnv(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new ToolcribError('invalid_config', `its envFile cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function remoteAddress(name: string, server: McpRemote, secrets: Secrets): McpAddress {
  const { type, headers = {}, auth } = server;
  const [host = ''] = hostNamesOf(server.url);
  const fill = (text: SecretText) => secrets.fill(text, { host });
  const withBearer: Readonly<Record<string, SecretText>> =
    auth !== undefined && 'bearer' in auth ? { ...headers, Authorization: bearerOf(auth.bearer) } : headers;
  let provider: ReturnType<typeof fetchedTokens> | undefined;
  return {
    kind: 'remote',
    type,
    async remote(sdk) {
      const url = new URL(await fill(server.url));
      if (auth !== undefined && 'clientCredentials' in auth)
        provider ??= fetchedTokens(sdk, url, { credentials: auth.clientCredentials, secrets, name });
      return { url, headers: () => fillAll(withBearer, fill), auth: await provider };
    },
  };
}

interface TokenSource {
  readonly credentials: ClientCredentials;
  readonly secrets: Secrets;
  readonly name: string;
}

/** All connections of a source use the same tokens. */
async function fetchedTokens(sdk: ClientSdk, serverUrl: URL, { credentials, secrets, name }: TokenSource) {
  const { clientCredentials } = await import('./client-credentials.ts');
  const { tokenUrl, clientId, clientSecret, scope } = credentials;
  return clientCredentials(sdk, {
    serverUrl,
    tokenUrl,
    clientId,
    async clientSecret(url) {
      // A plain text is not bound to hosts as a secret is, so only the configuration may say where it goes.
      if (typeof clientSecret === 'string' && tokenUrl === undefined && url.origin !== serverUrl.origin)
        throw new ToolcribError(
          'secret_refused',
          `the server names ${url.host} as its token endpoint, but clientSecret may not be sent there: set tokenUrl, or use a \${secret:NAME} with hosts`,
        );
      return secrets.fill(clientSecret, { host: url.host });
    },
    scope,
    clock: systemClock,
    hide: (token) => secrets.hide(`token of ${name}`, token),
  });
}

function bearerOf(token: SecretText): SecretText {
  return typeof token === 'string' ? `Bearer ${token}` : { secretTemplate: ['Bearer ', ...token.secretTemplate] };
}
