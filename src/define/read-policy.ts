import type { AccessClause, Hours } from '../core/access-clause.ts';
import { frozenCopy } from '../core/json.ts';
import {
  APPROVAL_MODES,
  type Approver,
  type Budget,
  LEAST_VALUES,
  LIMIT_KEYS,
  type Policy,
  type Rate,
  SCOPES,
  type Slots,
  TUNING_KEYS,
} from '../core/policy.ts';
import { describe, didYouMean, readOptions } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { listOf } from '../core/visible-text.ts';

/** A policy as authors write it. A single name or clause is accepted instead of a list. Rules belong to profiles. */
export interface PolicyInput extends Omit<Policy, 'access' | 'approvers' | 'rules'> {
  readonly access?: AccessClause | readonly AccessClause[];
  readonly approvers?: Approver | readonly Approver[];
}

const KEYS = [...LIMIT_KEYS, ...TUNING_KEYS].filter((key) => key !== 'rules');
const NO_POLICY: Policy = Object.freeze({});

/** Checks and normalizes a policy. Specs without a policy share one object. */
export function readPolicy(value: unknown, owner: string): Policy {
  if (value === undefined) return NO_POLICY;
  const what = `The policy of ${owner}`;
  const given = readOptions<PolicyInput>(value, KEYS, what);
  for (const [key, least] of Object.entries(LEAST_VALUES))
    requireNumber(given[key as keyof typeof LEAST_VALUES], least, `${what}: ${key}`); // LEAST_VALUES is a literal
  if (given.approval !== undefined) requireWord(given.approval, APPROVAL_MODES, `${what}: approval`);
  const { access, approvers, rates, concurrency, budgets, ...plain } = given;
  const policy: Policy = {
    ...plain,
    ...(approvers !== undefined && { approvers: readApprovers(approvers, what) }),
    ...(access !== undefined && { access: [access].flat().map((clause) => readClause(clause, what)) }),
    ...(rates !== undefined && {
      rates: readCounted<Rate>(rates, ['scope', 'amount', 'perMs', 'of'], `${what}: rates`),
    }),
    ...(concurrency !== undefined && {
      concurrency: readCounted<Slots>(concurrency, ['scope', 'amount', 'of'], `${what}: concurrency`),
    }),
    ...(budgets !== undefined && {
      budgets: readCounted<Budget>(budgets, ['scope', 'amount', 'perMs', 'of'], `${what}: budgets`, 0),
    }),
  };
  return frozenCopy(policy) as Policy; // a copy, so that the caller's object is not frozen
}

function readApprovers(value: Approver | readonly Approver[], what: string): readonly Approver[] {
  const approvers = listOf<Approver>(value);
  if (!Array.isArray(approvers))
    throw new ToolcribError('invalid_option', `${what}: approvers must be a list, got ${describe(value)}.`);
  for (const who of approvers) {
    if (who !== 'operator' && who !== 'caller' && !/^role:./.test(textOf(who))) {
      throw new ToolcribError(
        'invalid_option',
        `${what}: an approver must be "operator", "caller" or "role:NAME", got ${describe(who)}.`,
      );
    }
  }
  return approvers;
}

function readCounted<T extends Rate | Slots | Budget>(
  list: unknown,
  keys: readonly (keyof T & string)[],
  what: string,
  least = 1,
): readonly T[] {
  if (!Array.isArray(list)) throw new ToolcribError('invalid_option', `${what} must be a list, got ${describe(list)}.`);
  return list.map((entry) => {
    const item = readOptions<T>(entry, keys, what);
    requireWord(item.scope, SCOPES, `${what}: scope`);
    requireNumber(item.amount ?? null, least, `${what}: amount`);
    if (keys.some((key) => key === 'perMs')) requireNumber('perMs' in item ? item.perMs : null, 1, `${what}: perMs`);
    return item;
  });
}

function readClause(value: unknown, what: string): AccessClause {
  const clause = readOptions<AccessClause>(
    value,
    ['roles', 'users', 'permissions', 'hours', 'deny'],
    `${what}: access`,
  );
  const deny =
    clause.deny === undefined
      ? undefined
      : readOptions<NonNullable<AccessClause['deny']>>(clause.deny, ['roles', 'users'], `${what}: access.deny`);
  for (const list of [clause.roles, clause.users, clause.permissions, deny?.roles, deny?.users]) {
    if (list !== undefined && !(Array.isArray(list) && list.every((name) => typeof name === 'string'))) {
      throw new ToolcribError('invalid_option', `${what}: access must contain lists of names, got ${describe(list)}.`);
    }
  }
  return {
    ...clause,
    ...(deny && { deny }),
    ...(clause.hours !== undefined && { hours: readHours(clause.hours, what) }),
  };
}

function readHours(value: unknown, what: string): Hours {
  const hours = readOptions<Hours>(value, ['from', 'to', 'timeZone', 'days'], `${what}: hours`);
  for (const time of [hours.from, hours.to]) {
    if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(textOf(time)))
      throw new ToolcribError('invalid_option', `${what}: hours must be "HH:MM", got ${describe(time)}.`);
  }
  if (hours.from === hours.to) {
    throw new ToolcribError(
      'invalid_option',
      `${what}: hours from ${hours.from} to ${hours.to} are empty; omit hours to allow any time.`,
    );
  }
  if (hours.timeZone !== undefined) requireTimeZone(hours.timeZone, what);
  if (
    hours.days !== undefined &&
    !(Array.isArray(hours.days) && hours.days.every((day) => Number.isInteger(day) && day >= 1 && day <= 7))
  ) {
    throw new ToolcribError('invalid_option', `${what}: days must be numbers from 1 (Monday) to 7 (Sunday).`);
  }
  return hours;
}

function requireTimeZone(timeZone: string, what: string): void {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone });
  } catch (cause) {
    throw new ToolcribError(
      'invalid_option',
      `${what}: ${describe(timeZone)} is not a time zone; use an IANA name such as "Europe/Berlin".`,
      { cause },
    );
  }
}

/** The value if it is a string, else ''. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function requireWord(value: unknown, words: readonly string[], what: string): void {
  if (words.some((word) => word === value)) return;
  throw new ToolcribError(
    'invalid_option',
    `${what} must be one of ${words.join(', ')}, got ${describe(value)}.${didYouMean(textOf(value), words)}`,
  );
}

/** Throws unless the value is undefined or a number of at least `least`. */
export function requireNumber(value: unknown, least: number, what: string): void {
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= least)) return;
  throw new ToolcribError('invalid_option', `${what} must be a number of at least ${least}, got ${describe(value)}.`);
}
