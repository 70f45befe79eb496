import { address, choice, either, list, mapOf, object, text } from '../../config/schema-node.ts';
import type { ClientCredentials, McpChild, McpRemote } from '../../config/types/sources.ts';
import type { SecretText } from '../../system/secrets/secret-template.ts';

/** Headers that may hold secrets. */
export const headersNode = mapOf(
  text(`A value; may hold \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
  'HTTP headers.',
);

/** A server that runs as a child. */
const mcpChild = object<McpChild>(
  'A server that runs as a child.',
  {
    type: choice(['stdio'], 'stdio'),
    command: text('The program.', { use: 'command' }),
    args: list({ type: 'string', use: 'argument' }, 'Its arguments; no shell reads them. Secrets go into env.'),
    env: mapOf(
      text(`A value; may hold \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
      'Added to the few variables that a child gets.',
    ),
    envFile: text('A file of NAME=value lines.', { use: 'path', holds: 'secrets' }),
    cwd: text("Where it runs; default this file's folder.", { use: 'path', decides: 'file' }),
  },
  ['command'],
);

/** What an access token is fetched with. */
export const clientCredentials = object<ClientCredentials>(
  'What a token is fetched with.',
  {
    tokenUrl: address('Where tokens are given out; the server says it itself if absent.'),
    clientId: text('Who is asking.'),
    clientSecret: text(`The proof; \${secret:NAME}, bound to the host of the token address.`, { use: 'secretText' }),
    scope: text('What the token is to be good for.'),
  },
  ['clientId', 'clientSecret'],
);

const mcpAuth = either(
  'How the server is told who is asking.',
  object<{ readonly bearer: SecretText }>(
    'A token.',
    { bearer: text(`The token; may hold \${secret:NAME}.`, { use: 'secretText' }) },
    ['bearer'],
  ),
  object<{ readonly clientCredentials: ClientCredentials }>('A token that is fetched.', { clientCredentials }, [
    'clientCredentials',
  ]),
);

const mcpRemote = object<McpRemote>(
  'A server that is reached by its address.',
  {
    type: choice(['http', 'sse'], 'How it is spoken to; found out if absent.'),
    url: address('The address of the server.', { use: 'secretUrl' }),
    headers: headersNode,
    auth: mcpAuth,
  },
  ['url'],
);

/** How an MCP server is reached. */
export const mcpNode = either('An MCP server.', mcpChild, mcpRemote);
