import {
  childEnvNode,
  clientCredentials,
  headersNode,
  initTimeoutMs,
  type Kind,
  type OwnEntry,
  refreshMs,
  type SourceEntry,
} from '../../config/records.ts';
import { address, choice, either, list, object, oneOrMany, type SchemaNode, text } from '../../config/schema-node.ts';
import type { ClientCredentials, McpChild, McpRemote, McpServer, McpSourceConfig } from '../../config/types/sources.ts';
import { listOf } from '../../core/visible-text.ts';
import { hostNamesOf, type SecretText, secretsIn } from '../../system/secrets/secret-template.ts';
import { isCredentialName } from './server-environment.ts';

/** An MCP server as a source. */
export type McpEntry = OwnEntry<McpSourceConfig>;

const mcpChild = object<McpChild>(
  'A server that runs as a child process.',
  {
    type: choice(['stdio'], 'stdio'),
    command: text('The program.', { use: 'command' }),
    args: list({ type: 'string', use: 'argument' }, 'Its arguments; no shell reads them. Secrets go into env.'),
    env: childEnvNode,
    envFile: text('A file of NAME=value lines.', { use: 'path', holds: 'secrets' }),
    cwd: text("Working folder; default this file's folder.", { use: 'path', decides: 'file' }),
  },
  ['command'],
);

const mcpAuth = either(
  'Credentials for the server.',
  object<{ readonly bearer: SecretText }>(
    'A token.',
    { bearer: text(`The token; may hold \${secret:NAME}.`, { use: 'secretText' }) },
    ['bearer'],
  ),
  object<{ readonly clientCredentials: ClientCredentials }>(
    'A token fetched with the client credentials grant.',
    { clientCredentials },
    ['clientCredentials'],
  ),
);

const mcpRemote = object<McpRemote>(
  'A server reached over HTTP.',
  {
    type: choice(['http', 'sse'], 'The transport; detected if absent.'),
    url: address('The address of the server.', { use: 'secretUrl' }),
    headers: headersNode,
    auth: mcpAuth,
  },
  ['url'],
);

/** The schema node of an MCP server: a child process or a URL. */
export const mcpNode = either('An MCP server.', mcpChild, mcpRemote);

/** Settings for the connection to a server. */
export const connection: Readonly<Record<'share' | 'initTimeoutMs' | 'refreshMs' | 'passEnv', SchemaNode>> = {
  share: choice(['all', 'profile', 'caller', 'conversation'], 'Who shares a connection and its state; default all.'),
  initTimeoutMs,
  refreshMs,
  passEnv: oneOrMany(
    text('The name of a variable.', {
      pattern: '^[A-Za-z_][^=\\s$]{0,127}$',
      says: 'the name of an environment variable',
    }),
    "Variables of toolcrib's own environment to pass to the child besides the usual ones, credentials included.",
  ),
};

const mcpSource: SourceEntry<McpEntry> = {
  key: 'mcp',
  description: 'An MCP server.',
  properties: { mcp: mcpNode, ...connection },
  isPrefixed: true,
  hostsOf({ mcp }) {
    if ('command' in mcp) return [];
    const { url, auth } = mcp;
    return auth !== undefined && 'clientCredentials' in auth ? undefined : hostNamesOf(url);
  },
  filesOf: ({ mcp }) => ('command' in mcp && mcp.envFile !== undefined ? [mcp.envFile] : []),
  problemsOf: (name, entry, callers) => [...findIdleNames(name, entry), ...findSharedCredential(name, entry, callers)],
};

/** Tools of MCP servers. */
export const mcpKind: Kind<'mcp', never, McpEntry> = {
  kind: 'mcp',
  pathFields: [],
  spanAttributes: { 'mcp.method.name': 'tools/call' },
  hasMcpMeta: true,
  source: mcpSource,
  async open({ clock }) {
    const [{ createMcpServers }, { mcpExecutor }] = await Promise.all([
      import('./mcp-servers.ts'),
      import('./mcp-executor.ts'),
    ]);
    const servers = createMcpServers(clock);
    return {
      executor: mcpExecutor(servers, clock),
      async makeSource(name, entry, ports) {
        const { configuredServer } = await import('./configured-server.ts');
        return configuredServer(name, entry, { ...ports, servers });
      },
    };
  },
};

function findIdleNames(name: string, { mcp, passEnv }: McpEntry): readonly string[] {
  if (passEnv === undefined || 'command' in mcp) return [];
  return [`Source "${name}": passEnv has no effect on a server reached over HTTP; remove it.`];
}

/** Finds servers with one credential for all callers over a shared connection: every caller acts with the operator's credential. */
function findSharedCredential(name: string, entry: McpEntry, callers: 'known' | 'unknown'): readonly string[] {
  const { mcp, share, passEnv } = entry;
  const isCarried = hasCredential(mcp) || ('command' in mcp && listOf(passEnv).some(isCredentialName));
  const isShared = share === undefined || share === 'all' || share === 'profile';
  // An explicit share with a single caller is intended.
  if (!isShared || !isCarried || (share !== undefined && callers === 'unknown')) return [];
  return [
    `Source "${name}" carries a credential, and callers share its connection and state. Set share to caller, conversation, profile or all.`,
  ];
}

const CREDENTIAL_HEADER = /^(?:proxy-)?authorization$|^cookie$|api-?key|token|secret/i;

function hasCredential(server: McpServer): boolean {
  if ('command' in server) return Object.values(server.env ?? {}).some(isSecret);
  const { url, headers = {}, auth } = server;
  return (
    auth !== undefined ||
    isSecret(url) ||
    Object.entries(headers).some(([name, value]) => isSecret(value) || CREDENTIAL_HEADER.test(name))
  );
}

function isSecret(text: SecretText): boolean {
  return secretsIn(text).length > 0;
}
