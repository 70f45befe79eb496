import { names } from '../../config/policy-schema.ts';
import {
  anything,
  choice,
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
  whole,
} from '../../config/schema-node.ts';
import type { BuiltInExecutorsConfig, CustomExecutorConfig } from '../../config/types/guards.ts';
import { SANDBOX_MODES } from '../../kinds/shell/shell-run.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';

const options = mapOf(anything('The value.'), 'Handed to it.');

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
