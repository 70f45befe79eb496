import { names, policyNode, selectors, whenNode } from '../../config/policy-schema.ts';
import {
  address,
  anything,
  choice,
  either,
  flag,
  list,
  mapOf,
  NAMES,
  object,
  oneOrMany,
  type SchemaNode,
  text,
  typed,
  whole,
} from '../../config/schema-node.ts';
import { offload } from '../../extensions/offload.ts';
import { JWT_ALGORITHMS } from '../../identity/roles.ts';
import { executorsNode, extensionsNode, secretNode, toolNode } from './guard-schema.ts';
import { sourceNode } from './source-schema.ts';

const jwt = typed(
  'JwtConfig',
  object(
    'Tokens of an issuer.',
    {
      issuer: address('Who signs them, exactly as the tokens say it.'),
      audience: names('Whom they must be meant for; any one of these.'),
      jwks: address('Where its keys are; if absent, the issuer says where.'),
      algorithms: oneOrMany(
        choice(JWT_ALGORITHMS, 'An algorithm with a public key.'),
        'How they may be signed; all of them if absent.',
      ),
      rolesClaim: text('The claim with the roles, or a dotted path to it; default roles.'),
      permissionsClaim: text('The claim with the permissions; default permissions, scope and scp.'),
      clockToleranceMs: whole("How far the issuer's clock may be off; default 0.", 0, 300_000),
    },
    ['issuer'],
  ),
);

/** Who may come in. */
const accessNode = typed(
  'AccessConfig',
  object('Who may come in. Without it only this machine can.', {
    keys: flag('API keys, made by toolcrib keys; default false.'),
    jwt,
    roles: mapOf(
      typed(
        'RoleConfig',
        object('What a role may do.', {
          profiles: names('The profiles it may use; globs.'),
          operator: flag('It may do what an operator may.'),
        }),
      ),
      'Roles.',
      NAMES,
    ),
  }),
);

const bundle = typed(
  'BundleConfig',
  object('Tools that belong together: shown, found and set up together.', {
    description: text('What the tools are for.'),
    include: selectors('The tools.'),
    instructions: text('Prompt text shown while the bundle is active.'),
    requires: names('Bundles that are set up before this one.'),
    extends: names('Bundles whose tools, instructions and requirements this one has, too.'),
    when: whenNode,
    priority: { type: 'number', description: 'Higher comes first.' },
    meta: mapOf(anything('The value.'), 'Anything else.'),
  }),
);

const rule = typed(
  'RuleConfig',
  object(
    'A condition over the arguments of tools.',
    {
      tools: selectors('The tools.'),
      when: typed(
        'JsonSchema',
        { type: 'object', description: 'JSON Schema that the arguments must meet.' },
        'core/json.ts',
      ),
      otherwise: choice(['approve', 'deny'], 'What becomes of other calls.'),
    },
    ['tools', 'when', 'otherwise'],
  ),
);

const profile = typed(
  'ProfileConfig',
  object('What one kind of caller may use.', {
    include: selectors('Absent = all, [] = none.'),
    exclude: selectors('Taken out again.'),
    essential: names('Bundles that are always active.'),
    active: names('Bundles active at first: absent = every bundle in view, [] = the essential ones only.'),
    expose: choice(['all', 'search', 'script'], 'How the tools are shown; default all.'),
    approve: selectors("Tools that ask first, besides what a tool's own policy demands."),
    policy: policyNode,
    rules: list(rule, 'Conditions over arguments.'),
    settings: mapOf(anything('The value.'), 'Reaches tools as call.settings.'),
    delegate: mapOf(
      choice(['closed', 'ask', 'open'], 'Whether it may.'),
      'Profiles it may hand a task to; default closed.',
      NAMES,
    ),
  }),
);

const embeddings = either(
  'How texts are compared.',
  choice(['builtin', 'none'], 'The model that is built in, or words only.'),
  typed(
    'EmbeddingsConfig',
    object(
      'An OpenAI-compatible endpoint.',
      {
        url: address('Its address.'),
        model: text('The model.'),
        key: text(`Its key, usually \${secret:NAME}.`, { use: 'secretText' }),
      },
      ['url', 'model'],
    ),
  ),
);

const retrieval = typed(
  'RetrievalConfig',
  object('How tools are found.', {
    embeddings,
    usage: flag('What a caller has used most comes first among tools that fit equally well; default false.'),
    module: text('A module or package that exports a retriever.', { use: 'module' }),
    options: mapOf(anything('The value.'), 'Handed to it.'),
  }),
);

/** The one description of a configuration: what is checked, what editors show, what is emitted. */
export const configNode: SchemaNode = typed(
  'WrittenConfig',
  object('The configuration of a Toolcrib.', {
    $schema: text('Where this schema is, for editors.'),
    defaultProfile: text('Else the profile named default, else the only one, else all tools.'),
    sources: mapOf(sourceNode, 'Where tools come from, by name; the order decides who owns a name.', NAMES),
    mcpServers: mapOf(
      { type: 'object', description: 'A server, as Claude, Cursor or VS Code write it.' },
      'The block of an mcp.json, pasted as it is; each server becomes a source.',
    ),
    tools: list(toolNode, 'Tools as data, in the format of spec files.'),
    bundles: mapOf(bundle, 'Bundles by name.', NAMES),
    profiles: mapOf(profile, 'Profiles by name.', NAMES),
    secrets: mapOf(secretNode, `Secrets by name, written elsewhere as \${secret:NAME}.`, NAMES),
    services: mapOf(
      text('A module or package whose default export is the service or makes it.', { use: 'module' }),
      'Services by name.',
      NAMES,
    ),
    extensions: extensionsNode,
    executors: executorsNode,
    results: offload.options ?? {},
    access: accessNode,
    store: object(
      'Where what must outlive the process is kept.',
      {
        url: text('sqlite:PATH or postgres://...', {
          use: 'storeUrl',
          pattern: '^(sqlite:|postgres(ql)?://).',
          says: 'sqlite:PATH or postgres://USER@HOST/DATABASE',
        }),
      },
      ['url'],
    ),
    server: typed(
      'ServerConfig',
      object('Where it listens.', {
        host: text('The address; default 127.0.0.1.'),
        port: whole('The port; default 2742, 0 for any.', 0, 65_535),
        hosts: oneOrMany(text('A host name.'), 'Names besides by which it is reached, as behind a proxy.'),
        graceMs: whole(
          'How long calls under way may go on when it ends; default 10 s. After that they are ended and answered.',
          0,
        ),
      }),
    ),
    retrieval,
    onDuplicate: choice(
      ['skip', 'error'],
      'What becomes of a discovered or remote tool whose name is taken: it is held back, or what brings it is refused.',
    ),
  }),
);

/** True for a section all of whose lines may be commented out. Not so `access`: without one, callers without a credential come in. */
export function mayBeEmpty(section: string): boolean {
  const type = configNode.properties?.[section]?.type;
  return section !== 'access' && (type === 'object' || type === 'array');
}
