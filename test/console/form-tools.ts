/** Schemas that forms get wrong, each as a tool that answers with the arguments it got. */
const SCHEMAS: Readonly<Record<string, object>> = {
  nested: {
    type: 'object',
    properties: {
      title: { type: 'string', default: 'Untitled', description: 'What it is called.' },
      size: { type: 'integer', minimum: 1, default: 10 },
      'a.b/c': { type: 'string' },
      deep: {
        type: 'object',
        properties: { inner: { type: 'object', properties: { on: { type: 'boolean' } } } },
      },
      tags: { type: 'array', items: { type: 'string' } },
      at: { type: 'string', format: 'date-time' },
      day: { type: 'string', format: 'date' },
    },
    required: ['title'],
  },
  nothing: { type: 'object', properties: {}, additionalProperties: false },
  nullable: {
    type: 'object',
    properties: {
      note: { type: ['string', 'null'] },
      owner: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
  },
  countries: {
    type: 'object',
    properties: { code: { enum: Array.from({ length: 1000 }, (_, place) => `code-${place}`) } },
  },
  notice: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    oneOf: [
      {
        properties: { kind: { const: 'email' }, address: { type: 'string', format: 'email' } },
        required: ['kind', 'address'],
      },
      { properties: { kind: { const: 'sms' }, number: { type: 'string' } }, required: ['kind', 'number'] },
    ],
  },
  tree: {
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    $defs: {
      node: {
        type: 'object',
        properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      },
    },
  },
  counted: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
};

/** The tools of the form tests, by the names of their schemas. */
export const FORM_TOOLS = Object.entries(SCHEMAS).map(([name, input]) => ({
  name,
  description: `Answers with its arguments (${name})`,
  input,
  effects: { readOnly: true },
  execute: (given: unknown) => ({ given }),
}));
