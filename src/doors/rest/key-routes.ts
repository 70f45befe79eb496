import type { KeyRequest } from '../../identity/api-keys.ts';
import { toShownKey } from '../shown.ts';
import { notFound, ok } from './answers.ts';
import type { Route, RouteRequest } from './route.ts';
import { choice, list, number, object, shortText, text, time } from './shapes.ts';

const KEY_MEMBERS = {
  id: text('The part of the key that is no secret.'),
  name: text(),
  caller: text('Whom it stands for.'),
  roles: list(text()),
  permissions: list(text()),
  'profiles?': list(text(), 'Profiles it is limited to, as globs.'),
  state: choice(['active', 'expired', 'revoked']),
  createdBy: text(),
  createdAt: time(),
  'expiresAt?': time('Never if absent.'),
  'revokedBy?': text(),
  'revokedAt?': time(),
  'lastUsedAt?': time(),
};

const NAMES = list(shortText('A name.'));

const REVOKED = { 200: { says: 'It opens nothing any more.', schema: object({ revoked: list(text()) }) } };

/** API keys. */
export const KEY_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/keys',
    group: 'keys',
    says: 'The API keys.',
    who: 'operator',
    answers: {
      200: { says: 'Oldest first, without their secrets.', schema: object({ keys: list(object(KEY_MEMBERS)) }) },
    },
    run: async ({ crib }) => ok({ keys: (await crib.keys.list()).map(toShownKey) }),
  },
  {
    method: 'POST',
    path: '/api/keys',
    group: 'keys',
    says: 'Makes an API key.',
    who: 'operator',
    body: object({
      name: shortText('What people call it.'),
      'caller?': shortText('Whom it stands for.'),
      'roles?': NAMES,
      'permissions?': NAMES,
      'profiles?': NAMES,
      'expiresAt?': {
        type: ['string', 'null'],
        format: 'date-time',
        description: 'null for never; 90 days if absent.',
      },
      'forMs?': number('How long it lives, in the place of expiresAt.'),
    }),
    answers: {
      201: {
        says: 'The key, shown this once.',
        schema: object({ key: text(), ...KEY_MEMBERS, opens: list(text(), 'The profiles it opens now.') }),
      },
    },
    run: createKey,
  },
  {
    method: 'DELETE',
    path: '/api/keys/{id}',
    group: 'keys',
    says: 'Closes a key for the very next request.',
    who: 'operator',
    answers: REVOKED,
    run: (asked) => revokeKey(asked, asked.params.id ?? ''),
  },
  {
    method: 'DELETE',
    path: '/api/keys',
    group: 'keys',
    says: 'The same.',
    who: 'operator',
    query: { id: shortText('The key.') },
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
