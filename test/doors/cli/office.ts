/** A module of tools, as an author without this package would write it. */
const TOOLS = `
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required, additionalProperties: false });
const number = { type: 'number' };

export const add = {
  name: 'add', title: 'Add', description: 'Add two numbers', category: 'math', tags: ['math', 'read'], version: '1.2.0',
  input: object({ a: number, b: number }), output: { type: 'number' }, effects: { readOnly: true },
  instructions: 'Add before you multiply.', requires: ['echo'], meta: { quick: true },
  examples: [{ request: 'one and two', input: { a: 1, b: 2 } }],
  execute: ({ a, b }) => a + b,
};
export const echo = {
  name: 'echo', description: 'Say what came in', tags: ['read'],
  input: object({ text: { type: 'string' }, count: { type: 'integer' }, loud: { type: 'boolean' }, names: { type: 'array', items: { type: 'string' } }, options: { type: 'object' } }, []),
  effects: { readOnly: true },
  execute: (input) => input,
};
export const wipe = {
  name: 'wipe', description: 'Remove everything', input: object({ what: { type: 'string' } }), effects: { destructive: true },
  execute: ({ what }) => 'wiped ' + what,
};
export const wait = {
  name: 'wait', description: 'Wait until it is cancelled', input: object({}),
  execute: (input, call) => new Promise((resolve) => {
    const stay = setInterval(() => {}, 1000);
    call.signal.addEventListener('abort', () => { clearInterval(stay); resolve('left'); });
    call.report('waiting');
  }),
};
export const fail = { name: 'fail', description: 'Always fail', input: object({}), execute: () => { throw new Error('it broke'); } };
`;

const CONFIG = `
defaultProfile: reader
sources:
  office: { modules: ./tools }
bundles:
  reading: { description: Look and do not touch, include: ["tag:read"] }
profiles:
  reader: { include: ["tag:read"], essential: [reading] }
  writer: {}
store: { url: "sqlite:.toolcrib/crib.db" }
`;

/** Files of a small crib: five tools, a bundle, two profiles. */
export const OFFICE = { 'toolcrib.yaml': CONFIG, 'tools/office.mjs': TOOLS };
