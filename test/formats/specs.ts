import type { JsonSchema } from '../../src/core/json.ts';
import type { CallRequest } from '../../src/core/tool-call.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { type CallAnswer, done, failed, type ToolResult } from '../../src/core/tool-result.ts';
import { createRun, RUN, type ToolSpec } from '../../src/core/tool-spec.ts';

/** What must never be seen in an export. */
export const SECRET = 'SECRET-how-it-runs';
export const PNG = 'iVBORw0KGgo=';

/** A spec with everything that could leak. */
export function specOf(name: string, changes: Partial<ToolSpec> = {}): ToolSpec {
  return {
    name,
    description: `What ${name} does`,
    input: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    },
    effects: {},
    policy: {},
    tags: [],
    meta: { note: SECRET },
    instructions: SECRET,
    source: 'inline',
    origin: name,
    [RUN]: createRun({ kind: 'shell', command: [SECRET] }),
    ...changes,
  };
}

/** A tree of nodes: the root is a reference and refers to itself further down. */
export const RECURSIVE: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { label: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['label'],
    },
  },
};

/** Answers as `chest.callAll` gives them. */
export function answerAll(requests: readonly CallRequest[], run: (request: CallRequest) => ToolResult): CallAnswer[] {
  return requests.map((request) => ({ id: request.id ?? '', name: request.name, result: run(request) }));
}

export const ECHOED: ToolResult = done('{"echo":"hi"}', { echo: 'hi' });

export const PICTURE: ToolResult = done([
  { type: 'text', text: 'The page' },
  { type: 'image', data: PNG, mimeType: 'image/png' },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'https://example.com/a.txt', name: 'a.txt' },
  { type: 'resource', resource: { uri: 'file:///notes.txt', text: 'remember' } },
  { type: 'resource', resource: { uri: 'file:///b.pdf', mimeType: 'application/pdf', blob: 'JVBERi0=' } },
]);

export const REFUSED: ToolResult = failed(
  toolError('invalid_input', 'The arguments do not fit.', {
    issues: [{ path: '/text', message: 'must be a string' }],
    cause: new Error(SECRET),
  }),
);

export const WAITING: ToolResult = {
  ok: false,
  status: 'waiting',
  waiting: { for: 'approval', id: 'apr_1', expiresAt: Date.UTC(2030, 0, 1), ask: { tool: 'pay' } },
};
