import { effectsNode, names, policyNode, whenNode } from '../../config/policy-schema.ts';
import type { ExtensionRecord } from '../../config/records.ts';
import {
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
  VARIABLE_NAME,
} from '../../config/schema-node.ts';
import type { CustomExecutorConfig } from '../../config/types/guards.ts';
import { PRIORITY_NAMES } from '../../core/extension.ts';
import { EXTENSION_ENTRIES } from '../../extensions/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';

const options = mapOf(anything('The value.'), 'Options for the executor.');

const builtInExecutors = KINDS.flatMap(({ kind, options: node }) =>
  node === undefined ? [] : [[kind, node] as const],
);

/** Built-in executors, and custom ones by module. */
export const executorsNode: SchemaNode = {
  type: 'object',
  description: 'Options of the built-in executors, and custom executors.',
  properties: Object.fromEntries(builtInExecutors),
  additionalProperties: object<CustomExecutorConfig>(
    'A custom executor.',
    { module: text('A module or package that exports the executor.', { use: 'module' }), options },
    ['module'],
  ),
  ...NAMES,
};

type DeclaredBy<Key extends string> = Extract<SecretDeclaration, Readonly<Record<Key, unknown>>>;
const hosts = oneOrMany(
  text('example.com, example.com:8443 or *.example.com.', { use: 'hostBinding' }),
  'Hosts that the secret may be sent to. Without hosts it can only be used in the environment of a child process.',
);

/** Declares where a secret is read from. */
export const secretNode = typed(
  'SecretDeclaration',
  either(
    'A secret. It is read when it is used.',
    object<DeclaredBy<'env'>>('A secret in an environment variable.', { env: VARIABLE_NAME, hosts }, ['env']),
    object<DeclaredBy<'file'>>(
      'A secret in a file.',
      { file: text('The file.', { use: 'path', holds: 'secrets' }), hosts },
      ['file'],
    ),
    object<DeclaredBy<'command'>>(
      'A secret that a command prints.',
      {
        command: {
          ...list(text('An argument.', { minLength: 0 }), 'The program and its arguments; no shell is used.', 1),
          use: 'commandLine',
        },
        hosts,
      },
      ['command'],
    ),
  ),
  'system/secrets/secrets.ts',
);

const OFF: SchemaNode = { type: 'boolean', enum: [false], description: 'Off.' };

const custom = typed(
  'CustomExtensionConfig',
  object(
    'A custom extension.',
    {
      module: text('A module or package that exports the extension.', { use: 'module' }),
      priority: either(
        'Extensions with a higher priority run further out; use 700 to 300.',
        { type: 'number' },
        choice(PRIORITY_NAMES, 'A name for a number.'),
      ),
      unsafeOrder: flag('Allows a priority among the built-in guards.'),
      options: mapOf(anything('The value.'), 'Options for the extension.'),
    },
    ['module'],
  ),
);

/** Built-in extensions, and custom ones by module. */
export const extensionsNode: SchemaNode = {
  type: 'object',
  description: 'Options of the built-in extensions, and custom extensions.',
  properties: Object.fromEntries([...EXTENSION_ENTRIES].map(([name, records]) => [name, entryNode(name, records)])),
  additionalProperties: custom,
  ...NAMES,
  typeName: 'ExtensionsConfig',
};

/** The options of all extensions that share an entry. */
function entryNode(name: string, records: readonly ExtensionRecord[]): SchemaNode {
  const description = records[0]?.options?.description ?? '';
  const properties = Object.assign({}, ...records.map(({ options }) => options?.properties));
  const typeName = `${name.charAt(0).toUpperCase()}${name.slice(1)}Config`;
  const node = typed(typeName, object(description, properties));
  return records[0]?.isAlwaysOn === true ? node : either(description, node, OFF);
}

const toolName = text('A name that all model vendors accept.', {
  pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,47}$',
  says: 'letters, digits, "_" and "-", not starting with a digit or "-", at most 48 characters',
});
const schema = (description: string): SchemaNode => ({ type: 'object', description });

/** The values are checked when the spec is read, as in a spec file. */
const spec = object(
  'A tool as data.',
  {
    name: toolName,
    title: text('A title for people.'),
    description: text('What the tool does, for the model.', { minLength: 0 }),
    input: schema('JSON Schema of the arguments.'),
    output: schema('JSON Schema of the result data.'),
    run: {
      type: 'object',
      description: 'How the tool runs; never shown to callers.',
      properties: { kind: text('function, python, shell, http, mcp, script, agent, or a registered kind.') },
      required: ['kind'],
      additionalProperties: {},
    },
    effects: effectsNode,
    policy: policyNode,
    category: text('A category.'),
    tags: names('Tags.'),
    version: text('A version.'),
    instructions: text('Prompt text shown while the tool is active.'),
    requires: names('Other tools that this tool needs to be useful.'),
    priority: { type: 'number', description: 'Tools with a higher priority come first in their bundle.' },
    examples: list(
      object('An example.', {
        request: text('A request in plain language.'),
        input: schema('The arguments for the request.'),
      }),
      'Example requests with their arguments.',
    ),
    when: whenNode,
    meta: mapOf(anything('The value.'), 'Free data.'),
    needs: names(
      'Required services (clock) and settings (setting:calendar); a question mark (clock?) makes one optional.',
    ),
  },
  ['name', 'run'],
);

/** A spec in an older form, converted when the spec is read. */
const olderSpec: SchemaNode = {
  type: 'object',
  description: 'A tool in the older format of tools.yaml.',
  properties: { name: toolName },
  required: ['name', 'tool_type'],
  additionalProperties: {},
};

/** One entry of `tools`. Variables in it are expanded when the spec is read, as in a spec file. */
export const toolNode: SchemaNode = { ...either('A tool.', spec, olderSpec), use: 'spec' };
