// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { deepEqual } from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { DoneResult } from '../../../src/index.ts';
import { httpExecutor } from '../../../src/kinds/http/http-executor.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { createSecrets } from '../../../src/system/secrets/secrets.ts';
import { executorContract } from '../../../src/testing/index.ts';

let open = 0;
let arrived = Promise.withResolvers<void>();
let gone = Promise.withResolvers<void>();

const answer: RequestListener = (request, response) => {
  const { pathname } = new URL(request.url ?? '', 'http://x');
  response.setHeader('content-type', 'application/json');
  if (pathname === '/flood') return flood(response);
  if (pathname === '/fail') return void response.writeHead(500).end(`"${request.headers['x-key']} failed"`);
  if (pathname !== '/hang') return void response.end(JSON.stringify({ url: request.url }));
  open += 1;
  request.socket.on('close', () => {
    open -= 1;
    if (open === 0) gone.resolve();
  });
  gone = Promise.withResolvers();
  arrived.resolve();
  arrived = Promise.withResolvers();
};

function flood(response: Parameters<RequestListener>[1]): void {
  const more = () => {
    while (response.write('x'.repeat(65_536)));
  };
  response.on('drain', more);
  response.on('error', () => {});
  more();
}

const server = createServer(answer);
// The cases are made before the hooks run, so the port has to be known by then.
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
beforeAll(() => {
  process.env.HTTP_CONTRACT_KEY = 'hunter2-hunter2';
});
afterAll(() => {
  delete process.env.HTTP_CONTRACT_KEY;
  server.closeAllConnections();
  server.close();
});

const spec = { input: { type: 'object', properties: { id: { type: 'string' } } } };
const run = (path: string, more = {}) => ({ kind: 'http', url: `http://${host}${path}`, ...more });
const asks = (id: string) => ({
  run: run('/ask/{id}'),
  input: { id },
  spec,
  expect: ({ data }: DoneResult) => deepEqual(data, { url: `/ask/${id}` }),
});

describe('the http executor', () => {
  const laws = executorContract({
    create: () =>
      httpExecutor({
        clock: systemClock,
        secrets: createSecrets({ key: { env: 'HTTP_CONTRACT_KEY', hosts: [host] } }, { env: process.env, folder: '.' }),
        allowPrivate: () => [host],
      }),
    works: [asks('one'), asks('two'), asks('three')],
    fails: [
      { run: run('/fail', { headers: { 'X-Key': '${secret:key}' } }) },
      { run: run('/ask/{id}'), spec, input: { id: '..' } },
      { run: { kind: 'http', url: 'http://127.0.0.1:1/closed-port' } },
      { run: { kind: 'http', url: 'http://nowhere.invalid/some-path' } },
    ],
    hangs: {
      run: run('/hang'),
      begun: () => arrived.promise,
      isGone: async () => {
        await gone.promise;
        return open === 0;
      },
    },
    floods: { run: run('/flood') },
    badRuns: [
      { what: 'no address', run: { kind: 'http' } },
      { what: 'an unknown argument', run: run('/{nobody}') },
      { what: 'an argument as its host', run: { kind: 'http', url: 'http://{id}/' }, spec },
      { what: 'a header that is not for runs', run: run('/', { headers: { Host: 'x' } }) },
    ],
    unspeakable: ['hunter2-hunter2'],
  });
  for (const { name, run: prove } of laws) it(name, prove);
});
