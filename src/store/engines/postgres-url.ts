import { inspect } from 'node:util';
import { ToolcribError } from '../../core/tool-error.ts';
import { storeUnavailable } from './sql-engine.ts';

/** A database on a server: its name for messages, and the secrets to remove from them. */
export interface PostgresPlace {
  readonly location: string;
  readonly secrets: readonly string[];
}

/** Reasons and remedies, by SQLSTATE or system error code. */
const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'refuses the password; check store.url',
  '28000': 'refuses the user; check store.url',
  '3D000': 'does not exist; create the database or check store.url',
  '42501': 'does not allow this user to create or write tables; grant these rights',
  '53100': 'is full; free disk space on the server',
  '53300': 'has no connection left; raise max_connections or start fewer processes',
  '55P03': 'is locked by another process; end that process or try again',
  '25006': 'is read-only; name the primary server under store.url',
  '57014': 'cancelled a statement that took too long; check the load of the server and try again',
  '57P01': 'was shut down; start it and try again',
  '57P03': 'is starting or stopping; try again',
  ECONNREFUSED: 'refuses connections; start the server or check host and port in store.url',
  ECONNRESET: 'closed the connection; try again',
  ENOTFOUND: 'has an unknown host; check store.url',
  EAI_AGAIN: 'has an unknown host; check store.url and the network',
  ETIMEDOUT: 'timed out; check host, port and network',
};

/** Parses a URL without ever repeating it: in a malformed URL the password may be anywhere. */
export function readPostgresUrl(text: string): PostgresPlace {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || `${url.pathname}${url.search}${url.hash}`.includes('@')) throw unreadableUrl();
  const secrets = [url.password, decode(url.password), url.searchParams.get('password') ?? ''];
  return { location: `postgres://${url.host}${url.pathname}`, secrets: secrets.filter((secret) => secret !== '') };
}

function decode(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    throw unreadableUrl();
  }
}

function unreadableUrl(): ToolcribError {
  const message =
    'store.url is not a valid PostgreSQL URL; write postgres://user:password@host:port/database, with "%40" for "@", "%2F" for "/", "%23" for "#" and "%3F" for "?" in the password.';
  return new ToolcribError('invalid_store', message);
}

/** Converts any error of a server store to a `store_unavailable` error without the secrets of the URL. */
export function toPostgresError(error: unknown, { location, secrets }: PostgresPlace): ToolcribError {
  const { message, code } = error as { message?: unknown; code?: unknown }; // fields of pg and Node errors
  const reason = REASONS[typeof code === 'string' ? code : /timeout/i.test(String(message)) ? 'ETIMEDOUT' : ''];
  const told = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), String(message));
  const isClean = !secrets.some((secret) => inspect(error).includes(secret));
  return storeUnavailable(location, reason ?? `failed: ${told}`, isClean ? error : undefined);
}
