import { describe, expect, it } from 'vitest';
import type { AccessConfig } from '../../src/config/types/config.ts';
import { cribWith } from './world.ts';

const ALL = { dev: { profiles: '*' } };

describe('doubtful settings of access are reported', () => {
  it.each<[string, AccessConfig, readonly string[]]>([
    ['nothing of what makes sense', { keys: true, roles: { ...ALL, ops: { profiles: ['assistant', 'op*'] } } }, []],
    [
      'no roles',
      { keys: true },
      ['access has no roles, so tokens open nothing, and keys only the profiles they name.'],
    ],
    [
      'no way in, and a profile that is not there',
      { roles: { dev: { profiles: ['assistent', 'op*'] } } },
      [
        'access has neither keys nor jwt, so only the operator has access.',
        'access.roles.dev: "assistent" matches no profile.',
      ],
    ],
    [
      'tokens for any audience, and keys over plain http',
      { jwt: { issuer: 'http://id.example.com' }, roles: ALL },
      [
        'access.jwt has no audience, so a token that the issuer created for another program is accepted here.',
        'access.jwt: the keys at http://id.example.com are fetched without encryption; use https.',
      ],
    ],
    [
      'nothing of an issuer on this machine',
      { jwt: { issuer: 'http://localhost:8080/x', audience: 'a' }, roles: ALL },
      [],
    ],
  ])('%s', async (_, access, problems) => {
    expect((await cribWith(access)).warnings()).toEqual(problems);
  });

  it('keys that open nothing because they are off; not revoked ones', async () => {
    const crib = await cribWith({ jwt: { issuer: 'https://id.example.com', audience: 'a' }, roles: ALL });
    expect(await crib.keys.problems()).toEqual([]);
    const { info } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'ann');
    await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'ann');
    expect(await crib.keys.problems()).toEqual([
      '2 API keys are active, but access.keys is not on, so they open nothing. Turn it on, or revoke keys that are not needed.',
    ]);
    await crib.keys.revoke(info.id, 'ann');
    expect(await crib.keys.problems()).toEqual([expect.stringMatching(/^1 API key is active.* it opens nothing/)]);
  });
});

describe('access in a configuration', () => {
  it.each<[string, object, string]>([
    [
      'an algorithm with a shared secret',
      { jwt: { issuer: 'https://id.example.com', algorithms: ['HS256'] } },
      'RS256',
    ],
    ['no algorithm at all', { jwt: { issuer: 'https://id.example.com', algorithms: 'none' } }, 'RS256'],
    ['no issuer', { jwt: { audience: 'toolcrib' } }, 'needs "issuer"'],
    ['an issuer that is not an address', { jwt: { issuer: 'id.example.com' } }, 'must be a URL that starts with'],
    [
      'a tolerance of an hour',
      { jwt: { issuer: 'https://id.example.com', clockToleranceMs: 3_600_000 } },
      'at most 300000',
    ],
    ['a misspelt key', { jwt: { issuer: 'https://id.example.com', audiance: 'a' } }, 'audience'],
    ['a role that is not an object', { roles: { dev: ['assistant'] } }, 'access.roles.dev'],
  ])('with %s is an error', async (_, access, words) => {
    await expect(cribWith(access)).rejects.toMatchObject({ message: expect.stringContaining(words) });
  });
});
