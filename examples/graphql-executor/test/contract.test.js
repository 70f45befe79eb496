// @ts-check
import { deepEqual, equal } from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { executorContract } from 'toolcrib/testing';
import { graphql } from '../index.js';
import { startBookServer } from './book-server.js';

const server = await startBookServer();
after(() => server.close());

const spec = { input: { type: 'object', properties: { id: { type: 'string' }, word: { type: 'string' } } } };
const BOOK = 'query Book($id: ID!) { book(id: $id) { id title } }';

/** @param {string} query */
const runOf = (query, more = {}) => ({ kind: 'graphql', query, ...more });

/**
 * @param {string} id
 * @param {string} title
 */
const finds = (id, title) => ({
  run: runOf(BOOK),
  spec,
  input: { id },
  expect: (/** @type {{ data?: unknown }} */ { data }) => deepEqual(data, { book: { id, title } }),
});

/** @param {string} code */
const failsWith = (code) => (/** @type {import('toolcrib').ToolResult} */ result) =>
  equal(result.status === 'failed' && result.error.code, code);

describe('the graphql executor', () => {
  const laws = executorContract({
    create: () =>
      graphql(
        { endpoint: server.endpoint, secret: 'books', maxBytes: 200_000 },
        { fillSecrets: async (text) => text.replace(/\$\{secret:books\}/, 'hunter2-hunter2') },
      ),
    works: [
      finds('1', 'Middlemarch'),
      finds('2', 'Molloy'),
      { ...finds('2', 'Molloy'), run: runOf(BOOK, { variables: { id: 'word' } }), input: { word: '2' } },
    ],
    fails: [
      { run: runOf(BOOK), spec, input: { id: '3' }, expect: failsWith('tool_error') },
      { run: runOf('query Shelf { shelf { title } }'), expect: failsWith('tool_error') },
      { run: runOf('query Page { page }'), expect: failsWith('upstream') },
      { run: runOf('query Lose { lose }'), expect: failsWith('unknown_outcome') },
    ],
    hangs: { run: runOf('query Hang { hang }'), begun: server.arrived, isGone: server.isQuiet },
    floods: { run: runOf('query Flood { flood }') },
    badRuns: [
      { what: 'no query', run: { kind: 'graphql' } },
      { what: 'a query that is no text', run: { kind: 'graphql', query: ['{ books }'] } },
      { what: 'a word that nobody knows', run: runOf('{ books }', { url: 'http://127.0.0.1' }) },
      { what: 'no operation', run: runOf('fragment F on Book { title }') },
      { what: 'a subscription', run: runOf('subscription News { news }') },
      { what: 'several operations and none chosen', run: runOf('query A { a } query B { b }') },
      { what: 'an operation that is not there', run: runOf('query A { a }', { operationName: 'B' }) },
      { what: 'a variable that no argument fills', run: runOf('query A($nobody: ID) { a(b: $nobody) }'), spec },
      { what: 'an argument that is not there', run: runOf(BOOK, { variables: { id: 'nobody' } }), spec },
      { what: 'a variable that is left out', run: runOf(BOOK, { variables: {} }), spec },
      { what: 'a variable that is not declared', run: runOf('{ books }', { variables: { id: 'id' } }), spec },
      { what: 'a variable inside a text only', run: runOf('{ a(b: "$id: x") }', { variables: { id: 'id' } }), spec },
    ],
    unspeakable: ['hunter2-hunter2', server.endpoint],
  });
  for (const { name, run } of laws) it(name, run);
});
