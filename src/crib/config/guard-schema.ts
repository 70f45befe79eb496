import { names, ratesNode, selectors, slotsNode } from '../../config/policy-schema.ts';
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
  whole,
} from '../../config/schema-node.ts';
import { APPROVAL_MODES } from '../../core/policy.ts';
import { DEFAULT_KEEP_BOUNDS, type KeepBounds } from '../../core/ports/keep-bounds.ts';
import { SANDBOX_MODES } from '../../kinds/shell/shell-run.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';
import type {
  BuiltInExecutorsConfig,
  BuiltInExtensionsConfig,
  CustomExecutorConfig,
  CustomExtensionConfig,
  WebhookConfig,
} from './config.ts';

type OptionsOf<Name extends keyof BuiltInExtensionsConfig> = Exclude<NonNullable<BuiltInExtensionsConfig[Name]>, false>;
const options = mapOf(anything('The value.'), 'Handed to it.');

function builtIn<Name extends keyof BuiltInExtensionsConfig>(
  description: string,
  properties: Readonly<Record<keyof OptionsOf<Name> & string, SchemaNode>>,
): SchemaNode {
  const off: SchemaNode = { type: 'boolean', enum: [false], description: 'Off.' };
  return either(description, object<OptionsOf<Name>>(description, properties), off);
}

const webhook = object<WebhookConfig>(
  'Tells somebody that an approval waits.',
  {
    url: address('Where to.'),
    secret: text('The name of the secret that signs the message.', { use: 'secretName' }),
  },
  ['url', 'secret'],
);

const variable = text('The variable.', {
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  says: 'the name of an environment variable',
});

const auditKey = either(
  "The Ed25519 key that signs the record; made and kept in the user's state directory if absent. Replicas may share it.",
  object<{ readonly env: string }>('In an environment variable.', { env: variable }, ['env']),
  object<{ readonly file: string }>('In a file.', { file: text('The file.', { use: 'path', holds: 'secrets' }) }, [
    'file',
  ]),
);

function keepBounds(things: string): Readonly<Record<keyof KeepBounds, SchemaNode>> {
  const { maxPerCaller, maxBytesPerCaller, maxTotal, maxTotalBytes } = DEFAULT_KEEP_BOUNDS;
  return {
    maxPerCaller: whole(
      `How many ${things} one caller may have; default ${maxPerCaller}. Beyond it calls answer rate_limited.`,
    ),
    maxBytesPerCaller: whole(`How many bytes the ${things} of one caller may take; default ${maxBytesPerCaller}.`),
    maxTotal: whole(`How many ${things} there may be in all; default ${maxTotal}.`),
    maxTotalBytes: whole(`How many bytes all ${things} may take together; default ${maxTotalBytes}.`),
  };
}

const builtInExtensions: Readonly<Record<keyof BuiltInExtensionsConfig & string, SchemaNode>> = {
  approval: builtIn<'approval'>('Asks a person before a tool runs.', {
    mode: choice(
      APPROVAL_MODES,
      'Where no policy speaks: dangerous = known to be destructive; cautious = not known to be read-only.',
    ),
    timeoutMs: whole('How long it waits for an answer.'),
    webhook,
    ...keepBounds('requests for approval that wait'),
  }),
  idempotency: object<NonNullable<BuiltInExtensionsConfig['idempotency']>>(
    'Makes two calls with one idempotency key one call. Keys and results are kept for a day.',
    keepBounds('idempotency keys and results'),
  ),
  rateLimit: builtIn<'rateLimit'>('Bounds how often calls are made.', { rates: ratesNode }),
  concurrency: builtIn<'concurrency'>('Bounds how many calls run at the same time.', {
    slots: slotsNode,
    maxWaiting: whole('How many calls may wait for a slot.', 0),
  }),
  breaker: builtIn<'breaker'>('Leaves a source alone for a while that keeps failing.', {
    failures: whole('After how many failures in a row.'),
    openMs: whole(
      'How long at first; twice as long after every probe that fails, up to 2 s, or this value where it is longer.',
    ),
  }),
  timeout: builtIn<'timeout'>('Ends a call when its time is up.', {
    timeoutMs: whole('Where neither call, tool nor profile speaks.'),
  }),
  retry: builtIn<'retry'>('Tries again what failed for a passing reason.', {
    retries: whole('Where neither call, tool nor profile speaks.', 0),
    firstDelayMs: whole('The longest first pause.', 0),
  }),
  logging: builtIn<'logging'>('Writes a line for every call.', {
    level: choice(['debug', 'info', 'warn', 'error', 'silent'], 'From which level on.'),
    redact: names('Keys whose values are hidden; globs.'),
  }),
  metrics: builtIn<'metrics'>('Counts calls.', {
    prometheus: flag('At /metrics.'),
    otel: either('OpenTelemetry.', flag('On or off.'), choice(['auto'], 'Where its SDK is there.')),
  }),
  audit: builtIn<'audit'>('Keeps a record that shows whether it was changed.', {
    retentionDays: whole('How long rows are kept.'),
    requireFor: selectors('Tools that only run once the intent is on record.'),
    key: auditKey,
    trustedKeys: list(
      text('A public key.'),
      'Public keys of other machines whose rows count as genuine, as "toolcrib audit key" prints them.',
    ),
  }),
};

