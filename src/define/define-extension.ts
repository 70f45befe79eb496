import type { Extension, PriorityName } from '../core/extension.ts';
import { isPromise, type MaybePromise } from '../core/json.ts';
import { describe, didYouMean, nearest, readMember } from '../core/read-options.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { isClass } from '../system/modules/tool-class.ts';

// biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return value is a void function
type Nothing = void | undefined;

/** Hooks around a call, as an alternative to `wrap`. */
export interface ExtensionHooks
  extends Pick<Extension, 'defaults' | 'selectors' | 'applies' | 'onStart' | 'onEnd' | 'onList' | 'close'> {
  readonly name: string;
  readonly priority?: number | PriorityName;
  readonly unsafeOrder?: boolean;
  /** Returning a reason or `true` refuses the call with code `denied`. */
  veto?(call: ToolCall): MaybePromise<string | boolean | Nothing>;
  /** The returned object is added to `call.context` for all inner extensions and the tool. */
  before?(call: ToolCall): MaybePromise<Readonly<Record<string, unknown>> | Nothing>;
  /** May replace the result of a call that did not fail. */
  after?(call: ToolCall, result: ToolResult): MaybePromise<ToolResult | Nothing>;
  /** May replace the error, or return a result, which is marked as recovered. */
  onError?(call: ToolCall, error: ToolError): MaybePromise<ToolError | ToolResult | Nothing>;
  /** Older names of `before`, `after` and `onError`. */
  before_execute?: ExtensionHooks['before'];
  after_execute?: ExtensionHooks['after'];
  on_error?: ExtensionHooks['onError'];
}

/** An extension that a crib accepts: with `wrap` or with hooks, as an object or a class instance. */
export type ExtensionInput = Extension | ExtensionHooks;

/** Name, priority and order of an extension, as the configuration sets them. */
export type ExtensionPlace = Partial<Pick<Extension, 'name' | 'priority' | 'unsafeOrder'>>;

/** Older hook names and their current names. */
const OLDER = { before_execute: 'before', after_execute: 'after', on_error: 'onError' } as const;
/** Hooks that are combined into `wrap`. */
const GATE_HOOKS = ['veto', 'before', 'after', 'onError'] as const;
/** Members that make an extension take part in a call or a listing. */
export const HOOKS = ['wrap', ...GATE_HOOKS, 'onStart', 'onEnd', 'onList'] as const;
const FUNCTIONS = [...HOOKS, ...(Object.keys(OLDER) as (keyof typeof OLDER)[]), 'applies', 'close'] as const; // its own keys
const KEYS = [...FUNCTIONS, 'name', 'priority', 'unsafeOrder', 'defaults', 'selectors'] as const;

/** The known members of an extension, bound to it; hooks under their current names. */
type Members = Omit<ExtensionHooks, keyof typeof OLDER> & Pick<Extension, 'wrap'>;

/** Creates an extension from hooks. A hook that throws refuses the call. */
export function defineExtension(hooks: ExtensionHooks): Extension {
  return fromMembers({ priority: 'normal', ...readMembers(hooks) });
}

/** Converts an accepted value to an extension. Throws if it would never take part in a call. */
export function toExtension(given: unknown, place: ExtensionPlace = {}): Extension {
  const members = { ...readMembers(given, place.name), ...place };
  const made = fromMembers(members);
  const isKept = Object.keys(place).length === 0 && !usesHooks(members) && isPlain(given as object); // readMembers has checked it
  return isKept ? (given as Extension) : made; // the given object has exactly these members
}

function fromMembers(members: Members): Extension {
  requireHook(members);
  if (!usesHooks(members)) return members as Members & Extension; // its priority is checked when extensions are ordered
  const { veto, before, after, onError, ...rest } = members;
  const { name, priority = 'normal' } = rest;
  return {
    ...rest,
    name,
    priority,
    async wrap(call, next) {
      const reason = await veto?.(call);
      if (typeof reason === 'string') return failed(toolError('denied', reason));
      if (!isNothing(reason) && reason !== false)
        return failed(toolError('denied', `"${name}" does not allow this call.`));
      const context = requireContext(await before?.(call), name);
      const result = await next(context === undefined ? call : call.with(context));
      if (result.status !== 'failed') return (await after?.(call, result)) ?? result;
      return onError === undefined ? result : recover(result, onError(call, result.error));
    },
  };
}

/** Reads the context that `before` returned. Throws for anything else: the author meant to stop or change the call, and ignoring it would be unsafe. */
function requireContext(context: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  if (isNothing(context)) return undefined;
  const isResult = typeof context === 'object' && 'ok' in context && ('status' in context || context.ok === false);
  if (typeof context === 'object' && isPlain(context) && !Array.isArray(context) && !isResult)
    return context as Readonly<Record<string, unknown>>; // checked above
  const what = isResult ? 'a result' : describe(context);
  throw refusal(
    name,
    `must return a context object or nothing from before, got ${what}; to stop a call, return a reason from veto`,
  );
}

function isNothing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

async function recover(
  result: FailedResult,
  answer: MaybePromise<ToolError | ToolResult | Nothing>,
): Promise<ToolResult> {
  const instead = isPromise(answer) ? await answer : answer;
  if (!isRecord(instead)) return result;
  if ('code' in instead) return { ...result, error: instead };
  return instead.ok ? { ...instead, recovered: true } : instead;
}

function isRecord<T>(value: T): value is Extract<T, object> {
  return typeof value === 'object' && value !== null;
}

/** True for the name of a hook, current or older. */
export function isHook(name: string): boolean {
  return [...HOOKS, ...Object.keys(OLDER)].some((hook) => hook === name);
}

