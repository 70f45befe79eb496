import { freezeJson, isJson, isJsonObject, type JsonObject } from '../core/json.ts';
import { PARSED } from '../core/tool-call.ts';
import type { Withheld } from '../core/tool-spec.ts';
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
