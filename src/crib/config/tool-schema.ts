import { effectsNode, names, policyNode, whenNode } from '../../config/policy-schema.ts';
import { anything, either, list, mapOf, object, type SchemaNode, text } from '../../config/schema-node.ts';

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
    needs: names('Services (clock) and settings (setting:calendar) it cannot run without.'),
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
