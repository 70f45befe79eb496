import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startServer } from '../sources/http-server.ts';
import { type Issuer, publish, startIssuer, verifierOf } from './issuer.ts';
import { cribWith, ROLES, UNAVAILABLE } from './world.ts';

describe('an issuer that answers something else', () => {
  const html: RequestListener = (_, response) => response.writeHead(200).end('<html>Sign in</html>');
  const elsewhere = 'https://id.example.com';
  it.each<[string, (url: string) => Partial<Pick<Issuer, 'discovery' | 'jwks'>>, string]>([
    ['a list', () => ({ discovery: [] }), 'JSON that is not an object'],
    ['null', () => ({ discovery: null }), 'JSON that is not an object'],
    ['another issuer', () => ({ discovery: { issuer: elsewhere, jwks_uri: elsewhere } }), 'for another issuer'],
    ['no address of keys', (issuer) => ({ discovery: { issuer } }), 'without jwks_uri'],
    ['a file', (issuer) => ({ discovery: { issuer, jwks_uri: 'file:///etc/passwd' } }), 'Only http and https'],
    ['a private host', (issuer) => ({ discovery: { issuer, jwks_uri: 'http://169.254.169.254/' } }), 'private network'],
    ['no keys', () => ({ jwks: {} }), 'without a list of keys'],
    ['keys that are not a list', () => ({ jwks: { keys: { kty: 'RSA' } } }), 'without a list of keys'],
    ['thousands of keys', () => ({ jwks: { keys: Array(5_000).fill({ kty: 'EC' }) } }), 'at most 1000'],
    ['far too much', () => ({ jwks: { keys: [], filler: 'x'.repeat(1_100_000) } }), 'more than 1000000 bytes'],
  ])('%s admits no caller', async (_, spoil, reason) => {
    const issuer = await startIssuer();
    Object.assign(issuer, spoil(issuer.url));
    await expect(verifierOf(issuer).verify(await issuer.sign())).rejects.toThrow(reason);
  });

  it.each<[string, RequestListener, string]>([
    ['a page', html, 'with invalid JSON'],
    ['nothing', (_, response) => response.writeHead(200).end(), 'with invalid JSON'],
    ['an error', (_, response) => response.writeHead(403).end('{}'), 'with status 403'],
    ['no HTTP', (_, response) => response.socket?.end('220 hello\r\n\r\n'), 'The HTTP exchange with'],
  ])('%s admits no caller', async (_, listener, reason) => {
    const issuer = await startIssuer();
    issuer.server.answer(listener);
    await expect(verifierOf(issuer).verify(await issuer.sign())).rejects.toThrow(reason);
  });

  it('too slowly admits no caller, and is not awaited', async () => {
    const issuer = await startIssuer();
    issuer.server.answer(() => {}); // never answers
    await expect(verifierOf(issuer, { timeoutMs: 50 }).verify(await issuer.sign())).rejects.toThrow('within 50 ms');
    issuer.server.answer((_, response) => response.writeHead(200).write('{'));
    await expect(verifierOf(issuer, { timeoutMs: 50 }).verify(await issuer.sign())).rejects.toThrow('within 50 ms');
  });

  it('with a redirect to a private address is not followed', async () => {
    const issuer = await startIssuer();
    const inside = await startServer(publish(issuer));
    const redirect: RequestListener = ({ url }, response) =>
      response.writeHead(302, { location: `http://${inside.host}${url}` }).end();
    issuer.server.answer(redirect);
    await expect(verifierOf(issuer).verify(await issuer.sign())).rejects.toThrow('private network');
    const more = { jwks: `${issuer.url}/keys` };
    await expect(verifierOf(issuer, more).verify(await issuer.sign())).rejects.toThrow('private network');
    expect(inside.requests).toEqual([]);
  });

  it.each([
    ['another port', 'http://127.0.0.1:{port}/keys'],
    ['another port by another name', 'http://localhost:{port}/keys'],
    ['another port by a number', 'http://2130706433:{port}/keys'],
    ['another port by a short form', 'http://127.1:{port}/keys'],
    ['another port in IPv6', 'http://[::ffff:127.0.0.1]:{port}/keys'],
    ['another port behind a user', 'http://user:password@127.0.0.1:{port}/keys'],
    ['another port without its scheme', '//127.0.0.1:{port}/keys'],
  ])('names an address of keys on %s, and the crib does not connect there', async (_, address) => {
    const issuer = await startIssuer();
    const inside = await startServer(publish(issuer));
    const port = inside.host.split(':')[1] ?? '';
    issuer.discovery = { issuer: issuer.url, jwks_uri: address.replace('{port}', port) };
    await expect(verifierOf(issuer).verify(await issuer.sign())).rejects.toThrow(
      /private network|without jwks_uri|contains a user name or password/,
    );
    expect(inside.requests).toEqual([]);
  });

  it('has its keys fetched from another port if the operator names that address', async () => {
    const issuer = await startIssuer();
    const inside = await startServer(publish(issuer));
    const jwks = `http://${inside.host}/keys`;
    await expect(verifierOf(issuer, { jwks }).verify(await issuer.sign())).resolves.toBeDefined();
    expect(inside.requests).toHaveLength(1);
  });

  it('is unavailable for callers, and reported to the operator', async () => {
    const issuer = await startIssuer();
    issuer.server.answer(html);
    const crib = await cribWith({ jwt: { issuer: issuer.url, audience: 'toolcrib' }, roles: ROLES });
    expect(await crib.identify(await issuer.sign())).toEqual(UNAVAILABLE);
    expect(crib.warnings().join('\n')).toContain(`The keys of ${issuer.url} could not be fetched`);
  });
});
