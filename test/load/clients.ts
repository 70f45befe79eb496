import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

/** One call as its caller saw it. */
export interface Sent {
  readonly id: string;
  readonly tool: string;
  /** `done`, the code of an error, or `lost` where no answer came. */
  readonly outcome: string;
  readonly text: string;
  /** How long the tool was asked to take. */
  readonly sentMs: number;
  /** How long the caller waited. */
  readonly ms: number;
}

/** Tools of both upstreams: those that may be repeated and those that may not. */
const TOOLS = ['st_write', 'st_look', 'ht_write', 'ht_look'] as const;

/** Keeps `clients` calls in flight until the signal aborts; half of them come by REST, half by MCP. */
export async function sendUntil(url: string, clients: number, signal: AbortSignal): Promise<readonly Sent[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const sent: Sent[] = [];
  const client = async (number: number): Promise<void> => {
    const call = number % 2 === 0 ? callByRest : callByMcp;
    for (let turn = number; !signal.aborted; turn++) {
      const tool = TOOLS[turn % TOOLS.length] ?? 'st_write';
      const id = randomUUID();
      const sentMs = turn % 15;
      const begin = performance.now();
      const heard = await call({ url, agent }, tool, { id, ms: sentMs }).catch((cause: Error) => ({
        outcome: 'lost',
        text: cause.message,
      }));
      sent.push({ id, tool, sentMs, ...heard, ms: performance.now() - begin });
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  agent.destroy();
  return sent;
}

interface Way {
  readonly url: string;
  readonly agent: Agent;
}

type Heard = Pick<Sent, 'outcome' | 'text'>;

async function callByRest(way: Way, tool: string, args: object): Promise<Heard> {
  const body = await post(way, `/api/tools/execute/${tool}`, { arguments: args });
  const { ok, error, content } = JSON.parse(body);
  return ok ? { outcome: 'done', text: content[0].text } : { outcome: error.code, text: error.message };
}

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'load', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function callByMcp(way: Way, tool: string, args: object): Promise<Heard> {
  const params = { name: tool, arguments: args, _meta: META };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const body = await post(way, '/mcp', message, {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': tool,
  });
  const data = body.startsWith('{') ? body : (/^data: (\{.*\})$/m.exec(body)?.[1] ?? '{}');
  const { result, error } = JSON.parse(data);
  if (error !== undefined) return { outcome: error.data?.code ?? `rpc ${error.code}`, text: error.message };
  const text = String(result?.content?.[0]?.text);
  return { outcome: result?.isError === true ? (/^\w+/.exec(text)?.[0] ?? 'error') : 'done', text }; // a failure begins with its code
}

function post({ url, agent }: Way, path: string, body: object, headers: object = {}): Promise<string> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers },
    });
    asked.on('error', reject);
    asked.on('response', (response) => {
      let heard = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        heard += chunk;
      });
      response.on('end', () => resolve(heard));
      response.on('error', reject);
    });
    asked.end(text);
  });
}