/** Built-in extensions, and your own by module. */
export const extensionsNode: SchemaNode = {
  type: 'object',
  description: 'What takes part in every call: the built-in extensions, and your own.',
  properties: builtInExtensions,
  additionalProperties: object<CustomExtensionConfig>(
    'An extension of your own.',
    {
      module: text('A module or package that exports it.', { use: 'module' }),
      priority: either(
        'Higher runs further out; 700 to 300 are yours.',
        { type: 'number' },
        choice(['highest', 'high', 'normal', 'low', 'lowest'], 'A name for a number.'),
      ),
      unsafeOrder: flag('Lets it stand among the built-in guards.'),
      options,
    },
    ['module'],
  ),
  ...NAMES,
};

const builtInExecutors: Readonly<Record<keyof BuiltInExecutorsConfig & string, SchemaNode>> = {
  shell: object<NonNullable<BuiltInExecutorsConfig['shell']>>('Commands.', {
    sandbox: choice(
      SANDBOX_MODES,
      'Whether commands run in a sandbox. Default: where there is one; a command that declares a sandbox, or comes from a remote list, never without one unless preferred is written here or at its source.',
    ),
    roots: oneOrMany(
      text('A folder.', { use: 'path', decides: 'nothing' }),
      "Folders that commands may read and write, and paths may lie in; default this file's folder, which they may only read.",
    ),
  }),
  http: object<NonNullable<BuiltInExecutorsConfig['http']>>('HTTP requests.', {
    allowPrivate: names('Private hosts that may be reached.'),
  }),
  python: object<NonNullable<BuiltInExecutorsConfig['python']>>('Python functions.', {
    interpreter: text('A program, or the folder of a virtual environment; default python3.', { use: 'command' }),
    workers: whole('How many functions that block may run at the same time in one folder; default 4.'),
    env: mapOf(
      text(`A value; may hold \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
      'Added to the few variables that a child gets.',
    ),
  }),
};

/** Built-in executors, and your own by module. */
export const executorsNode: SchemaNode = {
  type: 'object',
  description: 'How kinds of tools are run: the built-in executors, and your own.',
  properties: builtInExecutors,
  additionalProperties: object<CustomExecutorConfig>(
    'An executor of your own.',
    { module: text('A module or package that exports it.', { use: 'module' }), options },
    ['module'],
  ),
  ...NAMES,
};

type DeclaredBy<Key extends string> = Extract<SecretDeclaration, Readonly<Record<Key, unknown>>>;
const hosts = oneOrMany(
  text('example.com, example.com:8443 or *.example.com.', { use: 'hostBinding' }),
  'The hosts that may get it; without any it only goes into the environment of a child.',
);

/** A secret: where it is looked for when it is used. */
export const secretNode = either(
  'A secret; it is looked for when it is used.',
  object<DeclaredBy<'env'>>('In an environment variable.', { env: variable, hosts }, ['env']),
  object<DeclaredBy<'file'>>('In a file.', { file: text('The file.', { use: 'path', holds: 'secrets' }), hosts }, [
    'file',
  ]),
  object<DeclaredBy<'command'>>(
    'What a command prints.',
    {
      command: {
        ...list(text('An argument.', { minLength: 0 }), 'The program and its arguments; no shell.', 1),
        use: 'commandLine',
      },
      hosts,
    },
    ['command'],
  ),
);
