import { messageOf, type ToolError, toolError } from './tool-error.ts';
import type { FailedResult, ToolResult } from './tool-result.ts';

/** Takes the values of secrets out of a text. */
export type Redact = (text: string) => string;

/** A result as it may be kept: without the values of secrets. */
export function redactResult(result: ToolResult, redact: Redact): ToolResult {
  return result.status === 'failed' ? redactFailure(result, redact) : redactData(result, redact);
}

/** Data without the values of secrets. */
export function redactData<T>(data: T, redact: Redact): T {
  return tells(data, redact) ? cleaned(data, redact) : data;
}

/** A failure without the values of secrets. */
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

/** A cause that tells a secret is replaced by what may be said of it: nobody knows what else it holds. */
function redactCause(cause: unknown, redact: Redact): unknown {
  let at: unknown = cause;
  for (let count = 0; at !== undefined && count < MAX_CAUSES; count++) {
    const said = [messageOf(at, ''), at instanceof Error ? at.stack : ''];
    if (tells(said, redact)) return new Error(redact(messageOf(cause)));
    at = at instanceof Error ? at.cause : undefined;
  }
  return cause;
}

/** True if any text in the value holds a secret. */
function tells(value: unknown, redact: Redact, seen: Set<object> = new Set()): boolean {
  if (typeof value === 'string') return redact(value) !== value;
  if (typeof value === 'number') return tells(String(value), redact); // a secret may be made of digits alone
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  return Object.entries(value).some(([key, member]) => redact(key) !== key || tells(member, redact, seen));
}

/** A copy of the value in which no text holds a secret. */
function cleaned<T>(value: T, redact: Redact, copies: Map<object, unknown> = new Map()): T {
  if (typeof value === 'string') return redact(value) as T; // a text for a text
  if (typeof value === 'number') return (tells(value, redact) ? redact(String(value)) : value) as T; // in free data only
  if (typeof value !== 'object' || value === null) return value;
  if (copies.has(value)) return copies.get(value) as T; // the copy of this very object
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
  copies.set(value, copy); // before its members: one of them may lead back here
  for (const [key, member] of Object.entries(value)) {
    if (key !== '__proto__') Object.assign(copy, { [redact(key)]: cleaned(member, redact, copies) });
  }
  return copy as T; // of the same shape
}
