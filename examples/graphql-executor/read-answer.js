// @ts-check
import { done, failed, toolError } from 'toolcrib';
import { TooLarge, Unreachable } from './send-query.js';

/** @typedef {import('toolcrib').ToolSpec} ToolSpec */
/** @typedef {import('toolcrib').ToolResult} ToolResult */

/**
 * What the server's answer means.
 * @param {{ status: number, retryAfter: string | null, text: string }} answer
 * @param {ToolSpec} spec
 * @returns {ToolResult}
 */
export function toResult({ status, retryAfter, text }, spec) {
  const answer = parseAnswer(text);
  // Servers answer 400 to a query that they do not understand, and say in GraphQL what is wrong with it.
  if (answer !== undefined && status !== 401 && status !== 403 && status !== 429 && status < 500)
    return fromGraphql(answer);
  const words = `The server of "${spec.name}" answered with status ${status}.`;
  if (status === 401 || status === 403)
    return failed(toolError('upstream', `${words} Its owner can check the credential.`));
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  const later = { retryable: true, ...(seconds !== undefined && { retryAfterMs: seconds * 1000 }) };
  if (status === 429) return failed(toolError('rate_limited', words, later));
  if (status >= 500) return failed(toolError('upstream', words, isRepeatable(spec) ? later : {}));
  return failed(toolError('upstream', `What the server of "${spec.name}" answered is not GraphQL.`));
}

/**
 * An error is a failure even where the rest of the data came: a model that is told of success would not look for what is
 * missing. What came goes along.
 * @param {{ data?: import('toolcrib').JsonValue, errors?: readonly unknown[] }} answer
 * @returns {ToolResult}
 */
function fromGraphql({ data, errors = [] }) {
  if (errors.length === 0 && data !== undefined) return done(JSON.stringify(data), data);
  const words = errors.slice(0, 5).map(messageOf).join(' ');
  const error = toolError('tool_error', errors.length > 5 ? `${words} And ${errors.length - 5} more errors.` : words);
  if (data === undefined || data === null) return failed(error);
  return { ...failed(error), content: [{ type: 'text', text: `${words}\n${JSON.stringify(data)}` }], data };
}

/** @param {unknown} error */
function messageOf(error) {
  const { message } = Object(error);
  if (typeof message !== 'string' || message === '') return 'The server says that there is an error, and not which.';
  return message.length > 500 ? `${message.slice(0, 500).toWellFormed()}…` : message;
}

/**
 * The answer, if it is one of GraphQL: with data, or with a list of errors.
 * @param {string} text
 */
function parseAnswer(text) {
  try {
    const { data, errors } = Object(JSON.parse(text));
    if (errors !== undefined && !(Array.isArray(errors) && errors.length > 0)) return undefined;
    return data === undefined && errors === undefined ? undefined : { data, errors };
  } catch {
    return undefined;
  }
}

/**
 * What it means that no answer came. Messages say nothing of the address or the query: those are the owner's business.
 * @param {unknown} cause
 * @param {{ spec: ToolSpec, isEnded: boolean }} call
 * @returns {ToolResult}
 */
export function whyNoAnswer(cause, { spec, isEnded }) {
  const { name } = spec;
  if (isEnded) return failed(toolError('cancelled', `The call of "${name}" was cancelled.`, { cause }));
  if (cause instanceof TooLarge)
    return failed(toolError('too_large', `"${name}" answered with more than can be taken; ask for less.`, { cause }));
  if (cause instanceof Unreachable)
    return failed(toolError('unavailable', `The server of "${name}" cannot be reached.`, { retryable: true, cause }));
  // fetch() fails with a TypeError; whatever else is thrown has another reason, and was thrown before anything was sent.
  if (!(cause instanceof TypeError))
    return failed(toolError('unavailable', `"${name}" cannot be called; its owner can look at the log.`, { cause }));
  if (isRepeatable(spec))
    return failed(toolError('upstream', `The server of "${name}" was lost.`, { retryable: true, cause }));
  const advice = 'The call may have taken effect: check before you try again.';
  return failed(toolError('unknown_outcome', `The server of "${name}" was lost. ${advice}`, { cause }));
}

/** @param {ToolSpec} spec */
function isRepeatable({ effects }) {
  return effects.idempotent ?? effects.readOnly ?? false;
}
