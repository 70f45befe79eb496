import { names } from '../../config/policy-schema.ts';
import {
  address,
  choice,
  flag,
  mapOf,
  NAMES,
  object,
  oneOrMany,
  text,
  typed,
  whole,
} from '../../config/schema-node.ts';
import { JWT_ALGORITHMS } from '../../identity/jwt-algorithms.ts';

const jwt = typed(
  'JwtConfig',
  object(
    'Tokens of an issuer.',
    {
      issuer: address('Who signs them, exactly as the tokens say it.'),
      audience: names('Whom they must be meant for; any one of these.'),
      jwks: address('Where its keys are; if absent, the issuer says where.'),
      algorithms: oneOrMany(
        choice(JWT_ALGORITHMS, 'An algorithm with a public key.'),
        'How they may be signed; all of them if absent.',
      ),
      rolesClaim: text('The claim with the roles, or a dotted path to it; default roles.'),
      permissionsClaim: text('The claim with the permissions; default permissions, scope and scp.'),
      clockToleranceMs: whole("How far the issuer's clock may be off; default 0.", 0, 300_000),
    },
    ['issuer'],
  ),
);

/** Who may come in. */
export const accessNode = typed(
  'AccessConfig',
  object('Who may come in. Without it only this machine can.', {
    keys: flag('API keys, made by toolcrib keys; default false.'),
    jwt,
    roles: mapOf(
      typed(
        'RoleConfig',
        object('What a role may do.', {
          profiles: names('The profiles it may use; globs.'),
          operator: flag('It may do what an operator may.'),
        }),
      ),
      'Roles.',
      NAMES,
    ),
  }),
);
