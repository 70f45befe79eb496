import type { Extension, PriorityName } from '../core/extension.ts';
import { isPromise, type MaybePromise } from '../core/json.ts';
import { readOptions } from '../core/known-keys.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';

// biome-ignore lint/suspicious/noConfusingVoidType: a hook that has nothing to say is written as a void function
type Nothing = void | undefined;

/** Hooks around a call, for those who think in before and after. */
export interface ExtensionHooks extends Pick<Extension, 'applies' | 'onStart' | 'onEnd' | 'onList' | 'close'> {
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
}

const KEYS = [
  'name',
  'priority',
  'unsafeOrder',
  'applies',
  'onStart',
  'onEnd',
  'onList',
  'close',
  'veto',
  'before',
  'after',
  'onError',
] as const;

/** Makes an extension of hooks. A hook that throws refuses the call. */
export function defineExtension(hooks: ExtensionHooks): Extension {
  const {
    veto,
    before,
    after,
    onError,
    priority = 'normal',
    ...rest
  } = readOptions<ExtensionHooks>(hooks, KEYS, 'An extension');
  if (typeof rest.name !== 'string' || rest.name === '')
    throw new ToolcribError('invalid_option', 'An extension needs a name.');
  if (veto === undefined && before === undefined && after === undefined && onError === undefined)
    return { ...rest, priority };
  return {
    ...rest,
    priority,
    async wrap(call, next) {
      const reason = await veto?.(call);
      if (typeof reason === 'string') return failed(toolError('denied', reason));
      if (reason) return failed(toolError('denied', `"${rest.name}" does not allow this call.`));
      const context = await before?.(call);
      const result = await next(isRecord(context) ? call.with(context) : call);
      if (result.status !== 'failed') return (await after?.(call, result)) ?? result;
      return onError === undefined ? result : recover(result, onError(call, result.error));
    },
  };
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
