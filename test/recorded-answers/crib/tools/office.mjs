const object = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const number = { type: 'number' };

export const add = {
  name: 'add',
  title: 'Add',
  description: 'Add two numbers',
  category: 'math',
  tags: ['math', 'read'],
  version: '1.2.0',
  input: object({ a: number, b: number }),
  output: { type: 'number' },
  effects: { readOnly: true },
  instructions: 'Add before you multiply.',
  requires: ['echo'],
  meta: { quick: true },
  examples: [{ request: 'one and two', input: { a: 1, b: 2 } }],
  execute: ({ a, b }) => a + b,
};

export const echo = {
  name: 'echo',
  description: 'Say what came in',
  tags: ['read'],
  input: object(
    {
      text: { type: 'string', maxLength: 20, description: 'What is said.' },
      count: { type: 'integer', minimum: 1 },
      loud: { type: 'boolean', default: false },
      mood: { enum: ['calm', 'glad'] },
      names: { type: 'array', items: { type: 'string' } },
      options: { type: 'object', additionalProperties: { type: 'number' } },
    },
    ['text'],
  ),
  effects: { readOnly: true },
  policy: { cacheMs: 60_000 },
  execute: (input) => input,
};

export const wipe = {
  name: 'wipe',
  description: 'Remove everything',
  input: object({ what: { type: 'string' } }),
  effects: { destructive: true },
  execute: ({ what }) => `wiped ${what}`,
};

export const fail = {
  name: 'fail',
  description: 'Always fail',
  execute: () => {
    throw new Error('it broke');
  },
};

export const slow = {
  name: 'slow',
  description: 'Take longer than allowed',
  policy: { maxTimeoutMs: 50 },
  execute: (_, call) => new Promise((resolve) => call.signal.addEventListener('abort', () => resolve('late'))),
};

export const wrong_answer = {
  name: 'wrong_answer',
  description: 'Promise a number and answer with text',
  output: { type: 'number' },
  execute: () => 'not a number',
};

export const long_text = {
  name: 'long_text',
  description: 'Say much',
  tags: ['read'],
  policy: { price: 1 },
  execute: () => 'x'.repeat(5000),
};

export const staff_only = {
  name: 'staff_only',
  description: 'Only for people with the role staff',
  policy: { access: { roles: ['staff'] } },
  execute: () => 'welcome',
};

export const hidden_tool = { name: 'hidden_tool', description: 'Not in the usual profile', execute: () => 'hidden' };

export const dear = {
  name: 'dear',
  description: 'Cost more than the budget',
  policy: { price: 5 },
  execute: () => 'paid',
};
