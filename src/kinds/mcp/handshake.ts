import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { packageVersion } from '../../system/package-version.ts';
import { McpFailure, statusOf } from './mcp-failure.ts';
import type { McpEra } from './open-connection.ts';
import { readMessage, type ServerTransport, type WireRequests } from './wire-requests.ts';

/** Outcome of a handshake. */
export interface Agreement {
  readonly era: McpEra;
  readonly version: string;
  /** True if the server reports changes of its tool list. */
  readonly reportsToolChanges: boolean;
}

/** Options for a handshake. */
interface Handshake {
  readonly transport: ServerTransport;
  readonly requests: WireRequests;
  /** The known era. `legacy` skips the probe. */
  readonly era: McpEra | undefined;
  /** True if silence is an outage; a server on a pipe may simply not know the request. */
  readonly mustAnswer: boolean;
  /** Timeout of the probe for the newest revision. */
  readonly probeMs: number;
  /** Timeout of the older handshake. */
  readonly timeoutMs: number;
}

/** The client info that servers see. */
export const SELF = { name: 'toolcrib', version: packageVersion() };

/** Revisions that begin with `server/discover` and repeat the client's identity in each request. */
const MODERN_VERSION = '2026-07-28';
/** Revisions that begin with `initialize`, the preferred one first. */
const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** The `_meta` of every request in the modern era. */
export const ENVELOPE: JsonObject = {
  'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
  'io.modelcontextprotocol/clientInfo': SELF,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Agrees on a revision of the protocol: the newest one, or an older one if the server does not know it. */
export async function shakeHands(handshake: Handshake): Promise<Agreement> {
  const modern = handshake.era === 'legacy' ? undefined : await discover(handshake);
  if (modern === undefined) return initialize(handshake);
  handshake.transport.setProtocolVersion?.(modern.version);
  return modern;
}

/** Resolves with undefined if the server speaks older revisions only. */
async function discover(handshake: Handshake): Promise<Agreement | undefined> {
  const request = () => ask(handshake, 'server/discover', { _meta: ENVELOPE });
  const first = await request();
  const isRetried = first instanceof McpFailure && supportedBy(first).includes(MODERN_VERSION);
  const answer = isRetried ? await request() : first;
  if (answer instanceof McpFailure) return requireLegacy(answer, handshake);
  const { supportedVersions, capabilities } = answer;
  if (!Array.isArray(supportedVersions) || !isJsonObject(capabilities)) return undefined;
  if (!supportedVersions.includes(MODERN_VERSION)) return undefined;
  return { era: 'modern', version: MODERN_VERSION, reportsToolChanges: reportsToolChanges(capabilities) };
}

async function initialize(handshake: Handshake): Promise<Agreement> {
  const { transport } = handshake;
  const params = { protocolVersion: LEGACY_VERSIONS[0] ?? '', capabilities: {}, clientInfo: SELF };
  const answer = await ask(handshake, 'initialize', params);
  if (answer instanceof McpFailure) throw plainest(answer);
  const { protocolVersion: version, capabilities } = answer;
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version))
    throw new McpFailure('malformed', `Server's protocol version is not supported: ${JSON.stringify(version)}`);
  transport.setProtocolVersion?.(version);
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { era: 'legacy', version, reportsToolChanges: reportsToolChanges(capabilities) };
}

function reportsToolChanges(capabilities: unknown): boolean {
  const tools = isJsonObject(capabilities) ? capabilities.tools : undefined;
  return isJsonObject(tools) && tools.listChanged === true;
}

/** Sends a request of the handshake. Without an answer in time, it fails as `cancelled`. */
async function ask(
  { requests, probeMs, timeoutMs }: Handshake,
  method: 'server/discover' | 'initialize',
  params: JsonObject,
): Promise<JsonObject | McpFailure> {
  const onAbort = (giveUp: () => void): (() => void) => {
    const timer = setTimeout(giveUp, method === 'initialize' ? timeoutMs : probeMs);
    return () => clearTimeout(timer);
  };
  try {
    return await requests.send({ method, params, onAbort });
  } catch (cause) {
    if (!(cause instanceof McpFailure)) throw cause;
    return cause.kind === 'cancelled' ? new McpFailure('cancelled', 'it did not answer in time') : cause;
  }
}

/** The JSON-RPC code of a server that does not support the requested revision. */
const UNSUPPORTED_VERSION = -32_022;

/** The revisions that a server names because it does not support the requested one. */
function supportedBy({ kind, code, data, cause }: McpFailure): readonly unknown[] {
  const error = kind === 'error' ? { code, data } : readMessage(bodyOf(cause))?.error;
  if (!isJsonObject(error) || error.code !== UNSUPPORTED_VERSION || !isJsonObject(error.data)) return [];
  return Array.isArray(error.data.supported) ? error.data.supported : [];
}

/** Returns if the failed probe only shows an older server, and throws if the older handshake would fail as well. */
function requireLegacy(failure: McpFailure, { mustAnswer }: Handshake): undefined {
  const { kind } = failure;
  if (supportedBy(failure).some((version) => typeof version === 'string' && version >= MODERN_VERSION)) throw failure;
  if (kind === 'error' || (!mustAnswer && (kind === 'cancelled' || kind === 'malformed'))) return undefined;
  const status = statusOf(failure);
  if (status === undefined || status === 401 || status === 403 || status >= 500) throw plainest(failure);
}

/** For a request with an unknown outcome the cause says more, such as a secret that is missing. */
function plainest(failure: McpFailure): unknown {
  return failure.kind === 'lost' ? (failure.cause ?? failure) : failure;
}

function bodyOf(cause: unknown): string {
  const { data } = Object(cause) as { readonly data?: unknown }; // read as unknown
  return isJsonObject(data) && typeof data.text === 'string' ? data.text : '';
}
