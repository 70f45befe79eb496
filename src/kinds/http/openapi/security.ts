import { isRecord } from '../../../core/json.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { secretsIn, toSecretText } from '../../../system/secrets/secret-template.ts';
import type { HttpAuth } from '../http-run.ts';
import type { Description, Fields } from './load-description.ts';
import { followRefs } from './local-refs.ts';
import type { AuthSetting, Operation, Reading } from './reading.ts';

/** The credentials of an operation; empty if no secret is configured for it. */
export function authOf({ fields }: Operation, base: string, reading: Reading): readonly HttpAuth[] {
  const { description, note } = reading;
  const required = fields.security ?? description.root.security;
  const alternatives = Array.isArray(required) ? required.filter(isRecord) : [];
  if (alternatives.length === 0) return [];
  const found = alternatives.map((schemes) => readAlternative(schemes, base, reading));
  const chosen = found.find(({ auth, missing }) => auth.length > 0 && missing.length === 0);
  if (chosen !== undefined) return chosen.auth;
  const partly = found.find(({ auth }) => auth.length > 0);
  if (partly !== undefined) return partly.auth;
  const isOptional = alternatives.some((schemes) => Object.keys(schemes).length === 0);
  const [name] = found[0]?.missing ?? [];
  const hasOwnHeaders = Object.keys(reading.settings.headers).length > 0;
  if (!isOptional && name !== undefined && !hasOwnHeaders) {
    note(
      `Its security scheme "${name}" has no secret, so calls are sent without a credential. Set auth: { ${name}: SECRET }.`,
    );
  }
  return [];
}

interface Alternative {
  readonly auth: readonly HttpAuth[];
  readonly missing: readonly string[];
}

function readAlternative(schemes: Fields, base: string, reading: Reading): Alternative {
  const auth: HttpAuth[] = [];
  const missing: string[] = [];
  const names = Object.keys(schemes);
  reading.description.work.spend(1 + names.length);
  for (const name of names) {
    const setting = settingOf(name, names.length, reading);
    const scheme = schemeOf(name, reading);
    const made =
      setting && scheme && toAuth(scheme, setting, { base, scopes: schemes[name], isFar: reading.url !== undefined });
    if (made === undefined) missing.push(name.slice(0, 64));
    else auth.push(made);
  }
  return { auth, missing };
}

/** The configured setting of a scheme; for a file also a secret named like the scheme or the source. */
function settingOf(name: string, schemeCount: number, { settings, url }: Reading): AuthSetting | undefined {
  const { auth, secretNames, source } = settings;
  if (Object.hasOwn(auth, name)) return auth[name];
  if (url !== undefined) return undefined; // a remote description chooses the names of its schemes, and could choose a secret by them
  const secret = secretNames.has(name) ? name : schemeCount === 1 && secretNames.has(source) ? source : undefined;
  return secret === undefined ? undefined : { secret: `\${secret:${secret}}` };
}

/** Schemes that are configured but not described. */
export function unknownSchemes({ settings, description }: Reading): readonly string[] {
  return Object.keys(settings.auth).filter((name) => !Object.hasOwn(schemesOf(description), name));
}

function schemesOf({ root: { components } }: Description): Fields {
  return isRecord(components) && isRecord(components.securitySchemes) ? components.securitySchemes : {};
}

function schemeOf(name: string, { description }: Reading): Fields | undefined {
  const schemes = schemesOf(description);
  if (!Object.hasOwn(schemes, name)) return undefined;
  return followRefs(description, schemes[name], `the security scheme "${name.slice(0, 64)}"`);
}

interface Use {
  readonly base: string;
  readonly scopes: unknown;
  /** True if the description was fetched, so that its host wrote it. */
  readonly isFar: boolean;
}

function toAuth(scheme: Fields, setting: AuthSetting, use: Use): HttpAuth | undefined {
  switch (scheme.type) {
    case 'apiKey':
      return 'secret' in setting ? toApiKey(scheme, setting.secret) : undefined;
    case 'http':
      return toHttpAuth(scheme, setting);
    case 'oauth2':
    case 'openIdConnect':
      if ('secret' in setting) return { bearer: setting.secret };
      return 'clientId' in setting ? toClientCredentials(scheme, setting, use) : undefined;
    default:
      return undefined; // mutualTLS and future types
  }
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function toApiKey({ in: place, name }: Fields, value: string): HttpAuth | undefined {
  if (typeof name !== 'string' || name === '' || name.includes('${')) return undefined;
  if (place === 'query') return { apiKey: { in: place, name, value } };
  const isNamed = (place === 'header' || place === 'cookie') && HEADER_NAME.test(name);
  return isNamed ? { apiKey: { in: place, name, value } } : undefined;
}

function toHttpAuth({ scheme }: Fields, setting: AuthSetting): HttpAuth | undefined {
  const kind = typeof scheme === 'string' ? scheme.toLowerCase() : '';
  if (kind === 'bearer') return 'secret' in setting ? { bearer: setting.secret } : undefined;
  if (kind !== 'basic') return undefined;
  if ('username' in setting) return { basic: { username: setting.username, password: setting.password } };
  // APIs that take a key with basic auth take it as the username.
  return 'secret' in setting ? { basic: { username: setting.secret, password: '' } } : undefined;
}

type ClientSetting = Extract<AuthSetting, { readonly clientId: string }>;

function toClientCredentials({ flows }: Fields, setting: ClientSetting, use: Use): HttpAuth | undefined {
  const { base, scopes, isFar } = use;
  const flow = isRecord(flows) && isRecord(flows.clientCredentials) ? flows.clientCredentials : {};
  const said = typeof flow.tokenUrl === 'string' ? URL.parse(flow.tokenUrl, `${base}/`)?.href : undefined;
  const tokenUrl = setting.tokenUrl ?? said;
  if (tokenUrl === undefined || (setting.tokenUrl === undefined && tokenUrl.includes('${'))) return undefined;
  if (isFar && setting.tokenUrl === undefined) requireOwnOrigin(tokenUrl, base, setting.clientSecret);
  const wanted = Array.isArray(scopes)
    ? scopes.filter((scope) => typeof scope === 'string' && !scope.includes('$'))
    : [];
  const scope = setting.scope ?? wanted.join(' ');
  const { clientId, clientSecret } = setting;
  return { clientCredentials: { tokenUrl, clientId, clientSecret, ...(scope !== '' && { scope }) } };
}

/** A plain text is not bound to hosts, so it goes only to the API itself, or to the configured tokenUrl. */
function requireOwnOrigin(tokenUrl: string, base: string, clientSecret: string): void {
  const { origin, host } = new URL(tokenUrl);
  if (origin === new URL(base).origin || secretsIn(toSecretText(clientSecret)).length > 0) return;
  throw new ToolcribError(
    'invalid_description',
    `the description names ${host} as its token endpoint, but clientSecret may not be sent there: set tokenUrl, or use a \${secret:NAME} with hosts`,
  );
}
