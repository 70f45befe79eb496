import { names, policyNode, selectors, whenNode } from '../../config/policy-schema.ts';
import {
  address,
  anything,
  choice,
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
import { tasksNode } from '../../tasks/task-settings.ts';
import { executorsNode, extensionsNode, secretNode, toolNode } from './guard-schema.ts';
import { retrievalNode } from './retrieval-schema.ts';
import { schedulesNode } from './schedule-schema.ts';
import { sourceNode } from './source-schema.ts';

const jwt = typed(
  'JwtConfig',
  object(
    'Accepts JWTs of one issuer.',
    {
      issuer: address('The issuer, exactly as in the iss claim.'),
      audience: names('Accepted audiences. The aud claim must contain at least one.'),
      jwks: address('URL of the key set; default: discovered from the issuer.'),
      algorithms: oneOrMany(
        choice(JWT_ALGORITHMS, 'An asymmetric algorithm.'),
        'Accepted signature algorithms; default all.',
      ),
      rolesClaim: text('The claim that holds the roles, or a dotted path to it; default roles.'),
      permissionsClaim: text('The claim that holds the permissions; default permissions, scope and scp.'),
      signIn: object(
        'Signs people in at the issuer, with a browser (authorization code with PKCE).',
        {
          clientId: text('The id of this server as a client of the issuer.'),
          secret: text('The name of the secret of this client; default none (a public client).', { use: 'secretName' }),
          scopes: names('The scopes to request, besides openid; default profile.'),
        },
        ['clientId'],
      ),
      clockToleranceMs: whole("Tolerated difference to the issuer's clock in milliseconds; default 0.", 0, 300_000),
    },
    ['issuer'],
  ),
);

const accessNode = typed(
  'AccessConfig',
  object('Authentication of callers. Without it only this machine has access.', {
    keys: flag('Accepts API keys, which toolcrib keys creates; default false.'),
    jwt,
    roles: mapOf(
      typed(
        'RoleConfig',
        object('Rights of a role.', {
          profiles: names('Profiles that the role may use; globs.'),
          operator: flag('Gives the role all rights of the operator.'),
          maxPriority: whole(
            'The highest priority that its callers may give background calls over REST; default 0. Operators have no limit.',
            0,
            100,
          ),
        }),
      ),
      'Rights by role.',
      NAMES,
    ),
  }),
);

const bundle = typed(
  'BundleConfig',
  object('Tools that are shown, found and set up together.', {
    description: text('The purpose of the tools.'),
    include: selectors('The tools of the bundle.'),
    instructions: text('Prompt text shown while the bundle is active.'),
    requires: names('Bundles to set up before this one.'),
    extends: names('Bundles whose tools, instructions and requirements this one inherits.'),
    when: whenNode,
    priority: { type: 'number', description: 'Bundles with a higher priority come first.' },
    meta: mapOf(anything('The value.'), 'Free data.'),
  }),
);

const rule = typed(
  'RuleConfig',
  object(
    'A condition on the arguments of calls.',
    {
      tools: selectors('The tools that the rule applies to.'),
      when: typed(
        'JsonSchema',
        { type: 'object', description: 'JSON Schema that the arguments must match.' },
        'core/json.ts',
      ),
      otherwise: choice(['approve', 'deny'], 'Treatment of other calls: require approval, or deny.'),
    },
    ['tools', 'when', 'otherwise'],
  ),
);

const profile = typed(
  'ProfileConfig',
  object('A named selection of tools with its rules, limits and settings.', {
    description: text('The purpose of the profile; models that may delegate to it read the first line.'),
    include: selectors('The tools of the profile; default all, [] selects none.'),
    exclude: selectors('Tools to remove from include.'),
    essential: names('Bundles that are always active.'),
    active: names('Bundles that are active at first; default all bundles of the profile, [] only the essential ones.'),
    expose: choice(['all', 'search', 'script'], 'The tools that the model sees; default all.'),
    search: typed(
      'SearchPreferencesConfig',
      object('The order of search hits. It never decides which tools are found.', {
        pin: selectors('Tools that come first among the hits, after exact matches.'),
        boost: selectors('Tools whose score counts 1.25 times in the order.'),
        bury: selectors('Tools whose score counts half in the order.'),
      }),
    ),
    approve: selectors('Tools that require approval, in addition to those whose own policy demands it.'),
    policy: policyNode,
    rules: list(rule, 'Conditions on the arguments of calls.'),
    settings: mapOf(anything('The value.'), 'Settings that tools read as call.settings.'),
    delegate: mapOf(
      choice(['closed', 'ask', 'open'], 'Never, after approval, or always.'),
      'Profiles that this profile may delegate tasks to; default closed.',
      NAMES,
    ),
  }),
);

/** The schema of a configuration. Checks, the emitted JSON Schema and the generated types all use it. */
export const configNode: SchemaNode = typed(
  'WrittenConfig',
  object('The configuration of a Toolcrib.', {
    $schema: text('URL of this schema, for editors.'),
    defaultProfile: text(
      'The profile used if none is named. If absent: the profile "default", else the only profile, else all tools.',
    ),
    sources: mapOf(
      sourceNode,
      'Sources of tools by name. If two sources bring the same tool name, the first source owns it.',
      NAMES,
    ),
    mcpServers: mapOf(
      { type: 'object', description: 'A server in the format of Claude, Cursor or VS Code.' },
      'The servers of an mcp.json, pasted unchanged. Each server becomes a source.',
    ),
    tools: list(toolNode, 'Tools as data, in the format of spec files.'),
    bundles: mapOf(bundle, 'Bundles by name.', NAMES),
    profiles: mapOf(profile, 'Profiles by name.', NAMES),
    secrets: mapOf(secretNode, `Secrets by name, used elsewhere as \${secret:NAME}.`, NAMES),
    services: mapOf(
      text('A module or package whose default export is the service, or a function that creates it.', {
        use: 'module',
      }),
      'Services by name.',
      NAMES,
    ),
    extensions: extensionsNode,
    executors: executorsNode,
    results: offload.options ?? {},
    access: accessNode,
    store: object(
      'The database of the crib.',
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
      object('The HTTP server.', {
        host: text('The address to listen on; default 127.0.0.1.'),
        port: whole('The port; default 2742, 0 for any free port.', 0, 65_535),
        hosts: oneOrMany(text('A host name.'), 'Further host names of the server, for example behind a proxy.'),
        publicUrl: address('The address of the server for browsers, for example behind a proxy that ends TLS.'),
        cors: oneOrMany(
          text('An origin, such as https://app.example.com.', {
            pattern: '^https?://[^/\\s*]+$',
            says: 'an origin such as https://app.example.com, without a path',
          }),
          'Origins whose pages may send requests with a credential; default none.',
        ),
        traceUrl: text('The address of a trace, for links of the console; {traceId} is replaced.', {
          pattern: '^https?://[^\\s]*\\{traceId\\}[^\\s]*$',
          says: 'an address with {traceId}, such as https://jaeger.example.com/trace/{traceId}',
        }),
        graceMs: whole(
          'Time in milliseconds for running calls to finish at shutdown; default 10000. Then they are aborted and answered.',
          0,
        ),
      }),
    ),
    tasks: tasksNode,
    retrieval: retrievalNode,
    schedules: schedulesNode,
    onDuplicate: choice(
      ['skip', 'error'],
      'Treatment of a discovered or remote tool whose name is taken: skip the tool, or reject the source that brings it.',
    ),
  }),
);

/** True if a section may be empty, for example with all lines commented out. `access` may not: without it, callers need no credential. */
export function mayBeEmpty(section: string): boolean {
  const type = configNode.properties?.[section]?.type;
  return section !== 'access' && (type === 'object' || type === 'array');
}
