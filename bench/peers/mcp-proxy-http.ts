import { Server } from '@modelcontextprotocol/server';
import { proxyServer, startHTTPServer } from 'mcp-proxy';
import { connectUpstream } from './upstream.ts';

// node mcp-proxy-http.ts PORT URL: the command of mcp-proxy only starts servers, so this calls its functions as its README does.
const [port, ...target] = process.argv.slice(2);
const client = await connectUpstream(target);
const serverCapabilities = client.getServerCapabilities() ?? {};

await startHTTPServer({
  host: '127.0.0.1',
  port: Number(port),
  async createServer() {
    const server = new Server({ name: 'mcp-proxy', version: '1.0.0' }, { capabilities: serverCapabilities });
    await proxyServer({ client, server, serverCapabilities });
    return server;
  },
});
