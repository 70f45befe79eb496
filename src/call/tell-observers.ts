import type { Extension } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';

/** The extensions that are told when a call starts or ends. */
export function observersAmong(extensions: readonly Extension[]): readonly Extension[] {
  return extensions.filter((extension) => extension.onStart !== undefined || extension.onEnd !== undefined);
}

/** Tells observers about calls. An observer that fails is a warning, and the call goes on. */
interface Telling {
  tellStarts(observers: readonly Extension[], call: ToolCall): void;
  /** Tells the innermost first. Returns the result. */
  tellEnds(observers: readonly Extension[], call: ToolCall, result: ToolResult): ToolResult;
}

export function createTelling(warn: (message: string) => void): Telling {
  const complain = (observer: Extension | undefined, cause: unknown) =>
    warn(`The observer "${observer?.name}" failed: ${messageOf(cause)}`);
  const tellStart = (observer: Extension, call: ToolCall): void => {
    try {
      const pending: unknown = observer.onStart?.(call);
      if (isPromise(pending)) pending.catch((cause) => complain(observer, cause));
    } catch (cause) {
      complain(observer, cause);
    }
  };
  const tellEnd = (observer: Extension | undefined, call: ToolCall, result: ToolResult): void => {
    try {
      const pending: unknown = observer?.onEnd?.(call, result);
      if (isPromise(pending)) pending.catch((cause) => complain(observer, cause));
    } catch (cause) {
      complain(observer, cause);
    }
  };
  return {
    tellStarts(observers, call) {
      for (const observer of observers) tellStart(observer, call);
    },
    tellEnds(observers, call, result) {
      if (observers.length > 0) Object.freeze(result); // they must not change it
      for (let index = observers.length - 1; index >= 0; index--) tellEnd(observers[index], call, result);
      return result;
    },
  };
}
