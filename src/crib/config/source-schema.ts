import { effectsNode, names, policyNode } from '../../config/policy-schema.ts';
import {
  address,
  anything,
  choice,
  either,
  flag,
  list,
  mapOf,
  NAME_PATTERN,
  NAME_SAYS,
  object,
  oneOrMany,
  type SchemaNode,
  text,
  whole,
} from '../../config/schema-node.ts';
import type {
  CustomSourceConfig,
  DatabaseSourceConfig,
  FilesSourceConfig,
  HttpSourceConfig,
  McpFileSourceConfig,
  McpSourceConfig,
  ModulesSourceConfig,
  OpenApiAuth,
  OpenApiSourceConfig,
  OverrideConfig,
  PackagesSourceConfig,
  PythonSourceConfig,
  SourceSettings,
} from '../../config/types/sources.ts';
import { SANDBOX_MODES } from '../../kinds/shell/shell-run.ts';
import type { SecretText } from '../../system/secrets/secret-template.ts';
import { clientCredentials, headersNode, mcpNode } from './mcp-schema.ts';

const override = object<OverrideConfig>('What is corrected about the tools that match.', {
  title: text('A title.'),
  description: text('A description.'),
  effects: effectsNode,
  tags: names('Tags.'),
  category: text('A category.'),
  policy: policyNode,
  hiddenArguments: names('Arguments that callers neither see nor give; the tool gets its default, or none.'),
  fixedArguments: mapOf(
    anything('The value.'),
    'Arguments that callers neither see nor give; the tool gets this value.',
  ),
});

/** What the owner corrects about the tools of a source. */
export const overridesNode = mapOf(override, "Corrections, by glob over its tools' names.");

/** The bundle of a source. */
export const bundleNode = either(
  'The bundle its tools belong to: its own name if absent, none if false.',
  text('A bundle.', { pattern: NAME_PATTERN, says: NAME_SAYS }),
  { type: 'boolean', enum: [false] },
);

const settings: Readonly<Record<keyof SourceSettings, SchemaNode>> = {
  bundle: bundleNode,
  overrides: overridesNode,
  trust: flag('Lets what it says about effects, policy, tags and category stand; else it can only raise caution.'),
  prefix: {
    type: 'string',
    description: 'Put before its tools\' names with "_"; "" for nothing.',
    pattern: '^([A-Za-z_][A-Za-z0-9_-]{0,40})?$',
    says: 'letters, digits, "_" and "-", starting with a letter or "_", or ""',
  },
  kinds: names('The kinds of run its specs may carry.'),
  include: names('Only these of its tools; for OpenAPI also "GET /pets*".'),
  exclude: names('None of these of its tools.'),
  settings: mapOf(anything('The value.'), 'Defaults of the settings that reach its tools as call.settings.'),
  onChange: choice(
    ['stop'],
    'stop ends its connection as soon as its entry is edited; if absent, that answers until the edited entry has a list.',
  ),
};

/** What may be said about a source that can bring commands. */
const commands: Readonly<Record<'sandbox', SchemaNode>> = {
  sandbox: choice(
    SANDBOX_MODES,
    'Whether its commands run in a sandbox: preferred lets those that declare one run without where there is none.',
  ),
};
const share = choice(
  ['all', 'profile', 'caller', 'conversation'],
  'Who shares a connection and its state; default all.',
);
const initTimeoutMs = whole('How long it may take to start.');
const refreshMs = whole('How often its list is read again.');
const connection = { share, initTimeoutMs, refreshMs };
const paths = (description: string) => oneOrMany(text('A path.', { use: 'path' }), description);

const openApiAuth = either(
  'What is sent for a security scheme.',
  text('The name of a secret.', { use: 'secretName' }),
  object<Extract<OpenApiAuth, { readonly username: SecretText }>>(
    'A user.',
    {
      username: text(`Who is asking; may hold \${secret:NAME}.`, { use: 'secretText' }),
      password: text(`The proof; may hold \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
    },
    ['username', 'password'],
  ),
  clientCredentials,
);

const grantedSecrets = oneOrMany(
  text('The name of a secret.', { use: 'secretName' }),
  `Secrets that its tools may name by \${secret:NAME}; default none.`,
);

/** One source; the key that names its kind tells which. */
export const sourceNode = either(
  'Where tools come from.',
  object<McpSourceConfig>('An MCP server.', { mcp: mcpNode, ...settings, ...connection }, ['mcp']),
  object<FilesSourceConfig>(
    'Spec files.',
    {
      files: paths('*.yaml, *.json with tools:, *.ndjson one spec a line; files or folders, watched.'),
      ...settings,
      ...commands,
    },
    ['files'],
  ),
  object<ModulesSourceConfig>(
    'Modules.',
    {
      modules: paths('Modules that export tools or bundles; files or folders.'),
      ...settings,
      ...commands,
      initTimeoutMs,
    },
    ['modules'],
  ),
  object<PackagesSourceConfig>(
    'Installed packages.',
    {
      packages: either(
        'Installed packages with a "toolcrib" field: all, none, or these.',
        flag('All, or none.'),
        list(text('A package.'), 'These.'),
      ),
      ...settings,
      ...commands,
      initTimeoutMs,
    },
    ['packages'],
  ),
  object<PythonSourceConfig>(
    'Python functions.',
    { python: paths('Python files or folders of them.'), ...settings, initTimeoutMs },
    ['python'],
  ),
  object<OpenApiSourceConfig>(
    'A REST API.',
    {
      openapi: text('An OpenAPI document: a path or an address.', { use: 'pathOrUrl' }),
      baseUrl: address('Where the API is, whatever the document says.'),
      headers: headersNode,
      auth: mapOf(openApiAuth, 'What is sent for each security scheme of the document.'),
      outputSchemas: flag('Whether answers are checked against what the document says about them; default false.'),
      ...settings,
      initTimeoutMs,
      refreshMs,
    },
    ['openapi'],
  ),
  object<HttpSourceConfig>(
    'Specs at an address.',
    {
      http: address('The address of a list of specs.', { use: 'secretUrl' }),
      headers: headersNode,
      secrets: grantedSecrets,
      ...settings,
      ...commands,
      initTimeoutMs,
      refreshMs,
    },
    ['http'],
  ),
  object<DatabaseSourceConfig>(
    'Specs in the store.',
    {
      database: flag('Specs kept in the store; false lists none.'),
      secrets: grantedSecrets,
      ...settings,
      ...commands,
      refreshMs,
    },
    ['database'],
  ),
  object<CustomSourceConfig>(
    'A source of your own.',
    {
      module: text('A module or package that exports a source.', { use: 'module' }),
      options: mapOf(anything('The value.'), 'Handed to the source.'),
      ...settings,
      ...commands,
      initTimeoutMs,
    },
    ['module'],
  ),
  object<McpFileSourceConfig>(
    'A file of MCP servers.',
    {
      mcpFile: text('An mcp.json or a YAML map of servers; each becomes a source of its own name.', {
        use: 'path',
        holds: 'servers',
      }),
      ...settings,
      ...connection,
    },
    ['mcpFile'],
  ),
);
