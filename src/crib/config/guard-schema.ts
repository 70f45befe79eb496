import {
  anything,
  either,
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
