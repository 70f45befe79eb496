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

/** What a configuration says about HTTP requests. */
type HttpConfig = NonNullable<BuiltInExecutorsConfig['http']>;

/** The operations of an OpenAPI document: a file or an address. */
export type OpenApiEntry = OwnEntry<OpenApiSourceConfig>;

type OpenApiUser = {
  readonly username: SecretText;
  readonly password: SecretText;
};

const openApiAuth = either(
  'What is sent for a security scheme.',
  text('The name of a secret.', { use: 'secretName' }),
  object<OpenApiUser>(
    'A user.',
    {
      username: text(`Who is asking; may hold \${secret:NAME}.`, { use: 'secretText' }),
      password: text(`The proof; may hold \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
    },
    ['username', 'password'],
  ),
  clientCredentials,
);

const openApiSource: SourceEntry<OpenApiEntry> = {
  key: 'openapi',
  description: 'A REST API.',
  properties: {
    openapi: text('An OpenAPI document: a path or an address.', { use: 'pathOrUrl' }),
    baseUrl: address('Where the API is, whatever the document says.'),
    headers: headersNode,
    auth: mapOf(openApiAuth, 'What is sent for each security scheme of the document.'),
    outputSchemas: flag('Whether answers are checked against what the document says about them; default false.'),
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
    allowPrivate: oneOrMany(text('A name.'), 'Private hosts that may be reached.'),
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
