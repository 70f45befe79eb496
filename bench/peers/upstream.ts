import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** Connects to a server by its address, or starts it by its command. */
export async function connectUpstream([target = '', ...args]: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'peer', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const transport = target.startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args: [...args] });
  await client.connect(transport);
  return client;
}
