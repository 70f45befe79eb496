// Tools in code: an object with name, description, input and execute is one. No import is needed.
const readOnly = { readOnly: true, openWorld: false };

export const current_time = {
  name: 'current_time',
  description: 'The current date and time in a time zone',
  input: {
    type: 'object',
    properties: { timeZone: { type: 'string', description: 'An IANA name such as "Europe/Berlin"; UTC if absent.' } },
    additionalProperties: false,
  },
  effects: readOnly,
  execute: ({ timeZone = 'UTC' }) =>
    new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', timeZone }).format(new Date()),
};

export const roll_dice = {
  name: 'roll_dice',
  description: 'Roll dice and add them up',
  input: {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 1, maximum: 100, default: 1 },
      sides: { type: 'integer', minimum: 2, maximum: 1000, default: 6 },
    },
    additionalProperties: false,
  },
  effects: readOnly,
  execute: ({ count, sides }) => {
    const rolls = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides));
    return { rolls, total: rolls.reduce((sum, roll) => sum + roll, 0) };
  },
};

export const count_words = {
  name: 'count_words',
  description: 'Count the words, lines and characters of a text',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  effects: readOnly,
  execute: ({ text }) => ({
    words: text.split(/\s+/).filter((word) => word !== '').length,
    lines: text.split('\n').length,
    characters: [...text].length,
  }),
};
