import { describe, expect, it } from 'vitest';
import { makeKey, publish, startIssuer, verifierOf } from './issuer.ts';
import { deskWith, REFUSED, ROLES } from './world.ts';

const MINUTE = 60_000;
const ALICE = { id: 'alice', roles: ['dev'], permissions: [] };
const UNKNOWN = 'its key does not belong to the issuer';

const slow = { exp: 9_999_999_999 };

describe('the keys of the issuer', () => {
  it('are fetched with the first token, once for concurrent ones, and cached', async () => {
    const issuer = await startIssuer();
    const { verify, fetches, time } = verifierOf(issuer);
    expect(fetches()).toBe(0);
    const tokens = await Promise.all(Array.from({ length: 10 }, (_, index) => issuer.sign({ jti: String(index) })));
    expect(await Promise.all(tokens.map((token) => verify(token)))).toEqual(tokens.map(() => ALICE));
    expect(fetches()).toBe(1);
    time.now += 9 * MINUTE;
    expect(await verify(await issuer.sign({ jti: 'late' }))).toEqual(ALICE);
    expect(fetches()).toBe(1);
  });

  it('are fetched again when a token names an unknown one: rotation works', async () => {
    const issuer = await startIssuer();
    const { verify, fetches } = verifierOf(issuer);
    await verify(await issuer.sign());
    const key = await makeKey('second', 'RS256');
    issuer.jwks = { keys: [issuer.key.jwk, key.jwk] };
    expect(await verify(await issuer.sign({}, { key }))).toEqual(ALICE);
    expect(await verify(await issuer.sign())).toEqual(ALICE);
    expect(fetches()).toBe(2);
  });

  it('are not fetched in a flood, whatever key ids callers make up', async () => {
    const issuer = await startIssuer();
    const { verify, fetches, time } = verifierOf(issuer);
    const forged = (index: number) => issuer.sign({}, { header: { kid: `made-up-${index}` } });
    for (let index = 0; index < 200; index++) expect(await verify(await forged(index))).toBe(UNKNOWN);
    const atOnce = await Promise.all(Array.from({ length: 200 }, (_, index) => forged(1000 + index)));
    expect(new Set(await Promise.all(atOnce.map((token) => verify(token))))).toEqual(new Set([UNKNOWN]));
    expect(fetches()).toBe(5);
    expect(await verify(await issuer.sign())).toEqual(ALICE);
    time.now += 3 * MINUTE;
    expect(await verify(await forged(1))).toBe(UNKNOWN);
    expect(fetches()).toBe(6);
  });

  it('that were withdrawn are refused after ten minutes, also for cached tokens', async () => {
    const issuer = await startIssuer();
    const { verify, time } = verifierOf(issuer);
    const token = await issuer.sign(slow);
    expect(await verify(token)).toEqual(ALICE);
    issuer.jwks = { keys: [(await makeKey('second')).jwk] };
    time.now += 10 * MINUTE - 1;
    expect(await verify(token)).toEqual(ALICE);
    time.now += 1;
    expect(await verify(token)).toBe(UNKNOWN);
  });

  it('that were changed under the same id are refused, also for cached tokens', async () => {
    const issuer = await startIssuer();
    const { verify } = verifierOf(issuer);
    const token = await issuer.sign(slow);
    expect(await verify(token)).toEqual(ALICE);
    issuer.jwks = { keys: [{ ...(await makeKey('first')).jwk }] };
    await verify(await issuer.sign({}, { header: { kid: 'makes us look' } }));
    expect(await verify(token)).toBe('signature verification failed');
  });

  it('are used for an hour while the issuer is down, and no longer', async () => {
    const issuer = await startIssuer();
    const { verify, time } = verifierOf(issuer);
    expect(await verify(await issuer.sign(slow))).toEqual(ALICE);
    issuer.server.answer((_, response) => response.writeHead(503).end());
    time.now += 60 * MINUTE - 1;
    expect(await verify(await issuer.sign({ ...slow, jti: 'other' }))).toEqual(ALICE);
    time.now += 1;
    await expect(verify(await issuer.sign({ ...slow, jti: 'third' }))).rejects.toThrow('answered with status 503');
    await expect(verify(await issuer.sign(slow))).rejects.toThrow('503');
    issuer.server.answer(publish(issuer));
    time.now += 5_000;
    expect(await verify(await issuer.sign(slow))).toEqual(ALICE);
  });

  it('that are unknown cannot be checked while the issuer is down', async () => {
    const issuer = await startIssuer();
    const { verify } = verifierOf(issuer);
    await verify(await issuer.sign());
    issuer.server.answer((_, response) => response.writeHead(503).end());
    const key = await makeKey('second');
    await expect(verify(await issuer.sign({}, { key }))).rejects.toThrow('503');
    expect(await verify(await issuer.sign())).toEqual(ALICE);
  });

  it('are requested with a pause while the issuer is down', async () => {
    const issuer = await startIssuer();
    issuer.server.answer((_, response) => response.writeHead(500).end());
    const { verify, time } = verifierOf(issuer);
    const token = await issuer.sign();
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => verify(token)));
    expect(tries.every(({ status }) => status === 'rejected')).toBe(true);
    expect(issuer.server.requests).toHaveLength(1);
    time.now += 4_999;
    await expect(verify(token)).rejects.toThrow();
    expect(issuer.server.requests).toHaveLength(1);
    time.now += 1;
    await expect(verify(token)).rejects.toThrow();
    expect(issuer.server.requests).toHaveLength(2);
  });

  it('do not become fresh because a clock runs backwards', async () => {
    const issuer = await startIssuer();
    const { verify, time, fetches } = verifierOf(issuer);
    await verify(await issuer.sign());
    time.now -= 60 * MINUTE;
    expect(await verify(await issuer.sign({ jti: 'other' }))).toEqual(ALICE);
    expect(fetches()).toBe(2);
  });

  it('may be many; a token without a key id is refused if there is more than one', async () => {
    const issuer = await startIssuer();
    const { jwk } = await makeKey('other');
    const many = Array.from({ length: 900 }, (_, index) => ({ ...jwk, kid: `other-${index}` }));
    issuer.jwks = { keys: [...many, issuer.key.jwk] };
    const { verify } = verifierOf(issuer);
    expect(await verify(await issuer.sign())).toEqual(ALICE);
    expect(await verify(await issuer.sign({}, { header: { kid: undefined } }))).toMatch(/multiple matching keys/);
  });

  it('of another kind or purpose are ignored', async () => {
    const issuer = await startIssuer();
    const shared = { kty: 'oct', k: 'c2VjcmV0', kid: 'first' };
    issuer.jwks = { keys: [null, 7, 'x', [], {}, { kty: 'RSA', kid: 7 }, shared, issuer.key.jwk] };
    const { verify } = verifierOf(issuer);
    expect(await verify(await issuer.sign())).toEqual(ALICE);
    const other = verifierOf(issuer);
    issuer.jwks = { keys: [{ ...issuer.key.jwk, use: 'enc' }] };
    expect(await other.verify(await issuer.sign())).toMatch(/no applicable key/);
  });

  it('that are broken refuse the tokens that name them', async () => {
    const issuer = await startIssuer();
    issuer.jwks = { keys: [{ kty: 'EC', crv: 'P-256', x: '!', y: 7, kid: 'first' }] };
    expect(await verifierOf(issuer).verify(await issuer.sign())).toBeTypeOf('string');
  });
});

