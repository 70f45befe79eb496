import type { Extension, PriorityName } from '../core/extension.ts';
import { isPromise, type MaybePromise } from '../core/json.ts';
import { describe, didYouMean, nearest, readMember } from '../core/read-options.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { isClass } from '../system/modules/tool-class.ts';

// biome-ignore lint/suspicious/noConfusingVoidType: a hook that has nothing to say is written as a void function
type Nothing = void | undefined;

/** Hooks around a call, for those who think in before and after. */
export interface ExtensionHooks
  extends Pick<Extension, 'defaults' | 'selectors' | 'applies' | 'onStart' | 'onEnd' | 'onList' | 'close'> {
  readonly name: string;
  readonly priority?: number | PriorityName;
  readonly unsafeOrder?: boolean;
  /** A reason, or just `true`, refuses the call as `denied`. */
  veto?(call: ToolCall): MaybePromise<string | boolean | Nothing>;
  /** What it returns is added to `call.context` for everything further in. */
  before?(call: ToolCall): MaybePromise<Readonly<Record<string, unknown>> | Nothing>;
  /** May replace a result that is not a failure. */
  after?(call: ToolCall, result: ToolResult): MaybePromise<ToolResult | Nothing>;
  /** May replace the error, or turn it into a result, which is then marked as recovered. */
  onError?(call: ToolCall, error: ToolError): MaybePromise<ToolError | ToolResult | Nothing>;
  /** The same as `before`, `after` and `onError`, under the names that older extensions use. */
  before_execute?: ExtensionHooks['before'];
  after_execute?: ExtensionHooks['after'];
  on_error?: ExtensionHooks['onError'];
}

/** An extension as it may be handed to a crib: with a gate of its own, or with hooks. An instance of a class will do. */
export type ExtensionInput = Extension | ExtensionHooks;

/** What the owner of a configuration says about an extension. */
export type ExtensionPlace = Partial<Pick<Extension, 'name' | 'priority' | 'unsafeOrder'>>;

/** Hooks under their older names. */
const OLDER = { before_execute: 'before', after_execute: 'after', on_error: 'onError' } as const;
/** Hooks that become a gate. */
const GATE_HOOKS = ['veto', 'before', 'after', 'onError'] as const;
/** Members by which an extension takes part in a call or a listing. */
export const HOOKS = ['wrap', ...GATE_HOOKS, 'onStart', 'onEnd', 'onList'] as const;
const FUNCTIONS = [...HOOKS, ...(Object.keys(OLDER) as (keyof typeof OLDER)[]), 'applies', 'close'] as const; // its own keys
const KEYS = [...FUNCTIONS, 'name', 'priority', 'unsafeOrder', 'defaults', 'selectors'] as const;

/** The known members of an extension, bound to it; hooks under their newer names. */
type Members = Omit<ExtensionHooks, keyof typeof OLDER> & Pick<Extension, 'wrap'>;

/** Makes an extension of hooks. A hook that throws refuses the call. */
export function defineExtension(hooks: ExtensionHooks): Extension {
  return fromMembers({ priority: 'normal', ...readMembers(hooks) });
}

/** Whatever may stand for an extension, as one that takes part in calls; throws for one that would never do so. */
export function toExtension(given: unknown, place: ExtensionPlace = {}): Extension {
  const members = { ...readMembers(given, place.name), ...place };
  const made = fromMembers(members);
  const isKept = Object.keys(place).length === 0 && !usesHooks(members) && isPlain(given as object); // it has members
  return isKept ? (given as Extension) : made; // its members are those that were read
}

