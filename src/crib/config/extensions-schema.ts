import type { ExtensionRecord } from '../../config/extension-record.ts';
import {
  anything,
  choice,
  either,
  flag,
  mapOf,
  NAMES,
  object,
  type SchemaNode,
  text,
  typed,
} from '../../config/schema-node.ts';
import { PRIORITY_NAMES } from '../../core/extension.ts';
import { EXTENSION_ENTRIES } from '../../extensions/index.ts';

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
