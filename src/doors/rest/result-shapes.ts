import { anyObject, anything, choice, flag, list, number, object, text, whole } from './schema-builders.ts';

/** The shape of what went wrong. */
const ERROR = object({
  code: text('Why, in one word.'),
  message: text('Why, in words to act on.'),
  retryable: flag('Whether the same may succeed later.'),
  'retryAfterMs?': number('When to try again.'),
  'issues?': list(object({ path: text('A JSON pointer; empty for the whole.'), message: text() })),
});

const CONTENT = list(
  anyObject('A part of the answer, in the shapes of MCP: text, image, audio, resource_link, resource.'),
);
const EXTRAS = {
  'recovered?': flag('An extension made this of a failure.'),
  'meta?': anyObject('What else is said about it.'),
};

/** The shape of every refusal. */
export const FAILURE = object({
  ok: { const: false },
  status: { const: 'failed' },
  'callId?': text(),
  error: ERROR,
  'content?': CONTENT,
  'data?': anything('What the tool says besides about its failure.'),
  'durationMs?': number(),
  ...EXTRAS,
});

const DONE = object({
  ok: { const: true },
  status: { const: 'done' },
  callId: text(),
  content: CONTENT,
  'data?': anything('The answer as data.'),
  durationMs: number(),
  ...EXTRAS,
});

/** The shape of what a tool that ran answers. */
export const CALL_DONE = { oneOf: [DONE, FAILURE] };

/** The shape of a call that waits. */
export const CALL_WAITING = object({
  ok: { const: false },
  status: { const: 'waiting' },
  callId: text('Where the result will be: GET /api/calls/{callId}.'),
  waiting: object({
    for: choice(['approval', 'input', 'task']),
    id: text(),
    expiresAt: whole('Milliseconds since 1970.'),
    'ask?': anything('What is asked.'),
    'note?': text('Why the caller, whom policy lets answer, may not.'),
  }),
  ...EXTRAS,
});

/** The shape of a result that is looked up: as the library has it. */
export const RESULT = anyObject('Done with content, failed with an error, or waiting.');
