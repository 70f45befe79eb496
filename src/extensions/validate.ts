import type { ExtensionRecord } from '../config/records.ts';
import { FORESEE } from '../core/extension.ts';
import { freezeJson, isJson, isJsonObject, isPromise } from '../core/json.ts';
import type { Schemas } from '../core/ports/crib-context.ts';
import { SETTLE, type ToolCall } from '../core/tool-call.ts';
import { ToolcribError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed } from '../core/tool-result.ts';
import type { Parse, Parsed, ToolSpec } from '../core/tool-spec.ts';

/** Validates arguments by the dialect of their schema and fills in defaults, on a copy. */
export const validate: ExtensionRecord = {
  name: 'validate',
  priority: 850,
  reason: 'everything further in sees valid, frozen arguments',
  make: (_options, { schemas }) => ({
    wrap(call, next) {
      const parse = parserOf(schemas, call.spec);
      if (typeof parse !== 'function') return parse;
      const parsed = parse(call.input);
      if (isPromise(parsed))
        return parsed.then((settled) => (settled.ok ? next(settle(call, settled)) : refuse(call, settled)));
      return parsed.ok ? next(settle(call, parsed)) : refuse(call, parsed);
    },
    async [FORESEE](call) {
      const parse = parserOf(schemas, call.spec);
      const parsed = typeof parse === 'function' ? await parse(call.input) : undefined;
      if (parsed?.ok === true) return { verdict: 'pass', says: 'The arguments are valid.', call: settle(call, parsed) };
      const { error } = parsed === undefined ? (parse as FailedResult) : refuse(call, parsed); // not a function, so a failure
      return { verdict: 'refuse', says: error.message, error };
    },
  }),
};

function parserOf(schemas: Schemas, spec: ToolSpec): Parse | FailedResult {
  try {
    return schemas.input(spec);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return failed(toolError('unavailable', `"${spec.name}" cannot be called: ${cause.message}`, { cause }));
  }
}

// Shown, hashed and approved arguments must be JSON. A value parsed by the author's schema (a Date, say) is only for the tool.
function settle(call: ToolCall, { value, given }: Extract<Parsed, { ok: true }>): ToolCall {
  if (value === call.input) return call;
  const input = given ?? (isJson(value) && isJsonObject(value) ? value : call.input);
  return call[SETTLE](freezeJson(input), value);
}

function refuse(call: ToolCall, { issues }: Extract<Parsed, { ok: false }>): FailedResult {
  const message = `The arguments of "${call.spec.name}" are not valid. Correct them and call again.`;
  return failed(toolError('invalid_input', message, { issues }));
}
