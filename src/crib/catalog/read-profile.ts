import type { ProfileConfig, RuleConfig, SearchPreferencesConfig } from '../../config/types/config.ts';
import type { ProfileSet } from '../../core/catalog.ts';
import { isRecord, type JsonSchema } from '../../core/json.ts';
import { ownedBy } from '../../core/policy.ts';
import type { Schemas } from '../../core/ports/crib-context.ts';
import type { Profile, ProfileRule, SearchPreferences } from '../../core/profile.ts';
import { defined, describe, didYouMean, readOptions } from '../../core/read-options.ts';
import { compileSelector, type Selector } from '../../core/selector.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { listOf } from '../../core/visible-text.ts';
import { readData } from '../../define/define-tool.ts';
import { readPolicy } from '../../define/read-policy.ts';
import { withImpliedTypes } from '../../schemas/implied-types.ts';

/** A profile as authors write it. A single name is accepted instead of a list. */
export type ProfileInput = ProfileConfig;

const KEYS = [
  'description',
  'include',
  'exclude',
  'essential',
  'active',
  'expose',
  'search',
  'approve',
  'policy',
  'settings',
  'rules',
  'delegate',
] as const;
const EXPOSURES = ['all', 'search', 'script'];

/** Checks and normalizes a profile. */
export function readProfile(name: string, value: unknown): Profile {
  const what = `Profile "${name}"`;
  const given = readOptions<ProfileConfig>(value, KEYS, what);
  if (given.expose !== undefined && !EXPOSURES.includes(given.expose)) {
    throw new ToolcribError(
      'invalid_option',
      `${what}: expose must be one of ${EXPOSURES.join(', ')}, got ${describe(given.expose)}.`,
    );
  }
  if (given.description !== undefined && typeof given.description !== 'string')
    throw new ToolcribError(
      'invalid_option',
      `${what}: description must be a text, got ${describe(given.description)}.`,
    );
  return Object.freeze({
    ...given,
    name,
    include: readSelectors(given.include, `${what}: include`),
    exclude: readSelectors(given.exclude, `${what}: exclude`),
    search: readPreferences(given.search, `${what}: search`),
    approve: readSelectors(given.approve, `${what}: approve`),
    essential: readNames(given.essential, `${what}: essential`),
    active: readNames(given.active, `${what}: active`),
    policy: ownedBy(readPolicy(given.policy, `profile "${name}"`), `profile:${name}`),
    rules: readRules(given.rules, `${what}: rules`),
    settings: readData(given.settings ?? {}, `${what}: settings`),
    delegate: readDelegate(given.delegate, `${what}: delegate`),
  } as Profile); // absent lists are undefined
}

/** Throws if a profile names a bundle that does not exist. */
export function requireBundles({ byName }: Pick<ProfileSet, 'byName'>, known: ReadonlySet<string>): void {
  const [first] = unknownBundles(byName.values(), known);
  if (first === undefined) return;
  const { profile, key, name } = first;
  throw new ToolcribError(
    'unknown_bundle',
    `Profile "${profile}": ${key} names the bundle "${name}", which does not exist.${didYouMean(name, known)}`,
  );
}

/** True if every bundle that a profile names exists. */
export function knowsBundles({ byName }: Pick<ProfileSet, 'byName'>, known: ReadonlySet<string>): boolean {
  return unknownBundles(byName.values(), known).length === 0;
}

function unknownBundles(profiles: Iterable<Profile>, known: ReadonlySet<string>) {
  return [...profiles].flatMap((profile) =>
    (['essential', 'active'] as const).flatMap((key) =>
      (profile[key] ?? []).filter((name) => !known.has(name)).map((name) => ({ profile: profile.name, key, name })),
    ),
  );
}

const DELEGATIONS = ['closed', 'ask', 'open'];

