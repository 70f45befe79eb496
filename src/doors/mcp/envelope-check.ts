import type { ServerSdk } from './context.ts';

/** Returns true if the client metadata of a request is valid for its revision. */
export type EnvelopeCheck = (said: Said) => boolean;

interface Said {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly version: string;
}

const MOST_KNOWN = 64;
const LONGEST_KNOWN = 2000;

/** Checks envelopes with the MCP SDK and caches valid ones: a client repeats its envelope with every request. */
export function createEnvelopeCheck(sdk: ServerSdk): EnvelopeCheck {
  const known = new Set<string>();
  return ({ meta, version }) => {
    const envelope = {
      [sdk.PROTOCOL_VERSION_META_KEY]: version,
      [sdk.CLIENT_INFO_META_KEY]: meta[sdk.CLIENT_INFO_META_KEY],
      [sdk.CLIENT_CAPABILITIES_META_KEY]: meta[sdk.CLIENT_CAPABILITIES_META_KEY],
    };
    const text = textOf(envelope);
    if (text === undefined) return false;
    if (known.has(text)) return true;
    if (!isTaken(sdk, JSON.parse(text), version)) return false;
    if (known.size === MOST_KNOWN) known.clear();
    known.add(text);
    return true;
  };
}

/** The envelope as text; undefined if it is too large to cache. */
function textOf(envelope: object): string | undefined {
  try {
    const text = JSON.stringify(envelope);
    return text.length > LONGEST_KNOWN ? undefined : text;
  } catch (cause) {
    if (cause instanceof RangeError) return undefined; // nested too deeply to serialize
    throw cause;
  }
}

function isTaken({ classifyInboundRequest }: ServerSdk, envelope: object, version: string): boolean {
  const method = 'tools/call';
  const body = { jsonrpc: '2.0', id: 0, method, params: { _meta: envelope } };
  const headers = { protocolVersionHeader: version, mcpMethodHeader: method };
  return classifyInboundRequest({ httpMethod: 'POST', ...headers, body }).kind === 'modern';
}
