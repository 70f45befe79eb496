import type { ExtensionRecord } from '../config/records.ts';
import { isPromise } from '../core/json.ts';
import type { Schemas } from '../core/ports/crib-context.ts';
import { afterwards } from '../core/ports/pending-result.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError, toolError } from '../core/tool-error.ts';
import { failed, type ToolResult, textOf } from '../core/tool-result.ts';
import type { Parse, Parsed } from '../core/tool-spec.ts';

/** Validates the result of a tool against its output schema, if it has one. */
export const validateOutput: ExtensionRecord = {
  name: 'validateOutput',
  priority: 160,
  reason: 'innermost: a result that violates its schema is a failure',
  make(_options, { schemas }) {
    const check = (call: ToolCall, result: ToolResult): ToolResult | Promise<ToolResult> => {
      if (!result.ok) return result;
      const parse = parserOf(schemas, call);
      if (typeof parse !== 'function') return parse;
      const parsed = parse(result.data === undefined ? textOf(result) : result.data);
      return isPromise(parsed) ? parsed.then((settled) => judge(call, result, settled)) : judge(call, result, parsed);
    };
    return {
      applies: (spec) => spec.output !== undefined,
      wrap: (call, next) => afterwards(next(call), (result) => check(call, result)),
    };
  },
};

function parserOf(schemas: Schemas, call: ToolCall): Parse | ToolResult {
  try {
    return schemas.output(call.spec);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return failed(
      toolError('invalid_output', `The result of "${call.spec.name}" cannot be validated: ${cause.message}`, { cause }),
    );
  }
}

function judge(call: ToolCall, result: ToolResult, parsed: Parsed): ToolResult {
  if (parsed.ok) return result;
  return failed(
    toolError('invalid_output', `"${call.spec.name}" returned a result that does not match its output schema.`, {
      issues: parsed.issues,
    }),
  );
}
