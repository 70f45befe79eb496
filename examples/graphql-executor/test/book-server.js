// @ts-check
import { createServer } from 'node:http';

/** @type {Readonly<Record<string, string>>} */
const TITLES = { 1: 'Middlemarch', 2: 'Molloy' };

/**
 * @typedef {object} Asked
 * @property {string} query
 * @property {string} [operationName]
 * @property {Readonly<Record<string, string>>} variables
 */

/**
 * A server that answers a few queries about books, and some in ways that no server should.
 * @param {number} [port]
 */
export async function startBookServer(port = 0) {
  let open = 0;
  let arrived = Promise.withResolvers();
  let gone = Promise.withResolvers();
  /** @type {{ headers: import('node:http').IncomingHttpHeaders, asked: Asked }[]} */
  const requests = [];

  const server = createServer(async (request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = JSON.parse(Buffer.concat(chunks).toString());
    requests.push({ headers: request.headers, asked });
    if (/hang/.test(asked.query)) return hang(response);
    answer(asked, response);
  });

  /** @param {import('node:http').ServerResponse} response */
  function hang(response) {
    open += 1;
    gone = Promise.withResolvers();
    response.on('close', () => {
      open -= 1;
      if (open === 0) gone.resolve(undefined);
    });
    arrived.resolve(undefined);
    arrived = Promise.withResolvers();
  }

  await new Promise((listening) => server.listen(port, '127.0.0.1', () => listening(undefined)));
  const { port: bound } = /** @type {import('node:net').AddressInfo} */ (server.address()); // it listens on a port
  return {
    endpoint: `http://127.0.0.1:${bound}/graphql`,
    requests,
    /** Resolves when the next query that is never answered has come. */
    arrived: () => arrived.promise,
    /** Resolves when no query is left that is not answered. */
    async isQuiet() {
      await gone.promise;
      return open === 0;
    },
    close() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}

/**
 * @param {Asked} asked
 * @param {import('node:http').ServerResponse} response
 */
function answer({ query, variables }, response) {
  const send = (/** @type {unknown} */ value, status = 200, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  const [field = ''] = /(?<=\{\s*)\w+/.exec(query) ?? [];
  switch (field) {
    case 'book':
      return TITLES[variables.id ?? ''] === undefined
        ? send({ data: null, errors: [{ message: 'There is no such book.' }] })
        : send({ data: { book: { id: variables.id, title: TITLES[variables.id ?? ''] } } });
    case 'shelf':
      return send({ data: { shelf: [{ title: 'Molloy' }, null] }, errors: [{ message: 'One book is lent.' }] });
    case 'flood':
      return flood(response);
    case 'lose':
      return response.destroy();
    case 'busy':
      return send({ errors: [{ message: 'busy' }] }, 429, { 'retry-after': '7' });
    case 'closed':
      return send({ errors: [{ message: 'who are you?' }] }, 401);
    case 'down':
      return send('down', 503);
    case 'moved':
      return response.writeHead(307, { location: '/elsewhere' }).end();
    case 'page':
      return response.end('<p>Welcome</p>');
    case 'odd':
      return send({ errors: 'some' });
    case 'many':
      return send({ errors: Array.from({ length: 9 }, () => ({ message: 'x'.repeat(2000) })) });
    case 'mute':
      return send({ data: null, errors: [null, { message: 5 }] });
    default:
      return send({ errors: [{ message: 'Cannot query that field.' }] }, 400);
  }
}

/** @param {import('node:http').ServerResponse} response */
function flood(response) {
  const more = () => {
    while (response.write('x'.repeat(65_536)));
  };
  response.on('drain', more);
  response.on('error', () => {});
  more();
}

if (process.argv[1] === import.meta.filename) {
  const { endpoint } = await startBookServer(Number(process.argv[2] ?? 4000));
  process.stdout.write(`${endpoint}\n`);
}
