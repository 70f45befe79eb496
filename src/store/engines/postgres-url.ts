import { inspect } from 'node:util';
import { ToolcribError } from '../../core/tool-error.ts';
import { storeUnavailable } from './sql-engine.ts';

/** A database on a server as it may be named, and the words that may not be. */
export interface PostgresPlace {
  readonly location: string;
  readonly secrets: readonly string[];
}

/** What happened and what to do, by SQLSTATE or system code. */
const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'refuses the password; check store.url',
  '28000': 'refuses the user; check store.url',
  '3D000': 'does not exist; create the database or check store.url',
  '42501': 'does not let this user create or write tables; grant it',
  '53100': 'is full; make room on its disk',
  '53300': 'has no connection left; raise max_connections or start fewer processes',
  '55P03': 'is locked by another process that does not let go; end that process or try again',
  '25006': 'is read-only; name the primary server under store.url',
  '57014': 'took too long for a statement; look for what keeps it busy and try again',
  '57P01': 'was shut down; start it and try again',
  '57P03': 'is starting or stopping; try again',
  ECONNREFUSED: 'does not answer; start the server or check host and port in store.url',
  ECONNRESET: 'broke the connection; try again',
  ENOTFOUND: 'has an unknown host; check store.url',
  EAI_AGAIN: 'has an unknown host; check store.url and the network',
  ETIMEDOUT: 'does not answer in time; check host, port and network',
};

/** Reads a URL without ever repeating it: in one that is written wrongly the password may stand in any corner. */
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
    'store.url is no PostgreSQL URL; write postgres://user:password@host:port/database, with "%40" for "@", "%2F" for "/", "%23" for "#" and "%3F" for "?" in the password.';
  return new ToolcribError('invalid_store', message);
}

/** The one error a store on a server rejects with; no secret of the URL is in it. */
export function toPostgresError(error: unknown, { location, secrets }: PostgresPlace): ToolcribError {
  const { message, code } = error as { message?: unknown; code?: unknown }; // what errors of pg and of Node carry
  const reason = REASONS[typeof code === 'string' ? code : /timeout/i.test(String(message)) ? 'ETIMEDOUT' : ''];
  const told = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), String(message));
  const isClean = !secrets.some((secret) => inspect(error).includes(secret));
  return storeUnavailable(location, reason ?? `failed: ${told}`, isClean ? error : undefined);
}