/** The targets that are not closed; undefined without any. */
function readDelegate(value: unknown, what: string): Profile['delegate'] {
  if (value === undefined) return undefined;
  if (!isRecord(value))
    throw new ToolcribError('invalid_option', `${what} must be a map of profiles, got ${describe(value)}.`);
  const wrong = Object.entries(value).find(([, mode]) => !DELEGATIONS.includes(mode as string));
  if (wrong !== undefined)
    throw new ToolcribError(
      'invalid_option',
      `${what}: ${wrong[0]} must be one of ${DELEGATIONS.join(', ')}, got ${describe(wrong[1])}.`,
    );
  const targets = Object.entries(value).filter(([, mode]) => mode !== 'closed');
  return targets.length === 0 ? undefined : (Object.freeze(Object.fromEntries(targets)) as Profile['delegate']); // checked above
}

function readRules(value: unknown, what: string): readonly ProfileRule[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value))
    throw new ToolcribError('invalid_option', `${what} must be a list, got ${describe(value)}.`);
  return Object.freeze(Array.from(value, (entry, index) => readRule(entry, `${what}[${index}]`))); // holes become undefined
}

function readRule(value: unknown, what: string): ProfileRule {
  const { tools, when, otherwise } = readOptions<RuleConfig>(value, ['tools', 'when', 'otherwise'], what);
  if (otherwise !== 'approve' && otherwise !== 'deny')
    throw new ToolcribError(
      'invalid_option',
      `${what}: otherwise must be approve or deny, got ${describe(otherwise)}.`,
    );
  if (typeof when !== 'object' || when === null || Array.isArray(when))
    throw new ToolcribError(
      'invalid_option',
      `${what}: when must be a JSON Schema of the arguments, got ${describe(when)}.`,
    );
  const selectors = readSelectors(tools, `${what}: tools`);
  if (selectors === undefined)
    throw new ToolcribError('invalid_option', `${what} has no tools; add selectors of the tools that it applies to.`);
  return Object.freeze({ tools: selectors, when: readData(when, `${what}: when`) as JsonSchema, otherwise }); // checked above
}

function readSelectors(value: unknown, what: string): readonly Selector[] | undefined {
  if (value === undefined) return undefined;
  const selectors = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(selectors))
    throw new ToolcribError('invalid_selector', `${what} must be a list of selectors, got ${describe(value)}.`);
  for (const selector of selectors) compileSelector(selector);
  return Object.freeze([...selectors]);
}

function readPreferences(value: unknown, what: string): SearchPreferences | undefined {
  if (value === undefined) return undefined;
  const given = readOptions<SearchPreferencesConfig>(value, ['pin', 'boost', 'bury'], what);
  const read = (key: keyof SearchPreferences) => readSelectors(given[key], `${what}: ${key}`);
  return Object.freeze(defined({ pin: read('pin'), boost: read('boost'), bury: read('bury') }));
}

function readNames(value: unknown, what: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const names = listOf(value as string | readonly string[]); // checked on the next line
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    throw new ToolcribError('invalid_option', `${what} must be a list of bundle names, got ${describe(value)}.`);
  }
  return Object.freeze([...names]);
}

/** Throws for a rule that cannot be evaluated, as ignoring it would allow every call. */
export function requireRules(profiles: Iterable<Profile>, schemas: Schemas): void {
  for (const { name, rules = [] } of profiles) {
    for (const [index, { when }] of rules.entries()) {
      const problem =
        problemOf(() => schemas.parser(when)) ??
        schemas.problems(when)[0] ??
        problemOf(() => schemas.parser(withImpliedTypes(when)));
      if (problem === undefined) continue;
      const message = `Profile "${name}": rules[${index}]: when is not a usable JSON Schema: ${problem}`;
      throw new ToolcribError('invalid_schema', message.endsWith('.') ? message : `${message}.`);
    }
  }
}

function problemOf(compile: () => unknown): string | undefined {
  try {
    compile();
    return undefined;
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return messageOf(cause);
  }
}
