import { describe, expect, it } from 'vitest';
import type { Route } from '../../../src/doors/rest/route.ts';
import { ROUTES } from '../../../src/doors/rest/routes.ts';
import { missingPackage, sharedPostgres } from '../../store/postgres-server.ts';
import { type Served, serve } from './served.ts';

const NUL = ['%00', 'a%00', '%00a', 'a%00b%00'];
const OTHERS = ['%ED%A0%80', '%EF%BF%BF', '%FF', '%', `${'x'.repeat(5000)}`, '__proto__', '%F0%9F%94%A7'];

/** The addresses of a route with this name in every part of the path that varies. */
const inPath = ({ path }: Route, name: string) => path.replaceAll(/\{\w+\}/g, () => name);
// The page of the console is the same for every address.
const named = ROUTES.filter(({ path, isPage }) => path.includes('{') && isPage !== true);

/** The addresses of a route with this text in each text after the question mark. */
function inQuery({ path, query = {} }: Route, text: string): readonly string[] {
  const texts = Object.entries(query).filter(([, node]) => node.type === 'string' || node.type === 'array');
  return texts.map(([key]) => `${path.replaceAll(/\{\w+\}/g, 'x')}?${key.replace('?', '')}=${text}`);
}

async function statusOf({ ask, token }: Served, method: string, address: string): Promise<string> {
  const body = method === 'POST' || method === 'PUT' ? { body: {} } : {};
  const { status } = await ask(address, { method, token, ...body });
  return `${status} ${method} ${address.slice(0, 60)}`;
}

/** Every address of every route with one of these texts, and how it is answered. */
async function statusesOf(served: Served, texts: readonly string[], made: typeof inQuery): Promise<readonly string[]> {
  const asking = ROUTES.flatMap((route) =>
    texts.flatMap((text) => made(route, text).map((address) => statusOf(served, route.method, address))),
  );
  return Promise.all(asking);
}

const missing = missingPackage();
const STORES = ['memory:', ...(missing === undefined ? ['postgres'] : [])];

describe.each(STORES)('a text that PostgreSQL cannot hold (%s)', (store) => {
  const open = async () =>
    serve({
      url: store === 'memory:' ? store : await sharedPostgres().createStore(),
      config: 'extensions: { rateLimit: { rates: [{ scope: caller, amount: 1000, perMs: 1000 }] } }\n',
    });

  it('is refused as a name or id of an address, by every route', async () => {
    const served = await open();
    const answered = await statusesOf(served, NUL, (route, name) =>
      named.includes(route) ? [inPath(route, name)] : [],
    );
    expect(answered.length).toBeGreaterThan(40);
    const refused = answered.filter((line) => !/^501 /.test(line)); // what is not built yet says so to every name
    expect(refused.filter((line) => !/^40[04] /.test(line))).toEqual([]);
  });

  it('has no effect after the question mark, nor do other odd names in an address', async () => {
    const served = await open();
    const answered = await Promise.all([
      statusesOf(served, NUL, inQuery),
      statusesOf(served, OTHERS, (route, name) => (named.includes(route) ? [inPath(route, name)] : [])),
    ]);
    expect(answered.flat().filter((line) => line.startsWith('5') && !line.startsWith('501'))).toEqual([]);
  });

  it('does not keep a caller from calling: data per caller is stored', async () => {
    const { crib } = await open();
    for (const id of ['\0', 'a\0b', '\ud800']) {
      const chest = await crib.open(undefined, { id, approve: async () => true });
      const results = [
        await chest.call('long', {}),
        await chest.call('add', { a: 1, b: 2 }, { idempotencyKey: id }),
        await chest.call('wipe', { what: id }, { conversation: id }),
      ];
      expect(results.map(({ ok }) => ok)).toEqual([true, true, true]);
    }
  });

  it.each([
    ['POST', '/api/keys', { name: '\0' }],
    ['POST', '/api/keys', { name: 'a', caller: '\0', roles: ['\0'], permissions: ['\0'], profiles: ['\0'] }],
    ['PUT', '/api/profiles/usual/active', { active: ['\0'] }],
    ['POST', '/api/specs', { tools: [{ name: '\0', description: 'x', run: { kind: 'http', url: 'https://a.b' } }] }],
    ['POST', '/api/specs', { tools: [{ name: 'a', description: '\0', run: { kind: 'http', url: 'https://a.b/\0' } }] }],
    ['POST', '/api/tools/execute/echo', { arguments: { '\0': '\0' }, conversation: '\0', turn: '\0', timeZone: '\0' }],
    ['POST', '/api/tools/execute/echo', { arguments: { a: 1 }, idempotencyKey: '\0' }],
    ['POST', '/api/tools/execute/echo', { arguments: { a: 1 }, approvalId: '\0' }],
    ['POST', '/api/tools/execute/echo', { arguments: { a: 1 }, profile: '\0' }],
    ['POST', '/api/tools/execute/wipe', { arguments: { what: '\0\ud800' }, conversation: '\ud800' }],
  ])('has no effect in a body: %s %s %j', async (method, address, body) => {
    const { ask, token } = await open();
    const { status } = await ask(address, { method, token, body });
    expect(status).toBeLessThan(500);
  });
});
