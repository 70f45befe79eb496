import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';

type ClientOptions = NonNullable<ConstructorParameters<typeof Client>[1]>;

/** The SDK's client of the newest revision. */
export async function modernClient(
  url: string,
  options: ClientOptions & { readonly token?: string } = {},
): Promise<Client> {
  const { token, ...rest } = options;
  const client = new Client(
    { name: 'modern', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...rest },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorization(token) } }),
  );
  onTestFinished(() => client.close());
  return client;
}

/** The SDK's client of the revisions before. */
export async function legacyClient(url: string, token?: string): Promise<LegacyClient> {
  const client = new LegacyClient({ name: 'legacy', version: '1' });
  const transport = new LegacyTransport(new URL(url), { requestInit: { headers: authorization(token) } });
  await client.connect(transport as unknown as Parameters<LegacyClient['connect']>[0]); // its types disagree on undefined
  onTestFinished(() => client.close());
  return client;
}

function authorization(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** An answer as it came over HTTP. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The messages of the answer, whether they came as JSON or as events. */
  readonly messages: readonly RawMessage[];
}
export interface RawMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Posts something as a client written by hand would. */
export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, messages: messagesIn(response, await response.text()) };
}

function messagesIn(response: Response, text: string): readonly RawMessage[] {
  if (text === '') return [];
  if (response.headers.get('content-type')?.startsWith('application/json')) return [JSON.parse(text)].flat();
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
}

/** A request as the revision 2025-03-26 has it. */
export function request(
  method: string,
  params: unknown = {},
  id: number | string = 1,
): Readonly<Record<string, unknown>> {
  return { jsonrpc: '2.0', id, method, params };
}

/** A request as the revision 2026-07-28 has it, and its headers. */
export function modernRequest(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  capabilities: unknown = {},
) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'hand', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(typeof params._meta === 'object' ? params._meta : {}),
  };
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
  };
  return { body: request(method, { ...params, _meta }), headers };
}
