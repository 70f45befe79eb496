import type { SourcePorts } from '../../../config/records.ts';
import type { OpenApiAuth, SourceSettings } from '../../../config/types/sources.ts';
import type { Source } from '../../../core/source.ts';
import { listOf } from '../../../core/text/names.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { type SecretText, secretsIn } from '../../../system/secrets/secret-template.ts';
import type { Secrets } from '../../../system/secrets/secrets.ts';
import type { OpenApiEntry } from '../kind.ts';
import { openapi } from './openapi.ts';
import type { AuthSetting } from './reading.ts';

/** The source of a configured API. Its secrets stay names in how its tools run, and are looked up by each call. */
export function describedApi(
  name: string,
  entry: OpenApiEntry & SourceSettings,
  { secrets, watch, kept }: Pick<SourcePorts, 'secrets' | 'watch' | 'kept'>,
): Source {
  const { openapi: description, baseUrl, headers = {}, auth = {}, include, exclude, refreshMs, initTimeoutMs } = entry;
  const isRemote = /^https?:/i.test(description);
  const texts = [...Object.values(headers), ...Object.values(auth).flatMap(credentialsOf)];
  return openapi({
    name,
    description,
    settings: {
      baseUrl,
      include: include === undefined ? undefined : listOf(include),
      exclude: listOf(exclude),
      headers: mapValues(headers, (text) => toRunText(text, 'template')),
      auth: mapValues(auth, toSetting),
      secretNames: new Set(secrets.names),
      // A secret goes to its own hosts whoever names others; what is written down as it is has none.
      staysOnHost: isRemote && baseUrl === undefined && texts.some((text) => secretsIn(text).length === 0),
      outputSchemas: entry.outputSchemas ?? false,
    },
    ...(isRemote && { headers: () => headersFor(new URL(description).host, headers, secrets) }),
    refreshMs,
    timeoutMs: initTimeoutMs,
    watch,
    kept: kept(name, description),
  });
}

/** The headers that the description itself is asked for with: those whose secrets are meant for another host are not. */
async function headersFor(host: string, headers: Headers, secrets: Secrets): Promise<Readonly<Record<string, string>>> {
  const filled = Object.entries(headers).map(async ([name, text]) => {
    try {
      return [[name, await secrets.fill(text, { host })] as const];
    } catch (cause) {
      if (cause instanceof ToolcribError && cause.code === 'secret_refused') return [];
      throw cause;
    }
  });
  return Object.fromEntries((await Promise.all(filled)).flat());
}

type Headers = Readonly<Record<string, SecretText>>;

/** What has to be kept secret of an entry under `auth`. */
function credentialsOf(auth: OpenApiAuth): readonly SecretText[] {
  if (typeof auth === 'string' || 'secretTemplate' in auth) return [auth];
  return 'username' in auth ? [auth.password] : [auth.clientSecret];
}

function toSetting(auth: OpenApiAuth): AuthSetting {
  if (typeof auth === 'string' || 'secretTemplate' in auth) return { secret: toRunText(auth, 'plain') };
  if ('username' in auth) {
    return { username: toRunText(auth.username, 'plain'), password: toRunText(auth.password, 'plain') };
  }
  const { clientId, clientSecret, scope, tokenUrl } = auth;
  return { clientId: toRunText(clientId, 'plain'), clientSecret: toRunText(clientSecret, 'plain'), scope, tokenUrl };
}

/** A text of the configuration as one of a run, where braces may mean arguments. What it says may not look like more. */
function toRunText(text: SecretText, braces: 'template' | 'plain'): string {
  const parts = typeof text === 'string' ? [text] : text.secretTemplate;
  let written = '';
  for (const part of parts) {
    if (typeof part === 'string') written += escapeText(part, braces);
    else if (written.endsWith('$'))
      throw new ToolcribError('invalid_config', 'A "$" right before a secret would hide the secret; leave it out.');
    else written += `\${secret:${part.secret}}`;
  }
  return written;
}

function escapeText(text: string, braces: 'template' | 'plain'): string {
  const special = braces === 'template' ? /\$\{|[{}]/g : /\$\{/g;
  return text.replace(special, (found) => (found === '${' ? '$${' : `${found}${found}`));
}

function mapValues<Value, Made>(
  values: Readonly<Record<string, Value>>,
  make: (value: Value) => Made,
): Readonly<Record<string, Made>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]));
}
