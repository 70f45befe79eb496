import { legacyClient, modernClient, post, type RawMessage, request } from './clients.ts';

/** A client of some revision, as far as all of them are alike. */
export interface EraClient {
  list(): Promise<readonly ListedTool[]>;
  call(name: string, given?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<CallAnswer>;
}

interface ListedTool {
  readonly name: string;
  readonly outputSchema?: unknown;
  readonly [key: string]: unknown;
}

export interface CallAnswer {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly [key: string]: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Connects to a gateway as each revision does, with or without a credential. */
export const ERAS: Readonly<Record<string, (url: string, token?: string) => Promise<EraClient>>> = {
  '2026-07-28': async (url, token) => {
    const client = await modernClient(url, token === undefined ? {} : { token });
    return {
      list: async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools,
      call: async (name, given = {}, { signal, onProgress, meta } = {}) =>
        (await client.callTool(
          { name, arguments: given, ...(meta !== undefined && { _meta: meta }) },
          { ...optionsOf(signal, onProgress) },
        )) as CallAnswer,
    };
  },
  '2025-11-25': async (url, token) => {
    const client = await legacyClient(url, token);
    return {
      list: async () => (await client.listTools()).tools,
      call: async (name, given = {}, { signal, onProgress, meta } = {}) =>
        (await client.callTool({ name, arguments: given, ...(meta !== undefined && { _meta: meta }) }, undefined, {
          ...optionsOf(signal, onProgress),
        })) as CallAnswer,
    };
  },
  '2025-06-18': (url, token) => handWritten(url, '2025-06-18', token),
  '2025-03-26': (url, token) => handWritten(url, '2025-03-26', token),
};

function optionsOf(signal: AbortSignal | undefined, onprogress: CallOptions['onProgress']) {
  const progress = onprogress === undefined ? {} : { onprogress: (note: object) => onprogress(note as never) }; // their types disagree on undefined
  return { ...(signal !== undefined && { signal }), ...progress };
}

/** What a client does that knows of no package: the handshake, then one POST for each message. */
async function handWritten(url: string, version: string, token?: string): Promise<EraClient> {
  const authorized = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const hello = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'hand', version: '1' } };
  const { status, headers, messages } = await post(url, request('initialize', hello, 0), authorized);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(messages)}`);
  const session = headers.get('mcp-session-id');
  const known = {
    ...authorized,
    ...(session !== null && { 'mcp-session-id': session }),
    ...(version > '2025-03-26' && { 'mcp-protocol-version': version }),
  };
  await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, known);
  let id = 0;
  const ask = async (method: string, params: unknown): Promise<readonly RawMessage[]> => {
    id++;
    return (await post(url, request(method, params, id), known)).messages;
  };
  return {
    list: async () => resultOf(await ask('tools/list', {})).tools as readonly ListedTool[], // as the revision has it
    async call(name, given = {}, { signal, onProgress, meta } = {}) {
      const _meta = { ...meta, ...(onProgress && { progressToken: 'p' }) };
      const asked = ask('tools/call', { name, arguments: given, ...(Object.keys(_meta).length > 0 && { _meta }) });
      const requestId = id;
      signal?.addEventListener('abort', () =>
        post(url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, known),
      );
      const messages = await asked;
      for (const { method, params } of messages) if (method === 'notifications/progress') onProgress?.(params as never); // as the revision has it
      return resultOf(messages) as unknown as CallAnswer; // likewise
    },
  };
}

function resultOf(messages: readonly RawMessage[]): Readonly<Record<string, unknown>> {
  const last = messages.at(-1);
  if (last?.result === undefined) throw Object.assign(new Error(last?.error?.message), { code: last?.error?.code });
  return last.result;
}
