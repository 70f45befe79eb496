import type { AccessClause, Hours } from '../core/access-clause.ts';
import { APPROVAL_MODES, type Budget, type Rate, SCOPES, type Slots } from '../core/policy.ts';
import { DEFAULT_KEEP_BOUNDS, type KeepBounds } from '../core/ports/stored-results.ts';
import type { Effects, When } from '../core/tool-spec.ts';
import { choice, either, flag, list, object, oneOrMany, type SchemaNode, text, typed, whole } from './schema-node.ts';

/** Names, one or many. */
export function names(description: string): SchemaNode {
  return oneOrMany(text('A name.'), description);
}

/** Selectors in one list: names, globs, prefixes, criteria. */
export function selectors(description: string): SchemaNode {
  const word = text('A name or glob; or bundle: tag: source: category: kind: with a glob.', { use: 'selector' });
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

const scope = choice(SCOPES, 'Whose calls are counted together.');
const perMs = whole('The length of the window in milliseconds.');

const time = text('HH:MM', { pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', says: 'a time such as "09:30", in quotes' });
const hours = object<Hours>(
  'Hours of the day; an end before the start crosses midnight.',
  {
    from: time,
    to: time,
    timeZone: text('An IANA name; UTC if absent.'),
    days: list(whole('1 Monday to 7 Sunday.', 1, 7), 'The days on which the hours begin; every day if absent.'),
  },
  ['from', 'to'],
);

const clause = typed(
  'AccessClause',
  object<AccessClause>('A condition on the caller; every part must hold.', {
    roles: list(text('A role.'), 'Any one of these.'),
    users: list(text('A caller id.'), 'Any one of these.'),
    permissions: list(text('A permission.'), 'All of these.'),
    hours,
    deny: object<NonNullable<AccessClause['deny']>>('Beats everything that allows.', {
      roles: list(text('A role.'), 'None of these.'),
      users: list(text('A caller id.'), 'None of these.'),
    }),
  }),
  'core/access-clause.ts',
);

/** How often calls may be made. */
export const ratesNode = list(
  typed(
    'Rate',
    object<Omit<Rate, 'of'>>('At most amount calls per perMs.', { scope, amount: whole('Calls.'), perMs }, [
      'scope',
      'amount',
      'perMs',
    ]),
    'core/policy.ts',
  ),
  'How often calls may be made; all must hold.',
);

/** How many calls may run at the same time. */
export const slotsNode = list(
  typed(
    'Slots',
    object<Omit<Slots, 'of'>>('At most amount calls at the same time.', { scope, amount: whole('Calls.') }, [
      'scope',
      'amount',
    ]),
    'core/policy.ts',
  ),
  'How many calls may run at the same time; all must hold.',
);

/** What a call is held to. */
export const policyNode = typed(
  'PolicyConfig',
  object('What a call is held to.', {
    approval: choice(APPROVAL_MODES, 'When a person must say yes.'),
    approvers: oneOrMany(
      text('operator, caller or role:NAME.', {
        pattern: '^(operator|caller|role:.+)$',
        says: 'operator, caller or role:NAME',
        typeName: 'Approver',
        typeFrom: 'core/policy.ts',
      }),
      'Who may say yes, besides an operator.',
    ),
    access: either('Who may call.', clause, { type: 'array', items: clause }),
    rates: ratesNode,
    concurrency: slotsNode,
    maxTimeoutMs: whole('No call may take longer.'),
    maxResultBytes: whole('No result may be larger.'),
    timeoutMs: whole('How long a call may take where nothing nearer says so.'),
    retries: whole('How often a call is tried again.', 0),
    cacheMs: whole('How long a result may be used again.', 0),
    approvalTimeoutMs: whole(
      'How long a person has to answer whether a call may run; that of extensions.approval if absent.',
    ),
    price: { type: 'number', minimum: 0, description: 'What one call costs, counted against budgets.' },
    budgets: list(
      typed(
        'Budget',
        object<Omit<Budget, 'of'>>(
          'At most amount of the price unit per perMs.',
          { scope, amount: { type: 'number', minimum: 0, description: 'The sum.' }, perMs },
          ['scope', 'amount', 'perMs'],
        ),
        'core/policy.ts',
      ),
      'What calls may cost; all must hold.',
    ),
  }),
);

/** Bounds on what callers can make the crib keep; `things` names it in the plural. */
export function keepBoundNodes(things: string): Readonly<Record<keyof KeepBounds, SchemaNode>> {
  const { maxPerCaller, maxBytesPerCaller, maxTotal, maxTotalBytes } = DEFAULT_KEEP_BOUNDS;
  return {
    maxPerCaller: whole(
      `How many ${things} one caller may have; default ${maxPerCaller}. Beyond it calls answer rate_limited.`,
    ),
    maxBytesPerCaller: whole(`How many bytes the ${things} of one caller may take; default ${maxBytesPerCaller}.`),
    maxTotal: whole(`How many ${things} there may be in all; default ${maxTotal}.`),
    maxTotalBytes: whole(`How many bytes all ${things} may take together; default ${maxTotalBytes}.`),
  };
}

/** What a tool does to the world. */
export const effectsNode = typed(
  'Effects',
  object<Effects>('What the tool does to the world; absent means unknown.', {
    readOnly: flag('It changes nothing.'),
    destructive: flag('It may destroy something.'),
    idempotent: flag('Doing it twice does no more than doing it once.'),
    openWorld: flag('It reaches beyond this machine.'),
  }),
  'core/tool-spec.ts',
);

/** Conditions of this machine and process. */
export const whenNode = typed(
  'WhenConfig',
  object<Omit<When, 'predicate'>>('It exists only where all of this holds.', {
    env: names('Environment variables that are set.'),
    platform: names('linux, darwin, win32.'),
    service: names('Services that are there.'),
  }),
);
