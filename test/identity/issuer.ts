import type { RequestListener } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { createJwtVerifier, type JwtOptions } from '../../src/identity/jwt.ts';
import { startServer, type TestServer } from '../sources/http-server.ts';

/** A key pair of an issuer. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

/** Makes a key pair. */
export async function makeKey(kid: string, alg = 'ES256'): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } };
}

/** An issuer of tokens on a server of its own. */
export interface Issuer {
  readonly url: string;
  readonly server: TestServer;
  readonly key: IssuerKey;
  /** What stands at its well-known address, and the keys it publishes; both can be changed. */
  discovery: unknown;
  jwks: unknown;
  /** A token of alice for toolcrib, good for an hour, changed as said; what is undefined is left out. */
  sign(claims?: Readonly<Record<string, unknown>>, how?: SignOptions): Promise<string>;
}

interface SignOptions {
  readonly key?: IssuerKey;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Seconds since 1970. */
  readonly now?: number;
}

// Making a key takes longer than everything else, and tests may well share theirs.
const firstKeys = new Map<string, Promise<IssuerKey>>();

/** Starts one; it is closed after the test. */
export async function startIssuer(alg = 'ES256'): Promise<Issuer> {
  const making = firstKeys.get(alg) ?? makeKey('first', alg);
  firstKeys.set(alg, making);
  const key = await making;
  const server = await startServer();
  const url = `http://${server.host}`;
  const issuer: Issuer = {
    url,
    server,
    key,
    discovery: { issuer: url, jwks_uri: `${url}/keys` },
    jwks: { keys: [key.jwk] },
    sign: (claims, how) => signToken(url, { key, ...how }, claims),
  };
  server.answer(publish(issuer));
  return issuer;
}

/** Answers as an issuer does. */
export function publish(issuer: Issuer): RequestListener {
  return ({ url }, response) => {
    const body = url === '/keys' ? issuer.jwks : issuer.discovery;
    const isKnown = url === '/keys' || url === '/.well-known/openid-configuration';
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
    response.end(isKnown ? JSON.stringify(body) : 'nothing here');
  };
}

async function signToken(
  iss: string,
  { key, header, now = Math.floor(Date.now() / 1000) }: SignOptions & { readonly key: IssuerKey },
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const usual = { iss, aud: 'toolcrib', sub: 'alice', roles: ['dev'], iat: now, exp: now + 3600 };
  const payload = Object.fromEntries(
    Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined),
  );
  return new SignJWT(payload as JWTPayload) // wrong types are what is tested
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .sign(key.privateKey);
}

/** A part of a token. */
export function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** A token whose head and body are just these texts, signed in earnest. */
export async function signText(head: string, body: string, { privateKey }: IssuerKey): Promise<string> {
  const signed = `${encode(head)}.${encode(body)}`;
  const algorithm = { name: privateKey.algorithm.name, hash: 'SHA-256' };
  const signature = await crypto.subtle.sign(algorithm, privateKey, Buffer.from(signed));
  return `${signed}.${Buffer.from(signature).toString('base64url')}`;
}

/** A verifier with a time of its own, which begins now. */
export function verifierOf(issuer: Issuer, more: Partial<JwtOptions> = {}) {
  const time = { now: Date.now() };
  const clock = { now: () => time.now };
  const verify = createJwtVerifier({ issuer: issuer.url, ...more }, { steady: clock, calendar: clock });
  return { verify, time, fetches: () => issuer.server.requests.filter(({ url }) => url === '/keys').length };
}
