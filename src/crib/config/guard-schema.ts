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

const options = mapOf(anything('The value.'), 'Handed to it.');

const builtInExecutors = KINDS.flatMap(({ kind, options: node }) =>
  node === undefined ? [] : [[kind, node] as const],
);

/** Built-in executors, and your own by module. */
export const executorsNode: SchemaNode = {
  type: 'object',
  description: 'How kinds of tools are run: the built-in executors, and your own.',
  properties: Object.fromEntries(builtInExecutors),
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
export const secretNode = typed(
  'SecretDeclaration',
  either(
    'A secret; it is looked for when it is used.',
    object<DeclaredBy<'env'>>('In an environment variable.', { env: VARIABLE_NAME, hosts }, ['env']),
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
  ),
  'system/secrets/secrets.ts',
);

const OFF: SchemaNode = { type: 'boolean', enum: [false], description: 'Off.' };

const custom = typed(
  'CustomExtensionConfig',
  object(
    'An extension of your own.',
    {
      module: text('A module or package that exports it.', { use: 'module' }),
      priority: either(
        'Higher runs further out; 700 to 300 are yours.',
        { type: 'number' },
        choice(PRIORITY_NAMES, 'A name for a number.'),
      ),
      unsafeOrder: flag('Lets it stand among the built-in guards.'),
      options: mapOf(anything('The value.'), 'Handed to it.'),
    },
    ['module'],
  ),
);

/** Built-in extensions, and your own by module. */
export const extensionsNode: SchemaNode = {
  type: 'object',
  description: 'What takes part in every call: the built-in extensions, and your own.',
  properties: Object.fromEntries([...EXTENSION_ENTRIES].map(([name, records]) => [name, entryNode(name, records)])),
  additionalProperties: custom,
  ...NAMES,
  typeName: 'ExtensionsConfig',
};

/** The options of all extensions that an entry is about. */
function entryNode(name: string, records: readonly ExtensionRecord[]): SchemaNode {
  const description = records[0]?.options?.description ?? '';
  const properties = Object.assign({}, ...records.map(({ options }) => options?.properties));
  const typeName = `${name.charAt(0).toUpperCase()}${name.slice(1)}Config`;
  const node = typed(typeName, object(description, properties));
  return records[0]?.isAlwaysOn === true ? node : either(description, node, OFF);
}

const toolName = text('A name that every vendor accepts.', {
  pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,47}$',
  says: 'letters, digits, "_" and "-", not starting with a digit or "-", at most 48',
});
const schema = (description: string): SchemaNode => ({ type: 'object', description });

/** The values are read by whoever reads spec files. */
const spec = object(
  'A tool as data.',
  {
    name: toolName,
    title: text('A title for people.'),
    description: text('What it does, for the model.', { minLength: 0 }),
    input: schema('JSON Schema of its arguments.'),
    output: schema('JSON Schema of its data.'),
    run: {
      type: 'object',
      description: 'How it runs; never shown to anybody.',
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
    requires: names('Tools without which this one is of little use.'),
    priority: { type: 'number', description: "Higher comes first among its bundle's tools." },
    examples: list(
      object('An example.', {
        request: text('A request in words.'),
        input: schema('The arguments that answer it.'),
      }),
      'Requests and the arguments that answer them.',
    ),
    when: whenNode,
    meta: mapOf(anything('The value.'), 'Anything else.'),
    needs: names(
      'Services (clock) and settings (setting:calendar) it cannot run without; with a question mark (clock?) it can.',
    ),
  },
  ['name', 'run'],
);

/** A spec in an older form, which is converted by whoever reads spec files. */
const olderSpec: SchemaNode = {
  type: 'object',
  description: 'A tool of an older tools.yaml, taken as it is.',
  properties: { name: toolName },
  required: ['name', 'tool_type'],
  additionalProperties: {},
};

/** One entry of `tools`: texts are left as they are written, as in a spec file. */
export const toolNode: SchemaNode = { ...either('A tool.', spec, olderSpec), use: 'spec' };
