import {
  clientCredentials,
  headersNode,
  initTimeoutMs,
  type Kind,
  type OwnEntry,
  refreshMs,
  type SourceEntry,
} from '../../config/records.ts';
import { address, either, flag, mapOf, object, oneOrMany, text } from '../../config/schema-node.ts';
import type { BuiltInExecutorsConfig } from '../../config/types/guards.ts';
import type { OpenApiSourceConfig } from '../../config/types/sources.ts';
import { listOf } from '../../core/visible-text.ts';
import type { SecretText } from '../../system/secrets/secret-template.ts';

/** The configuration of the kind `http`. */
type HttpConfig = NonNullable<BuiltInExecutorsConfig['http']>;

/** The operations of an OpenAPI document, from a file or a URL. */
export type OpenApiEntry = OwnEntry<OpenApiSourceConfig>;

type OpenApiUser = {
  readonly username: SecretText;
  readonly password: SecretText;
};

const openApiAuth = either(
  'Credentials for a security scheme.',
  text('The name of a secret.', { use: 'secretName' }),
  object<OpenApiUser>(
    'A user.',
    {
      username: text(`The username; may hold \${secret:NAME}.`, { use: 'secretText' }),
      password: text(`The password; may hold \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
    },
    ['username', 'password'],
  ),
  clientCredentials,
);

const openApiSource: SourceEntry<OpenApiEntry> = {
  key: 'openapi',
  description: 'A REST API.',
  properties: {
    openapi: text('An OpenAPI document: a path or a URL.', { use: 'pathOrUrl' }),
    baseUrl: address('The URL of the API; overrides the document.'),
    headers: headersNode,
    auth: mapOf(openApiAuth, 'Credentials for each security scheme of the document.'),
    outputSchemas: flag('Whether answers are checked against the response schemas of the document; default false.'),
    initTimeoutMs,
    refreshMs,
  },
  isPrefixed: true,
  choosesItself: true, // by method and path
  namesSecrets: true,
};

/** HTTP requests, and the operations of APIs as tools that send them. */
export const httpKind: Kind<'http', HttpConfig, OpenApiEntry> = {
  kind: 'http',
  pathFields: [],
  failsWith: 'tool',
  options: object<HttpConfig>('HTTP requests.', {
    allowPrivate: oneOrMany(text('A host name.'), 'Private hosts that requests may reach.'),
  }),
  source: openApiSource,
  async open({ options, ...ports }) {
    const { httpExecutor } = await import('./http-executor.ts');
    return {
      executor: httpExecutor({ ...ports, allowPrivate: () => listOf(options().allowPrivate) }),
      async makeSource(name, entry, sourcePorts) {
        const { describedApi } = await import('./openapi/openapi-source.ts');
        return describedApi(name, entry, sourcePorts);
      },
    };
  },
};
