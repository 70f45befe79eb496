import type { JsonSchema } from '../../core/json.ts';
import type { SourceStatus } from '../../core/source.ts';

/** Schema of a text. */
export function text(description?: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'string', ...(description !== undefined && { description }), ...more };
}

/** Schema of a text with a maximum length. */
export function shortText(description: string, maxLength = 200): JsonSchema {
  return text(description, { minLength: 1, maxLength });
}

/** Schema of a time, as ISO 8601 in UTC. */
export function time(description?: string): JsonSchema {
  return text(description, { format: 'date-time' });
}

/** Schema of one of several words. */
export function choice(words: readonly string[], description?: string): JsonSchema {
  return text(description, { enum: words });
}

/** Schema of an integer. */
export function whole(description?: string, minimum = 0, maximum?: number): JsonSchema {
  const limits = { minimum, ...(maximum !== undefined && { maximum }) };
  return { type: 'integer', ...limits, ...(description !== undefined && { description }) };
}

/** Schema of a number. */
export function number(description?: string): JsonSchema {
  return { type: 'number', ...(description !== undefined && { description }) };
}

/** Schema of a boolean. */
export function flag(description?: string): JsonSchema {
  return { type: 'boolean', ...(description !== undefined && { description }) };
}

/** Schema of a list. */
export function list(items: JsonSchema, description?: string): JsonSchema {
  return { type: 'array', items, ...(description !== undefined && { description }) };
}

/** Schema of any JSON object. */
export function anyObject(description?: string): JsonSchema {
  return { type: 'object', ...(description !== undefined && { description }) };
}

/** Schema of any JSON value. */
export function anything(description: string): JsonSchema {
  return { description };
}

/** Schema of an object with exactly these members; a key that ends in `?` is optional. */
export function object(members: Readonly<Record<string, JsonSchema>>, description?: string): JsonSchema {
  const entries = Object.entries(members);
  const required = entries.map(([key]) => key).filter((key) => !key.endsWith('?'));
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(entries.map(([key, schema]) => [key.replace(/\?$/, ''), schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** The schema of the issues of invalid values. */
export const ISSUES = list(object({ path: text('A JSON pointer; empty for the whole value.'), message: text() }));

/** The schema of an error. */
const ERROR = object({
  code: text('The error code.'),
  message: text('What happened, and what to do.'),
  retryable: flag('True if the same request may succeed later.'),
  'retryAfterMs?': number('Milliseconds to wait before a retry.'),
  'issues?': ISSUES,
});

const CONTENT = list(anyObject('A content part as in MCP: text, image, audio, resource_link, resource.'));
const EXTRAS = {
  'recovered?': flag('True if an extension replaced a failure by this result.'),
  'meta?': anyObject('Further metadata of the result.'),
};

/** The schema of every refusal. */
export const FAILURE = object({
  ok: { const: false },
  status: { const: 'failed' },
  'callId?': text(),
  error: ERROR,
  'content?': CONTENT,
  'data?': anything('Further data of the tool about its failure.'),
  'durationMs?': number(),
  ...EXTRAS,
});

const DONE = object({
  ok: { const: true },
  status: { const: 'done' },
  callId: text(),
  content: CONTENT,
  'data?': anything('The result as data.'),
  durationMs: number(),
  ...EXTRAS,
});

/** The schema of the result of a tool that ran. */
export const CALL_DONE = { oneOf: [DONE, FAILURE] };

/** The schema of a waiting call. */
export const CALL_WAITING = object({
  ok: { const: false },
  status: { const: 'waiting' },
  callId: text('GET /api/calls/{callId} will return the result; GET /api/tasks/{callId} that of a background call.'),
  waiting: object({
    for: choice(['approval', 'input', 'task']),
    id: text(),
    expiresAt: whole('Milliseconds since 1970.'),
    'ask?': anything('The question.'),
    'note?': text('Why the caller may not answer although the policy names it.'),
  }),
  ...EXTRAS,
});

/** The schema of a stored result, as in the library. */
export const RESULT = anyObject('A result: done with content, failed with an error, or waiting.');

/** The states of a source. */
export const SOURCE_STATES = [
  'ready',
  'down',
  'failed',
  'starting',
  'stale',
] as const satisfies readonly SourceStatus['state'][];
