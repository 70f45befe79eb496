import type { ExtensionRecord } from '../config/records.ts';
import { FORESEE, type Next } from '../core/extension.ts';
import type { MaybePromise } from '../core/json.ts';
import { stoppableOf, stoppedError } from '../core/ports/stored-stops.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { failed, type ToolResult } from '../core/tool-result.ts';

/** Refuses calls that an operator has stopped. Without stops it costs one comparison. */
export const stops: ExtensionRecord = {
  name: 'stops',
  priority: 960,
  reason: 'a call stopped by an operator takes no slot, requests no approval and uses up nothing',
  make(_options, { stops: inForce }) {
    const refuseOrGoOn = (call: ToolCall, next: Next): MaybePromise<ToolResult> => {
      const covering = inForce.covering(stoppableOf(call));
      if (covering.length === 0) return next(call);
      call[FACTS].isStopped = true;
      return failed(stoppedError(call.spec.name, covering));
    };
    return {
      wrap(call, next) {
        if (inForce.isOpen) return next(call);
        return inForce.isKnown ? refuseOrGoOn(call, next) : whenKnown(call, next);
      },
      async [FORESEE](call) {
        const covering = inForce.covering(stoppableOf(call));
        const error =
          (await inForce.known()) ?? (covering.length === 0 ? undefined : stoppedError(call.spec.name, covering));
        if (error !== undefined) return { verdict: 'refuse', says: error.message, error };
        return { verdict: 'pass', says: 'No emergency stop covers the call.' };
      },
    };

    async function whenKnown(call: ToolCall, next: Next): Promise<ToolResult> {
      const error = await inForce.known();
      return error === undefined ? refuseOrGoOn(call, next) : failed(error);
    }
  },
};