describe('a verified token', () => {
  it('is cached until it expires, and not longer', async () => {
    const issuer = await startIssuer();
    const { verify, time } = verifierOf(issuer);
    const now = Math.floor(time.now / 1000);
    time.now = now * 1000;
    const token = await issuer.sign({ exp: now + 60 });
    expect(await verify(token)).toEqual(ALICE);
    time.now += MINUTE - 1;
    expect(await verify(token)).toEqual(ALICE);
    time.now += 1;
    expect(await verify(token)).toMatch(/"exp"/);
  });

  it('is cached by its full text: a token with the same beginning is verified separately', async () => {
    const issuer = await startIssuer();
    const { verify } = verifierOf(issuer);
    const token = await issuer.sign();
    await verify(token);
    expect(await verify(`${token}A`)).toBeTypeOf('string');
    expect(await verify(token.slice(0, -1))).toBeTypeOf('string');
  });

  it('may be slightly expired if the configuration allows it', async () => {
    const issuer = await startIssuer();
    const { verify, time } = verifierOf(issuer, { clockToleranceMs: 30_000 });
    const now = Math.floor(time.now / 1000);
    time.now = now * 1000;
    const [late, early] = [await issuer.sign({ exp: now - 29 }), await issuer.sign({ nbf: now + 30 })];
    expect([await verify(late), await verify(early)]).toEqual([ALICE, ALICE]);
    time.now += 1_000;
    expect(await verify(late)).toMatch(/"exp"/);
    expect(await verify(await issuer.sign({ nbf: now + 32 }))).toMatch(/"nbf"/);
  });

  it('without an expiry is refused', async () => {
    const issuer = await startIssuer();
    expect(await verifierOf(issuer).verify(await issuer.sign({ exp: Number.MAX_VALUE }))).toBe(
      'its expiry is not a valid time',
    );
  });

  it('is no longer valid when the configuration names another issuer', async () => {
    const [one, other] = [await startIssuer(), await startIssuer()];
    const desk = await deskWith(undefined, Date.now());
    let issuer = one.url;
    const identify = desk.identifyWith({
      ...desk.options,
      access: () => ({ jwt: { issuer, audience: 'toolcrib' }, roles: ROLES }),
    });
    const token = await one.sign();
    expect(await identify(token)).toMatchObject({ ok: true });
    issuer = other.url;
    expect(await identify(token)).toEqual(REFUSED);
    expect(await identify(await other.sign())).toMatchObject({ ok: true });
  });
});