function fromMembers(members: Members): Extension {
  requireHook(members);
  if (!usesHooks(members)) return members as Members & Extension; // its priority is judged with its place among others
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

/** What `before` adds to the context. Whatever else it returns was meant to stop the call, or to change it, and would be passed over. */
function requireContext(context: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  if (isNothing(context)) return undefined;
  const isResult = typeof context === 'object' && 'ok' in context && 'status' in context;
  if (typeof context === 'object' && isPlain(context) && !Array.isArray(context) && !isResult)
    return context as Readonly<Record<string, unknown>>; // seen to be one
  const what = isResult ? 'a result' : describe(context);
  throw refusal(
    name,
    `must return an object for the context from before, or nothing, got ${what}; to stop a call return a reason from veto`,
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

/** True for the name of a member by which an extension takes part. */
export function isHook(name: string): boolean {
  return [...HOOKS, ...Object.keys(OLDER)].some((hook) => hook === name);
}

function usesHooks(members: Members): boolean {
  return GATE_HOOKS.some((hook) => members[hook] !== undefined);
}

function requireHook({ name, defaults, ...members }: Members): void {
  const hooks = GATE_HOOKS.filter((hook) => members[hook] !== undefined);
  if (members.wrap !== undefined && hooks.length > 0)
    throw refusal(name, `has both wrap and ${hooks[0]}; put what ${hooks[0]} does into wrap`);
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
    throw new ToolcribError('invalid_option', `Extension "${name}" cannot be read.`, { cause }); // a proxy may throw anywhere
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
    const newer = key in OLDER ? OLDER[key as keyof typeof OLDER] : key; // seen to be one
    if (members[newer] !== undefined) throw refusal(name, `has both ${newer} and ${key}; keep one`);
    members[newer] = isFunctionKey(key) ? bound(given, value, `"${key}" of extension "${name}"`) : value;
  }
  // What hangs under symbols is for the crib that takes the extension in: without it a built-in would not be known as one.
  const kept = Object.getOwnPropertySymbols(given).map((symbol) => [symbol, Reflect.get(given, symbol)] as const);
  Object.assign(members, Object.fromEntries(kept));
  return members as unknown as Members; // every key is one of its keys, and hooks are functions
}

/** True for a method of a class that a field without a value stands before: `veto?: Veto;` in a class makes one. */
function isHidden(given: object, key: string): boolean {
  return ownersOf(given).some((owner) => typeof Object.getOwnPropertyDescriptor(owner, key)?.value === 'function');
}

function isFunctionKey(key: string): boolean {
  return FUNCTIONS.some((name) => name === key);
}

// A method of a class needs its `this`, and so does one of an object that keeps its state in itself.
function bound(owner: object, value: unknown, what: string): unknown {
  if (typeof value === 'function') return value.bind(owner);
  throw new ToolcribError('invalid_option', `${what} must be a function, got ${describe(value)}.`);
}

/** Refuses an object with an unknown member, and an instance of a class with a method that looks like a misspelt hook. */
function requireKnown(given: object, name: string): void {
  for (const [key, isCallable] of membersOf(given)) {
    if (KEYS.some((known) => known === key)) continue;
    if (isPlain(given)) throw refusal(name, `has an unknown member "${key}"`, didYouMean(key, KEYS));
    const hook = isCallable ? hookMeantBy(key) : undefined;
    if (hook === undefined) continue;
    const cure = 'rename it, or begin its name with "_" or "#" if it is not meant as one';
    throw refusal(name, `has a method "${key}", which is not a hook; ${cure}`, ` Did you mean "${hook}"?`);
  }
}

/** The hook that the author of a method probably had in mind. */
function hookMeantBy(method: string): string | undefined {
  if (method.startsWith('_')) return undefined;
  const hooks = FUNCTIONS.filter((name) => name !== 'close'); // many a class has a method such as clone
  const near = nearest(method, hooks) ?? nearest(method.replaceAll('_', ''), hooks);
  if (near !== undefined) return near;
  if (/^on[A-Z_]/.test(method)) return 'onError';
  if (/veto/i.test(method)) return 'veto';
  if (/^pre(?=[A-Z_])|(execute|call|run)_?before$/.test(method.replace('Before', 'before'))) return 'before';
  if (/^post(?=[A-Z_])|(execute|call|run)_?after$/.test(method.replace('After', 'after'))) return 'after';
  return /^(before|after|wrap)(?=[A-Z_])/.exec(method)?.[1];
}

/** The names of its own members and of those of its classes, and whether they can be called. */
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
  const isTop = parent === null || Object.hasOwn(parent, 'isPrototypeOf'); // what every object inherits, of any realm
  return isTop ? [given] : [given, ...ownersOf(parent)];
}

function isPlain(given: object): boolean {
  return ownersOf(given).length === 1;
}

function refusal(name: string, reason: string, guess = ''): ToolcribError {
  return new ToolcribError('invalid_option', `Extension "${name}" ${reason}.${guess}`);
}