function usesHooks(members: Members): boolean {
  return GATE_HOOKS.some((hook) => members[hook] !== undefined);
}

function requireHook({ name, defaults, ...members }: Members): void {
  const hooks = GATE_HOOKS.filter((hook) => members[hook] !== undefined);
  if (members.wrap !== undefined && hooks.length > 0)
    throw refusal(name, `has both wrap and ${hooks[0]}; move the code of ${hooks[0]} into wrap`);
  if (defaults !== undefined || HOOKS.some((hook) => members[hook] !== undefined)) return;
  throw refusal(name, `has no hook and would never take part in a call; give it one of ${HOOKS.join(', ')}`);
}

function readMembers(given: unknown, placeName?: string): Members {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const advice = isClass(given) ? `; write new ${given.name}()` : '';
    throw new ToolcribError('invalid_option', `An extension must be an object, got ${describe(given)}${advice}.`);
  }
  const name = placeName ?? readMember(given, 'name', 'An extension');
  if (typeof name !== 'string' || name === '') throw new ToolcribError('invalid_option', 'An extension needs a name.');
  try {
    requireKnown(given, name);
  } catch (cause) {
    if (cause instanceof ToolcribError) throw cause;
    throw new ToolcribError('invalid_option', `Extension "${name}" cannot be read.`, { cause }); // a proxy may throw
  }
  const members: Record<string, unknown> = { name };
  for (const key of KEYS) {
    const value = key === 'name' ? undefined : readMember(given, key, `extension "${name}"`);
    if (value === undefined && !isHidden(given, key)) continue;
    if (value === undefined)
      throw refusal(
        name,
        `has a field "${key}" without a value, which hides the method of its class; remove the field`,
      );
    const newer = key in OLDER ? OLDER[key as keyof typeof OLDER] : key; // checked by `in`
    if (members[newer] !== undefined) throw refusal(name, `has both ${newer} and ${key}; keep one`);
    members[newer] = isFunctionKey(key) ? bound(given, value, `"${key}" of extension "${name}"`) : value;
  }
  // The crib recognizes a built-in by its symbol members.
  const kept = Object.getOwnPropertySymbols(given).map((symbol) => [symbol, Reflect.get(given, symbol)] as const);
  Object.assign(members, Object.fromEntries(kept));
  return members as unknown as Members; // every key is one of its keys, and hooks are functions
}

/** True for a class method that an undefined field hides: `veto?: Veto;` in a class creates such a field. */
function isHidden(given: object, key: string): boolean {
  return ownersOf(given).some((owner) => typeof Object.getOwnPropertyDescriptor(owner, key)?.value === 'function');
}

function isFunctionKey(key: string): boolean {
  return FUNCTIONS.some((name) => name === key);
}

// Methods keep their `this`.
function bound(owner: object, value: unknown, what: string): unknown {
  if (typeof value === 'function') return value.bind(owner);
  throw new ToolcribError('invalid_option', `${what} must be a function, got ${describe(value)}.`);
}

/** Rejects an object with an unknown member, and an instance with a method that looks like a misspelled hook. */
function requireKnown(given: object, name: string): void {
  for (const [key, isCallable] of membersOf(given)) {
    if (KEYS.some((known) => known === key)) continue;
    if (isPlain(given)) throw refusal(name, `has an unknown member "${key}"`, didYouMean(key, KEYS));
    const hook = isCallable ? hookMeantBy(key) : undefined;
    if (hook === undefined) continue;
    const cure = 'rename it, or start its name with "_" or "#" if it is not a hook';
    throw refusal(name, `has a method "${key}", which is not a hook; ${cure}`, ` Did you mean "${hook}"?`);
  }
}

/** The hook that a method name probably misspells. */
function hookMeantBy(method: string): string | undefined {
  if (method.startsWith('_')) return undefined;
  const hooks = FUNCTIONS.filter((name) => name !== 'close'); // else a method such as clone would count
  const near = nearest(method, hooks) ?? nearest(method.replaceAll('_', ''), hooks);
  if (near !== undefined) return near;
  if (/^on[A-Z_]/.test(method)) return 'onError';
  if (/veto/i.test(method)) return 'veto';
  if (/^pre(?=[A-Z_])|(execute|call|run)_?before$/.test(method.replace('Before', 'before'))) return 'before';
  if (/^post(?=[A-Z_])|(execute|call|run)_?after$/.test(method.replace('After', 'after'))) return 'after';
  return /^(before|after|wrap)(?=[A-Z_])/.exec(method)?.[1];
}

/** The names of its members, including those of its classes; true for methods and getters. */
function membersOf(given: object): ReadonlyMap<string, boolean> {
  const members = ownersOf(given)
    .toReversed()
    .flatMap((owner) => Object.entries(Object.getOwnPropertyDescriptors(owner)))
    .filter(([key]) => key !== 'constructor');
  return new Map(members.map(([key, { value, get }]) => [key, typeof value === 'function' || get !== undefined]));
}

/** The object itself, then the prototypes of its classes. */
function ownersOf(given: object): readonly object[] {
  const parent: object | null = Object.getPrototypeOf(given);
  const isTop = parent === null || Object.hasOwn(parent, 'isPrototypeOf'); // Object.prototype of any realm
  return isTop ? [given] : [given, ...ownersOf(parent)];
}

function isPlain(given: object): boolean {
  return ownersOf(given).length === 1;
}

function refusal(name: string, reason: string, guess = ''): ToolcribError {
  return new ToolcribError('invalid_option', `Extension "${name}" ${reason}.${guess}`);
}
