// @ts-check
import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createCrib } from 'toolcrib';
import { testCall } from 'toolcrib/testing';
import { graphql } from '../index.js';
import { startBookServer } from './book-server.js';

const server = await startBookServer();
after(() => server.close());

const input = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
const BOOK = 'query Book($id: ID!) { book(id: $id) { id title } }';

/**
 * @param {string} query
 * @param {Partial<import('toolcrib').ToolSpec>} [spec]
 */
function ask(query, spec = {}) {
  const run = { kind: 'graphql', query };
  return graphql({ endpoint: server.endpoint }).execute(testCall({ run, spec }), run);
}

describe('a tool that is a GraphQL query', () => {
  it('runs in a crib of code', async () => {
    const crib = await createCrib({
      executors: [graphql({ endpoint: server.endpoint })],
      tools: [{ name: 'book', description: 'Finds a book', input, run: { kind: 'graphql', query: BOOK } }],
    });
    const chest = await crib.open();
    const result = await chest.call('book', { id: '1' });
    ok(result.ok);
    deepEqual(result.data, { book: { id: '1', title: 'Middlemarch' } });
    const refused = await chest.call('book', { id: 1 });
    equal(refused.status === 'failed' && refused.error.code, 'invalid_input');
    await crib.close();
  });

  it('arguments are variables and never part of the query; the trace goes on', async () => {
    const id = '1") { id } } mutation { removeAll }';
    const run = { kind: 'graphql', query: BOOK, operationName: 'Book' };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await graphql({ endpoint: server.endpoint }).execute(testCall({ run, input: { id }, call: { traceparent } }), run);
    const { asked, headers } = server.requests.at(-1) ?? {};
    deepEqual(asked, { query: BOOK, operationName: 'Book', variables: { id } });
    equal(headers?.traceparent, traceparent);
    equal(headers?.authorization, undefined);
  });

  it('partial data is a failure that brings what came along', async () => {
    const result = await ask('{ shelf { title } }');
    ok(result.status === 'failed');
    equal(result.error.code, 'tool_error');
    equal(result.error.message, 'One book is lent.');
    deepEqual(result.data, { shelf: [{ title: 'Molloy' }, null] });
    const [part] = result.content ?? [];
    ok(part?.type === 'text');
    match(part.text, /lent.*Molloy/s);
  });

  for (const [field, code, isRetryable, words] of /** @type {const} */ ([
    ['nothing', 'tool_error', false, /Cannot query/],
    ['busy', 'rate_limited', true, /429/],
    ['closed', 'upstream', false, /credential/],
    ['down', 'upstream', false, /503/],
    ['moved', 'upstream', false, /not GraphQL/],
    ['page', 'upstream', false, /not GraphQL/],
    ['odd', 'upstream', false, /not GraphQL/],
    ['mute', 'tool_error', false, /not which/],
    ['lose', 'unknown_outcome', false, /check before/],
  ])) {
    it(`an answer to "${field}" is ${code}`, async () => {
      const result = await ask(`{ ${field} }`);
      ok(result.status === 'failed');
      deepEqual([result.error.code, result.error.retryable], [code, isRetryable]);
      match(result.error.message, words);
    });
  }

  it('a server that asks to wait is heard', async () => {
    const result = await ask('{ busy }');
    equal(result.status === 'failed' && result.error.retryAfterMs, 7000);
  });

  it('what may be repeated is worth another try when its server is lost or down', async () => {
    for (const field of ['lose', 'down']) {
      const result = await ask(`{ ${field} }`, { effects: { readOnly: true } });
      ok(result.status === 'failed');
      deepEqual([result.error.code, result.error.retryable], ['upstream', true]);
    }
  });

  it('a server that is not there has not seen the query', async () => {
    const gone = await startBookServer();
    await gone.close();
    const run = { kind: 'graphql', query: '{ books }' };
    const result = await graphql({ endpoint: gone.endpoint }).execute(testCall({ run }), run);
    ok(result.status === 'failed');
    deepEqual([result.error.code, result.error.retryable], ['unavailable', true]);
  });

  it('many long errors make a short message', async () => {
    const result = await ask('{ many }');
    ok(result.status === 'failed');
    ok(result.error.message.length < 3000);
    match(result.error.message, /And 4 more errors\.$/);
  });

  it('a secret that may not be sent there stops the call before anything is sent', async () => {
    const refuse = async () => {
      throw new Error('It is bound to other hosts.');
    };
    const run = { kind: 'graphql', query: '{ books }' };
    const before = server.requests.length;
    const executor = graphql({ endpoint: server.endpoint, secret: 'books' }, { fillSecrets: refuse });
    const result = await executor.execute(testCall({ run }), run);
    equal(result.status === 'failed' && result.error.code, 'unavailable');
    equal(server.requests.length, before);
  });

  for (const [what, options, words] of /** @type {const} */ ([
    ['no endpoint', {}, /endpoint must be/],
    ['an endpoint that is no address', { endpoint: 'books.example.com' }, /endpoint must be/],
    ['a file', { endpoint: 'file:///etc/passwd' }, /endpoint must be/],
    ['a user in the address', { endpoint: 'http://me:pass@127.0.0.1/' }, /without a user/],
    ['no room for an answer', { endpoint: 'http://127.0.0.1/', maxBytes: 0 }, /maxBytes/],
    ['a secret that is no name', { endpoint: 'http://127.0.0.1/', secret: '}' }, /name of a secret/],
    ['a secret in code', { endpoint: 'http://127.0.0.1/', secret: 'books' }, /configuration/],
    ['a word that nobody knows', { endpoint: 'http://127.0.0.1/', endpiont: 1 }, /"endpiont"/],
  ])) {
    it(`is not set up with ${what}`, () => {
      throws(() => graphql(/** @type {any} */ (options)), words); // as a careless configuration would say it
    });
  }
});
