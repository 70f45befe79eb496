import { createHmac } from 'node:crypto';
import { exportSPKI, importJWK } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Crib } from '../../src/index.ts';
import { encode, type Issuer, type IssuerKey, makeKey, signText, startIssuer } from './issuer.ts';
import { cribWith, REFUSED, ROLES } from './world.ts';

let issuer: Issuer;
let crib: Crib;
let thief: IssuerKey;
beforeAll(async () => {
  thief = await makeKey('first', 'RS256');
});
beforeEach(async () => {
  issuer = await startIssuer('RS256');
  crib = await cribWith({ jwt: { issuer: issuer.url, audience: 'toolcrib' }, roles: ROLES });
});

const NOW = Math.floor(Date.now() / 1000);
const claims = () => ({ iss: issuer.url, aud: 'toolcrib', sub: 'alice', roles: ['admin'], exp: NOW + 3600 });

describe('forged tokens', () => {
  it.each(['none', 'None', 'NONE', 'nOnE', '', undefined, null, 0, ['none'], 'HS256'])(
    'a token with the algorithm %j and no signature is refused',
    async (alg) => {
      const head = encode({ alg, kid: 'first', typ: 'JWT' });
      const body = encode(claims());
      const { 2: signature = '' } = (await issuer.sign()).split('.');
      for (const token of [`${head}.${body}.`, `${head}.${body}`, `${head}.${body}.AA`, `${head}.${body}.${signature}`])
        expect(await crib.identify(token)).toEqual(REFUSED);
      expect(issuer.server.requests).toEqual([]);
    },
  );

  it.each(['HS256', 'HS384', 'HS512'])(
    'a token signed by %s with the public key as the secret is refused',
    async (alg) => {
      const key = await importJWK(issuer.key.jwk, 'RS256', { extractable: true });
      if (key instanceof Uint8Array) throw new Error('it is a public key');
      const secrets = [await exportSPKI(key), JSON.stringify(issuer.key.jwk), String(issuer.key.jwk.n)];
      for (const secret of secrets) {
        const signed = `${encode({ alg, kid: 'first' })}.${encode(claims())}`;
        const signature = createHmac(`sha${alg.slice(2)}`, secret)
          .update(signed)
          .digest('base64url');
        expect(await crib.identify(`${signed}.${signature}`)).toEqual(REFUSED);
      }
    },
  );

  it('a token signed by another key under the id of a real one is refused', async () => {
    expect(await crib.identify(await issuer.sign({ roles: ['admin'] }, { key: thief }))).toEqual(REFUSED);
  });

  it('a token that brings its own key, or an address of one, is refused, and the crib does not fetch it', async () => {
    const { server } = await startIssuer();
    const there = `http://${server.host}/keys`;
    for (const header of [
      { jwk: thief.jwk },
      { jku: there },
      { x5u: there },
      { x5c: [encode('certificate')] },
      { kid: there, jku: there },
      { jwk: thief.jwk, kid: undefined },
    ]) {
      const token = await issuer.sign({ roles: ['admin'] }, { key: thief, header });
      expect(await crib.identify(token)).toEqual(REFUSED);
    }
    expect(server.requests).toEqual([]);
  });

  it('a valid token with another key address is verified with the key of the issuer', async () => {
    const { server } = await startIssuer();
    const token = await issuer.sign({}, { header: { jku: `http://${server.host}/keys`, jwk: thief.jwk } });
    expect(await crib.identify(token)).toMatchObject({ ok: true });
    expect(server.requests).toEqual([]);
  });

  const signed = (head: Readonly<Record<string, unknown>>, body: unknown = claims()) =>
    signText(JSON.stringify({ alg: 'RS256', kid: 'first', ...head }), JSON.stringify(body), issuer.key);

  it('a token with an unknown critical extension is refused', async () => {
    expect(await crib.identify(await signed({}))).toMatchObject({ ok: true });
    for (const header of [{ crit: ['exp'], exp: 1 }, { crit: ['b64'], b64: false }, { crit: [] }, { crit: 'exp' }])
      expect(await crib.identify(await signed(header))).toEqual(REFUSED);
  });

  it.each([
    '../../../etc/passwd',
    '__proto__',
    'constructor',
    "' OR 1=1 --",
    'first\u0000',
    '/dev/null',
    '',
    'x'.repeat(5000),
  ])('a key id such as %j matches no key', async (kid) => {
    expect(await crib.identify(await issuer.sign({ roles: ['admin'] }, { key: thief, header: { kid } }))).toEqual(
      REFUSED,
    );
  });

  it.each([7, {}, ['first'], true, null])('a key id that is %j is ignored', async (kid) => {
    expect(await crib.identify(await signed({ kid }))).toEqual(REFUSED);
  });

  it('a token with one character changed, at every position, is refused', async () => {
    const token = await issuer.sign();
    expect(await crib.identify(token)).toMatchObject({ ok: true });
    for (const at of token.split('').keys()) {
      const other = token[at] === 'A' ? 'B' : 'A';
      const changed = `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
      expect(await crib.identify(changed)).toEqual(REFUSED);
    }
  });

  it('a token with another encoding of its signature is refused', async () => {
    const key = await makeKey('es', 'ES256'); // 64 bytes leave bits in the last character that decode to nothing
    issuer.jwks = { keys: [key.jwk] };
    const token = await issuer.sign({}, { key });
    expect(await crib.identify(token)).toMatchObject({ ok: true });
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const same = alphabet[alphabet.indexOf(token.slice(-1)) ^ 1] ?? '';
    expect(await crib.identify(`${token.slice(0, -1)}${same}`)).toEqual(REFUSED);
  });

  it('a token with additional characters is refused', async () => {
    const token = await issuer.sign();
    const [head = '', body = '', signature = ''] = token.split('.');
    for (const garbage of [
      `${token}x`,
      `${token}=`,
      `${token}.`,
      `${token}.x`,
      `${token},${token}`,
      `${token} x`,
      `.${token}`,
      `${head}..${signature}`,
      `..${signature}`,
      `${head}.${body}.${signature}\u0000`,
      `${head}.${body}\n.${signature}`,
      `${head} .${body}.${signature}`,
      `${head}.${body}.${signature.replaceAll('_', '/').replaceAll('-', '+')}/`,
      '..',
      'e30.e30.e30',
    ])
      expect(await crib.identify(garbage)).toEqual(REFUSED);
    expect(await crib.identify(token)).toMatchObject({ ok: true });
  });

  it('a header or payload that is not an object is refused', async () => {
    const good = '{"alg":"RS256","kid":"first"}';
    for (const body of ['[]', '"x"', 'null', '7', '{', ''])
      expect(await crib.identify(await signText(good, body, issuer.key))).toEqual(REFUSED);
    for (const head of ['[]', 'null', '{', '"x"', `${good}${good}`, ''])
      expect(await crib.identify(await signText(head, JSON.stringify(claims()), issuer.key))).toEqual(REFUSED);
    expect(await crib.identify(await signText(good, JSON.stringify(claims()), issuer.key))).toMatchObject({ ok: true });
  });
});

describe('valid tokens that are not for this server', () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['expired', { exp: NOW - 1 }],
    ['expired long ago', { exp: 0 }],
    ['expired before 1970', { exp: -1 }],
    ['without an end', { exp: undefined }],
    ['with an end that is a text', { exp: String(NOW + 3600) }],
    ['with an end that is null', { exp: null }],
    ['not yet good', { nbf: NOW + 3600 }],
    ['with a beginning that is a text', { nbf: 'now' }],
    ['of another issuer', { iss: 'https://id.example.com' }],
    ['of an issuer that begins alike', { iss: 'http://127.0.0.1' }],
    ['of a list of issuers', { iss: ['http://127.0.0.1'] }],
    ['of no issuer', { iss: undefined }],
    ['for another audience', { aud: 'billing' }],
    ['without an audience', { aud: undefined }],
    ['without a subject', { sub: undefined }],
    ['of an empty name', { sub: '' }],
    ['of a number', { sub: 7 }],
    ['of null', { sub: null }],
    ['of a name that moves the cursor', { sub: 'alice\u001b[2J' }],
    ['of two lines', { sub: 'alice\noperator' }],
    ['of a huge name', { sub: 'x'.repeat(257) }],
    ['of a subject named operator', { sub: 'operator' }],
    ['of a subject named local', { sub: 'local' }],
    ['of a subject named like a key', { sub: 'key:ci' }],
    ['with roles that are not a list', { roles: { dev: true } }],
    ['with roles that are not names', { roles: ['dev', 7] }],
    ['with permissions that are not names', { permissions: [['read']] }],
    ['with a scope that is not text', { scope: 7 }],
  ])('a token %s is refused', async (_, changes) => {
    expect(await crib.identify(await issuer.sign({ roles: ['admin'], ...changes }))).toEqual(REFUSED);
  });

  it('a huge token is refused before it is parsed', async () => {
    const token = await issuer.sign({ filler: 'x'.repeat(20_000) });
    expect(await crib.identify(token)).toEqual(REFUSED);
    expect(issuer.server.requests).toEqual([]);
  });

  it('a token of an unknown issuer causes no request', async () => {
    await crib.identify(await issuer.sign({ iss: 'https://id.example.com' }));
    expect(issuer.server.requests).toEqual([]);
  });
});
