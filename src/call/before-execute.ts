import type { Question } from '../core/approval-request.ts';
import { hasBegun, mayBeRepeated } from '../core/begun-runs.ts';
import { freezeJson, isJson, isJsonObject, type JsonObject } from '../core/json.ts';
import { FACTS, PARSED } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { type FailedResult, failed } from '../core/tool-result.ts';
import { readNeed, type ToolSpec, type Withheld } from '../core/tool-spec.ts';
import type { Call } from './call.ts';

/** The call for its executor, including the arguments withheld from the caller. Code further out does not see them. */
export function restoreWithheld(call: Call, withheld: Withheld): Call {
  const checked = call[PARSED];
  const merged = { ...withoutHidden(call.input, withheld), ...withheld.values };
  // Validation has merged all arguments. A replacement of validation knows nothing of withheld ones.
  const parsed = checked === call.input ? merged : checked;
  const input = isJson(parsed) && isJsonObject(parsed) ? parsed : merged;
  return call.withInput(freezeJson(input), parsed);
}

function withoutHidden(input: JsonObject, { hidden }: Withheld): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !hidden.includes(name)));
}

/** The refusal of a call whose rule requires approval while the approval extension is off or replaced. */
export function unasked({ name }: ToolSpec, { reason }: Question): FailedResult {
  return failed(
    toolError('denied', `"${name}" requires approval because ${reason}, but the approval extension is not active.`),
  );
}

/** The refusal of a tool that may have been removed since its source was last available. */
export function unconfirmed({ name, source }: ToolSpec): FailedResult {
  return failed(toolError('unavailable', `"${name}" cannot be called while its source "${source}" is not available.`));
}

/** The refusal of a second run, or of a run after the call has ended or was stopped: another call may have replaced it. */
export function notAgain(call: Call): FailedResult {
  if (!hasBegun(call)) return failed(toolError('cancelled', 'The call ended before its tool began.'));
  const { name } = call.spec;
  if (mayBeRepeated(call.spec)) return failed(toolError('cancelled', `"${name}" was stopped before it ran again.`));
  const isApproved = call[FACTS].approval !== undefined;
  const message = isApproved
    ? `"${name}" was approved for one run and has already run.`
    : `"${name}" has already run and cannot run again: it is neither idempotent nor read-only.`;
  return failed(toolError('conflict', message));
}

/** The refusal if a service or setting that the tool needs is not configured. */
export function missingNeed(call: Call, needs: readonly string[]): FailedResult | undefined {
  for (const need of needs) {
    const { name, isSetting, isOptional } = readNeed(need);
    if (isOptional || (isSetting ? call.settings : call.services)[name] !== undefined) continue;
    const what = `the ${isSetting ? 'setting' : 'service'} "${name}"`;
    return failed(toolError('unavailable', `"${call.spec.name}" needs ${what}, which is not configured.`));
  }
  return undefined;
}
