import { messageOf, type ToolError, toolError } from './tool-error.ts';
import type { FailedResult, ToolResult } from './tool-result.ts';

/** Removes the values of secrets from a text. */
export type Redact = (text: string) => string;

/** Removes the values of secrets from a result. */
export function redactResult(result: ToolResult, redact: Redact): ToolResult {
  return result.status === 'failed' ? redactFailure(result, redact) : redactData(result, redact);
}

/** Removes the values of secrets from data. */
export function redactData<T>(data: T, redact: Redact): T {
  return tells(data, redact) ? cleaned(data, redact) : data;
}

/** Removes the values of secrets from a failure. */
export function redactFailure(result: FailedResult, redact: Redact): FailedResult {
  const { error, ...rest } = result;
  const cleanError = redactError(error, redact);
  if (!tells(rest, redact)) return cleanError === error ? result : { ...result, error: cleanError };
  return { ...cleaned(rest, redact), error: cleanError };
}

function redactError(error: ToolError, redact: Redact): ToolError {
  const cause = redactCause(error.cause, redact);
  if (cause === error.cause && !tells([error.message, error.issues], redact)) return error;
  const { code, message, retryable, retryAfterMs, issues } = error;
  return toolError(code, redact(message), {
    retryable,
    cause,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(issues !== undefined && { issues: cleaned(issues, redact) }),
  });
}

const MAX_CAUSES = 8;

/** Replaces a cause that contains a secret by its redacted message, because other fields may contain it, too. */
function redactCause(cause: unknown, redact: Redact): unknown {
  let at: unknown = cause;
  for (let count = 0; at !== undefined && count < MAX_CAUSES; count++) {
    const said = [messageOf(at, ''), at instanceof Error ? at.stack : ''];
    if (tells(said, redact)) return new Error(redact(messageOf(cause)));
    at = at instanceof Error ? at.cause : undefined;
  }
  return cause;
}

/** True if any text in the value contains a secret. */
function tells(value: unknown, redact: Redact, seen: Set<object> = new Set()): boolean {
  if (typeof value === 'string') return redact(value) !== value;
  if (typeof value === 'number') return tells(String(value), redact); // a secret may consist of digits
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  return Object.entries(value).some(([key, member]) => redact(key) !== key || tells(member, redact, seen));
}

/** Copies the value without secrets. */
function cleaned<T>(value: T, redact: Redact, copies: Map<object, unknown> = new Map()): T {
  if (typeof value === 'string') return redact(value) as T; // a text stays a text
  if (typeof value === 'number') return (tells(value, redact) ? redact(String(value)) : value) as T; // in free data only
  if (typeof value !== 'object' || value === null) return value;
  if (copies.has(value)) return copies.get(value) as T; // the copy of this object
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
  copies.set(value, copy); // before its members, which may refer back to it
  for (const [key, member] of Object.entries(value)) {
    if (key !== '__proto__') Object.assign(copy, { [redact(key)]: cleaned(member, redact, copies) });
  }
  return copy as T; // same shape
}
