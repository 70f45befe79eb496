// A bundle with something to set up: a small HTTP server, which the tools of `specs/town.yaml` and `town.openapi.yaml` ask.
import { createServer } from 'node:http';
import { defineBundle } from 'toolcrib';

const PORT = 2743;
const TOWNS = {
  harbour: { sky: 'fog', celsius: 9, population: 41_000 },
  hilltop: { sky: 'snow', celsius: -3, population: 2_600 },
  riverside: { sky: 'sun', celsius: 17, population: 118_000 },
};

function answer(request, response) {
  const { pathname } = new URL(request.url, `http://127.0.0.1:${PORT}`);
  const [, what, name] = pathname.split('/').map(decodeURIComponent);
  const town = Object.hasOwn(TOWNS, name ?? '') ? TOWNS[name] : undefined;
  const body =
    what === 'towns' && name === undefined
      ? { towns: Object.entries(TOWNS).map(([known, { population }]) => ({ name: known, population })) }
      : what === 'weather' && town !== undefined
        ? { town: name, sky: town.sky, celsius: town.celsius }
        : undefined;
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body ?? { error: 'There is no such town.' }));
}

export const town = defineBundle({
  name: 'town',
  description: 'A small town with weather, behind HTTP',
  include: ['town_*'],
  async setup() {
    const server = createServer(answer);
    await new Promise((resolve, reject) => {
      server.once('error', (cause) => (cause.code === 'EADDRINUSE' ? resolve() : reject(cause))); // another crib has started it
      server.listen(PORT, '127.0.0.1', resolve);
    });
    server.unref();
    return {
      state: undefined,
      dispose: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
    };
  },
});
