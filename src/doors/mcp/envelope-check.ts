import type { Sdk } from './context.ts';

/** True for what a client may say of itself with a request of this revision. */
export type EnvelopeCheck = (said: Said) => boolean;

interface Said {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly version: string;
}

const MOST_KNOWN = 64;
const LONGEST_KNOWN = 2000;

/** Asks the protocol's package, once: a client says the same with every request. */
export function createEnvelopeCheck(sdk: Sdk): EnvelopeCheck {
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

/** Undefined for what is too much to be remembered. */
function textOf(envelope: object): string | undefined {
  try {
    const text = JSON.stringify(envelope);
    return text.length > LONGEST_KNOWN ? undefined : text;
  } catch (cause) {
    if (cause instanceof RangeError) return undefined; // nested too deeply to be written
    throw cause;
  }
}

function isTaken({ classifyInboundRequest }: Sdk, envelope: object, version: string): boolean {
  const method = 'tools/call';
  const body = { jsonrpc: '2.0', id: 0, method, params: { _meta: envelope } };
  const headers = { protocolVersionHeader: version, mcpMethodHeader: method };
  return classifyInboundRequest({ httpMethod: 'POST', ...headers, body }).kind === 'modern';
}
