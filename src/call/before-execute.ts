import type { Question } from '../core/approval-request.ts';
import { hasHadItsRun } from '../core/begun-runs.ts';
import { freezeJson, isJson, isJsonObject, type JsonObject } from '../core/json.ts';
import { FACTS, PARSED } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { type FailedResult, failed } from '../core/tool-result.ts';
import { readNeed, type ToolSpec, type Withheld } from '../core/tool-spec.ts';
import type { Call } from './call.ts';

/** The call as its executor gets it: with the arguments that were withheld from the caller. Nobody further out sees them. */
export function restoreWithheld(call: Call, withheld: Withheld): Call {
  const checked = call[PARSED];
  const merged = { ...withoutHidden(call.input, withheld), ...withheld.values };
  // Validation has put everything together. Whoever took its place knows nothing of what is withheld.
  const parsed = checked === call.input ? merged : checked;
  const input = isJson(parsed) && isJsonObject(parsed) ? parsed : merged;
  return call.withInput(freezeJson(input), parsed);
}

function withoutHidden(input: JsonObject, { hidden }: Withheld): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !hidden.includes(name)));
}

/** The extension that asks is off, or another one stands in its place: what a rule wants asked does not run unasked. */
export function unasked({ name }: ToolSpec, { reason }: Question): FailedResult {
  return failed(toolError('denied', `"${name}" needs a person's approval because ${reason}, and nobody asks here.`));
}

/** The tool may have been taken back since its source was last seen. */
export function unconfirmed({ name, source }: ToolSpec): FailedResult {
  return failed(toolError('unavailable', `"${name}" cannot be called while its source "${source}" cannot be reached.`));
}

/** The tool has run; or the call ended without beginning, and another one may run in its place by now. */
export function notAgain(call: Call): FailedResult {
  if (!hasHadItsRun(call)) return failed(toolError('cancelled', 'The call has ended before it began.'));
  const { name } = call.spec;
  const isApproved = call[FACTS].approval !== undefined;
  const message = isApproved
    ? `"${name}" was approved for one run, and has run.`
    : `"${name}" has run, and is not run again: it is neither idempotent nor read-only.`;
  return failed(toolError('conflict', message));
}

/** A service or setting that the tool needs is not configured. */
export function missingNeed(call: Call, needs: readonly string[]): FailedResult | undefined {
  for (const need of needs) {
    const { name, isSetting, isOptional } = readNeed(need);
    if (isOptional || (isSetting ? call.settings : call.services)[name] !== undefined) continue;
    const what = `the ${isSetting ? 'setting' : 'service'} "${name}"`;
    return failed(toolError('unavailable', `"${call.spec.name}" needs ${what}, which is not configured.`));
  }
  return undefined;
}
