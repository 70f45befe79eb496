import { isRecord, type JsonObject } from '../../core/json.ts';
import type { EnvelopeCheck } from './envelope-check.ts';
import type { Era } from './output-schema.ts';

/** A call without anything special about it. */
export interface PlainCall {
  readonly era: Era;
  readonly id: string | number;
  readonly name: string;
  readonly arguments: unknown;
  readonly meta: Members;
  readonly capabilities: JsonObject | undefined;
}

type Members = Readonly<Record<string, unknown>>;

const MODERN = '2026-07-28';
/** Those before it that have a header for themselves, or none. */
const LEGACY: readonly (string | null)[] = [null, '2025-11-25', '2025-06-18', '2025-03-26'];
const MESSAGE_KEYS: readonly string[] = ['jsonrpc', 'id', 'method', 'params'];
const PARAMS_KEYS: readonly string[] = ['name', 'arguments', '_meta'];
/** Of the protocol itself; whoever uses others is not on the beaten track. */
const RESERVED = 'io.modelcontextprotocol/';
const VERSION_KEY = `${RESERVED}protocolVersion`;
const CLIENT_KEY = `${RESERVED}clientInfo`;
const CAPABILITIES_KEY = `${RESERVED}clientCapabilities`;
const ENVELOPE_KEYS: readonly string[] = [VERSION_KEY, CLIENT_KEY, CAPABILITIES_KEY];

/**
 * Reads what nearly every call looks like. Undefined for whatever else there is, be it right or wrong: that is for the
 * protocol's package to read, or to refuse in its own words. So in doubt it is undefined.
 */
export function readPlainCall(body: unknown, headers: Headers, takesEnvelope: EnvelopeCheck): PlainCall | undefined {
  if (!isObjectOf(body, MESSAGE_KEYS)) return undefined;
  const { jsonrpc, id, method, params } = body;
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isId(id) || !isObjectOf(params, PARAMS_KEYS)) return undefined;
  const { name, arguments: given, _meta: meta = {} } = params;
  if (typeof name !== 'string' || !isArguments(given) || !isRecord(meta) || 'progressToken' in meta) return undefined;
  const version = headers.get('mcp-protocol-version');
  const isModern = version === MODERN;
  const isPlain = isModern
    ? isModernCall(name, meta, headers) && takesEnvelope({ meta, version })
    : LEGACY.includes(version) && isLegacyCall(meta, headers);
  if (!isPlain) return undefined;
  return {
    era: isModern ? 'modern' : 'legacy',
    id,
    name,
    arguments: given,
    meta,
    capabilities: isModern ? (meta[CAPABILITIES_KEY] as JsonObject) : undefined, // an object, as `takesEnvelope` found
  };
}

/** The headers repeat the body to the letter. */
function isModernCall(name: string, meta: Members, headers: Headers): boolean {
  return (
    meta[VERSION_KEY] === MODERN &&
    Object.keys(meta).every((key) => !key.startsWith(RESERVED) || ENVELOPE_KEYS.includes(key)) &&
    headers.get('mcp-method') === 'tools/call' &&
    headers.get('mcp-name') === name
  );
}

function isLegacyCall(meta: Members, headers: Headers): boolean {
  const accept = headers.get('accept') ?? '';
  return (
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    !Object.keys(meta).some((key) => key.startsWith(RESERVED))
  );
}

function isObjectOf(value: unknown, keys: readonly string[]): value is Members {
  return isRecord(value) && Object.keys(value).every((key) => keys.includes(key));
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

function isArguments(given: unknown): boolean {
  return given === undefined || (isRecord(given) && !Object.hasOwn(given, '__proto__'));
}
