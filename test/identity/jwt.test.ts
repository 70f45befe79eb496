import { describe, expect, it } from 'vitest';
import { encode, makeKey, startIssuer } from './issuer.ts';
import { cribWith, REFUSED, ROLES } from './world.ts';

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];

describe('a token of the issuer', () => {
  it.each(ALGORITHMS)('signed by %s becomes a caller', async (alg) => {
    const issuer = await startIssuer(alg);
    const crib = await cribWith({ jwt: { issuer: issuer.url, audience: 'toolcrib' }, roles: ROLES });
    const token = await issuer.sign({ permissions: ['read', 'write'], scope: 'openid write' });
    expect(await crib.identify(`Bearer ${token}`)).toEqual({
      ok: true,
      caller: {
        id: 'alice',
        roles: ['dev'],
        permissions: ['read', 'write', 'openid'],
        profiles: ['assistant'],
        credential: { kind: 'token', issuer: issuer.url },
      },
      profiles: ['assistant'],
      operator: false,
      maxPriority: 0,
    });
  });

  it('with an operator role is an operator', async () => {
    const issuer = await startIssuer();
    const crib = await cribWith({ jwt: { issuer: issuer.url, audience: 'toolcrib' }, roles: ROLES });
    expect(await crib.identify(await issuer.sign({ roles: ['admin'] }))).toMatchObject({
      ok: true,
      caller: { id: 'alice', operator: true },
      operator: true,
    });
  });

  it('without a known role opens nothing, and open says so', async () => {
    const issuer = await startIssuer();
    const crib = await cribWith({ jwt: { issuer: issuer.url, audience: 'toolcrib' }, roles: ROLES });
    for (const roles of [undefined, null, [], ['stranger'], 'constructor']) {
      const identity = await crib.identify(await issuer.sign({ roles }));
      expect(identity).toMatchObject({ ok: true, profiles: [], operator: false });
      if (identity.ok) await expect(crib.open(undefined, identity.caller)).rejects.toMatchObject({ code: 'denied' });
    }
  });

  it('may name several audiences, of which one must match', async () => {
    const issuer = await startIssuer();
    const crib = await cribWith({ jwt: { issuer: issuer.url, audience: ['toolcrib', 'crib'] }, roles: ROLES });
    for (const aud of ['toolcrib', 'crib', ['other', 'crib']])
      expect(await crib.identify(await issuer.sign({ aud }))).toMatchObject({ ok: true });
    for (const aud of ['other', [], ['other'], undefined, 'Toolcrib', 'toolcrib ', { toolcrib: true }])
      expect(await crib.identify(await issuer.sign({ aud }))).toEqual(REFUSED);
  });

  it.each<[string | undefined, object, readonly string[]]>([
    ['realm_access.roles', { realm_access: { roles: ['dev'] } }, ['dev']],
    ['https://example.com/roles', { 'https://example.com/roles': ['dev', 'ops', 'dev'] }, ['dev', 'ops']],
    ['groups', { groups: 'dev' }, ['dev']],
    ['realm_access.roles', { realm_access: 'dev' }, []],
    ['__proto__.roles', {}, []],
    ['constructor.name', {}, []],
    [undefined, { roles: ['ops'] }, ['ops']],
  ])('has its roles under %s of %j', async (rolesClaim, claims, roles) => {
    const issuer = await startIssuer();
    const jwt = { issuer: issuer.url, audience: 'toolcrib', ...(rolesClaim !== undefined && { rolesClaim }) };
    const crib = await cribWith({ jwt, roles: ROLES });
    expect(await crib.identify(await issuer.sign({ roles: undefined, ...claims }))).toMatchObject({
      caller: { roles },
    });
  });

  it('has its permissions in the configured claim, and only there', async () => {
    const issuer = await startIssuer();
    const jwt = { issuer: issuer.url, audience: 'toolcrib', permissionsClaim: 'rights.crib' };
    const crib = await cribWith({ jwt, roles: ROLES });
    const token = await issuer.sign({ rights: { crib: ['read'] }, scope: 'write' });
    expect(await crib.identify(token)).toMatchObject({ caller: { permissions: ['read'] } });
  });

  it('is accepted with the allowed algorithms, and no other', async () => {
    const issuer = await startIssuer('ES256');
    const crib = await cribWith({
      jwt: { issuer: issuer.url, audience: 'toolcrib', algorithms: 'EdDSA' },
      roles: ROLES,
    });
    expect(await crib.identify(await issuer.sign())).toEqual(REFUSED);
    const key = await makeKey('second', 'EdDSA');
    issuer.jwks = { keys: [issuer.key.jwk, key.jwk] };
    expect(await crib.identify(await issuer.sign({}, { key }))).toMatchObject({ ok: true });
  });

  it('needs no key id if the issuer has only one key', async () => {
    const issuer = await startIssuer();
    const crib = await cribWith({ jwt: { issuer: issuer.url, audience: 'toolcrib' }, roles: ROLES });
    expect(await crib.identify(await issuer.sign({}, { header: { kid: undefined } }))).toMatchObject({ ok: true });
  });

  it('is verified with keys from the configured address', async () => {
    const issuer = await startIssuer();
    issuer.discovery = 'nobody asks';
    const jwt = { issuer: issuer.url, audience: 'toolcrib', jwks: `${issuer.url}/keys` };
    const crib = await cribWith({ jwt, roles: ROLES });
    expect(await crib.identify(await issuer.sign())).toMatchObject({ ok: true });
    expect(issuer.server.requests.map(({ url }) => url)).toEqual(['/keys']);
  });

  it('of an issuer whose name ends with a slash must have the slash, too', async () => {
    const issuer = await startIssuer();
    const name = `${issuer.url}/`;
    issuer.discovery = { issuer: name, jwks_uri: `${issuer.url}/keys` };
    const crib = await cribWith({ jwt: { issuer: name, audience: 'toolcrib' }, roles: ROLES });
    expect(await crib.identify(await issuer.sign({ iss: name }))).toMatchObject({ ok: true });
    expect(await crib.identify(await issuer.sign())).toEqual(REFUSED);
  });

  it('has no effect if access.jwt is not configured', async () => {
    const issuer = await startIssuer();
    const crib = await cribWith({ keys: true, roles: ROLES });
    expect(await crib.identify(await issuer.sign())).toEqual(REFUSED);
    expect(issuer.server.requests).toEqual([]);
  });

  it('with a duplicate claim has the value of the last one, for every reader', async () => {
    const issuer = await startIssuer();
    const crib = await cribWith({ jwt: { issuer: issuer.url, audience: 'toolcrib' }, roles: ROLES });
    const { CompactSign } = await import('jose');
    const claims = `"iss":"${issuer.url}","aud":"toolcrib","exp":9999999999,"sub":"alice"`;
    const sign = (text: string) =>
      new CompactSign(Buffer.from(text))
        .setProtectedHeader({ alg: issuer.key.alg, kid: issuer.key.kid })
        .sign(issuer.key.privateKey);
    expect(await crib.identify(await sign(`{${claims},"roles":["admin"],"roles":["dev"]}`))).toMatchObject({
      caller: { roles: ['dev'] },
      operator: false,
    });
    expect(await crib.identify(await sign(`{${claims},"aud":"other"}`))).toEqual(REFUSED);
    expect(await crib.identify(await sign(`{"iss":"other",${claims}}`))).toMatchObject({ ok: true });
    expect(await crib.identify(`${encode('{"alg":"none","alg":"ES256"}')}.${encode(`{${claims}}`)}.`)).toEqual(REFUSED);
  });
});
