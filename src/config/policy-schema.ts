import type { AccessClause, Hours } from '../core/access-clause.ts';
import { APPROVAL_MODES, type Budget, type Rate, SCOPES, type Slots } from '../core/policy.ts';
import { DEFAULT_KEEP_BOUNDS, type KeepBounds } from '../core/ports/stored-results.ts';
import type { Effects, When } from '../core/tool-spec.ts';
import { choice, either, flag, list, object, oneOrMany, type SchemaNode, text, typed, whole } from './schema-node.ts';

/** One name, or a list of names. */
export function names(description: string): SchemaNode {
  return oneOrMany(text('A name.'), description);
}

/** Selectors in one list: names, globs, prefixes, criteria. */
export function selectors(description: string): SchemaNode {
  const word = text('A name or glob, or a prefix bundle: tag: source: category: kind: followed by a glob.', {
    use: 'selector',
  });
  const criteria: SchemaNode = {
    type: 'object',
    description:
      'Criteria, all of which must hold: tags, tagsAny, category, namePattern, kind, source, bundle, text, or any boolean of meta or effects.',
    use: 'selector',
    typeName: 'Criteria',
    typeFrom: 'core/selector.ts',
  };
  return either(description, word, { type: 'array', items: either('A selector.', word, criteria) });
}

const scope = choice(SCOPES, 'The calls that are counted together.');
const perMs = whole('The length of the window in milliseconds.');

const time = text('HH:MM', { pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', says: 'a time such as "09:30", in quotes' });
const hours = object<Hours>(
  'Hours of the day; an end before the start crosses midnight.',
  {
    from: time,
    to: time,
    timeZone: text('An IANA time zone; default UTC.'),
    days: list(whole('1 Monday to 7 Sunday.', 1, 7), 'Days on which the hours begin; default every day.'),
  },
  ['from', 'to'],
);

const clause = typed(
  'AccessClause',
  object<AccessClause>('A condition on the caller. All parts must be met.', {
    roles: list(text('A role.'), 'The caller has at least one of these roles.'),
    users: list(text('A caller id.'), 'The caller is one of these.'),
    permissions: list(text('A permission.'), 'The caller has all of these permissions.'),
    hours,
    deny: object<NonNullable<AccessClause['deny']>>('Wins over every clause that allows.', {
      roles: list(text('A role.'), 'The caller has none of these roles.'),
      users: list(text('A caller id.'), 'The caller is none of these.'),
    }),
  }),
  'core/access-clause.ts',
);

/** Rate limits. */
export const ratesNode = list(
  typed(
    'Rate',
    object<Omit<Rate, 'of'>>('At most amount calls per perMs.', { scope, amount: whole('Number of calls.'), perMs }, [
      'scope',
      'amount',
      'perMs',
    ]),
    'core/policy.ts',
  ),
  'Rate limits. A call must stay within all of them.',
);

/** Concurrency limits. */
export const slotsNode = list(
  typed(
    'Slots',
    object<Omit<Slots, 'of'>>('At most amount calls at the same time.', { scope, amount: whole('Number of calls.') }, [
      'scope',
      'amount',
    ]),
    'core/policy.ts',
  ),
  'Limits on concurrent calls. A call must stay within all of them.',
);

/** A policy as the configuration writes it. */
export const policyNode = typed(
  'PolicyConfig',
  object('Limits and tuning of calls.', {
    approval: choice(APPROVAL_MODES, 'When calls require approval.'),
    approvers: oneOrMany(
      text('operator, caller or role:NAME.', {
        pattern: '^(operator|caller|role:.+)$',
        says: 'operator, caller or role:NAME',
        typeName: 'Approver',
        typeFrom: 'core/policy.ts',
      }),
      'Approvers besides the operator.',
    ),
    access: either('Conditions on the caller.', clause, { type: 'array', items: clause }),
    rates: ratesNode,
    concurrency: slotsNode,
    maxTimeoutMs: whole('Maximum timeout in milliseconds; caps timeoutMs.'),
    maxResultBytes: whole('Maximum size of a result in bytes.'),
    timeoutMs: whole(
      'Timeout of a call in milliseconds. A value from the call or the tool wins over that of the profile.',
    ),
    retries: whole('Maximum number of retries.', 0),
    cacheMs: whole('Time in milliseconds for which a result is cached.', 0),
    approvalTimeoutMs: whole(
      'Time in milliseconds to answer an approval request; default: the value of extensions.approval.',
    ),
    price: { type: 'number', minimum: 0, description: 'Cost of one call, counted against budgets.' },
    budgets: list(
      typed(
        'Budget',
        object<Omit<Budget, 'of'>>(
          'At most amount of the price unit per perMs.',
          { scope, amount: { type: 'number', minimum: 0, description: 'Maximum total cost.' }, perMs },
          ['scope', 'amount', 'perMs'],
        ),
        'core/policy.ts',
      ),
      'Limits on the cost of calls. A call must stay within all of them.',
    ),
  }),
);

/** Limits on stored records that callers create; `things` is their plural name. */
export function keepBoundNodes(
  things: string,
  { maxPerCaller, maxBytesPerCaller, maxTotal, maxTotalBytes }: KeepBounds = DEFAULT_KEEP_BOUNDS,
): Readonly<Record<keyof KeepBounds, SchemaNode>> {
  return {
    maxPerCaller: whole(
      `Maximum number of ${things} per caller; default ${maxPerCaller}. Further calls fail with rate_limited.`,
    ),
    maxBytesPerCaller: whole(`Maximum size in bytes of the ${things} per caller; default ${maxBytesPerCaller}.`),
    maxTotal: whole(`Maximum number of ${things} in total; default ${maxTotal}.`),
    maxTotalBytes: whole(`Maximum size in bytes of all ${things}; default ${maxTotalBytes}.`),
  };
}

/** The effects of a tool. */
export const effectsNode = typed(
  'Effects',
  object<Effects>('Effects of the tool. An absent effect is unknown.', {
    readOnly: flag('The tool changes nothing.'),
    destructive: flag('The tool may delete or overwrite data.'),
    idempotent: flag('Repeating a call has no further effect.'),
    openWorld: flag('The tool reaches beyond this machine.'),
  }),
  'core/tool-spec.ts',
);

/** Conditions on the machine and the process. */
export const whenNode = typed(
  'WhenConfig',
  object<Omit<When, 'predicate'>>(
    'Conditions on the machine and the process. If one is not met, the entry does not exist.',
    {
      env: names('Environment variables that must be set.'),
      platform: names('linux, darwin or win32.'),
      service: names('Services that must be available.'),
    },
  ),
);
