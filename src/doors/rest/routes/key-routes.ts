import type { KeyRequest } from '../../../identity/api-keys.ts';
import { toShownKey } from '../../shown.ts';
import { notFound, ok } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { choice, list, number, object, shortText, text, time } from '../shapes.ts';

const KEY_MEMBERS = {
  id: text('The public part of the key.'),
  name: text(),
  caller: text('The id of its caller.'),
  roles: list(text()),
  permissions: list(text()),
  'profiles?': list(text(), 'The key is limited to these profiles (globs).'),
  state: choice(['active', 'expired', 'revoked']),
  createdBy: text(),
  createdAt: time(),
  'expiresAt?': time('Absent if the key never expires.'),
  'revokedBy?': text(),
  'revokedAt?': time(),
  'lastUsedAt?': time(),
};

const NAMES = list(shortText('A name.'));

const REVOKED = { 200: { says: 'The key is revoked.', schema: object({ revoked: list(text()) }) } };

/** Routes of API keys. */
export const KEY_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/keys',
    group: 'keys',
    says: 'Lists the API keys.',
    who: 'operator',
    answers: {
      200: {
        says: 'The keys, oldest first, without their secrets.',
        schema: object({ keys: list(object(KEY_MEMBERS)) }),
      },
    },
    run: async ({ crib }) => ok({ keys: (await crib.keys.list()).map(toShownKey) }),
  },
  {
    method: 'POST',
    path: '/api/keys',
    group: 'keys',
    says: 'Creates an API key.',
    who: 'operator',
    body: object({
      name: shortText('The name of the key.'),
      'caller?': shortText('The id of its caller.'),
      'roles?': NAMES,
      'permissions?': NAMES,
      'profiles?': NAMES,
      'expiresAt?': {
        type: ['string', 'null'],
        format: 'date-time',
        description: 'When the key expires; null for never. Default: in 90 days.',
      },
      'forMs?': number('Lifetime in milliseconds, instead of expiresAt.'),
    }),
    answers: {
      201: {
        says: 'The key. It is shown only once.',
        schema: object({ key: text(), ...KEY_MEMBERS, opens: list(text(), 'The profiles that the key opens now.') }),
      },
    },
    run: createKey,
  },
  {
    method: 'DELETE',
    path: '/api/keys/{id}',
    group: 'keys',
    says: 'Revokes a key. It is refused from the next request on.',
    who: 'operator',
    answers: REVOKED,
    run: (asked) => revokeKey(asked, asked.params.id ?? ''),
  },
  {
    method: 'DELETE',
    path: '/api/keys',
    group: 'keys',
    says: 'Revokes a key. It is refused from the next request on.',
    who: 'operator',
    query: { id: shortText('The id of the key.') },
    answers: REVOKED,
    run: (asked) => revokeKey(asked, String(asked.query.id)),
  },
];

async function createKey({ crib, asker, body }: RouteRequest) {
  const { expiresAt, ...rest } = body as Omit<KeyRequest, 'expiresAt'> & { readonly expiresAt?: string | null }; // as its schema demands
  const request: KeyRequest = {
    ...rest,
    ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : Date.parse(expiresAt) }),
  };
  const { key, info, opens } = await crib.keys.create(request, asker.caller.id ?? 'operator');
  return ok({ key, ...toShownKey(info), opens }, 201);
}

async function revokeKey({ crib, asker }: RouteRequest, id: string) {
  const { applied, rejected } = await crib.keys.revoke(id, asker.caller.id ?? 'operator');
  const [refusal] = rejected;
  return refusal === undefined
    ? ok({ revoked: applied })
    : notFound(`The key "${id}" was not revoked: ${refusal.reason}.`);
}
