import type { JsonSchema } from '../../core/json.ts';
import { defined } from '../../core/read-options.ts';
import { flagsOf } from '../../core/selector.ts';
import type { SourceStatus } from '../../core/source.ts';
import { kindOf, type ToolSpec } from '../../core/tool-spec.ts';
import { withheldNames } from '../../crib/catalog/explain.ts';
import type { Chest } from '../../crib/chest.ts';
import { TOKEN_FORMATS, tokensByFormat } from '../../formats/token-cost.ts';
import type { RouteRequest } from './route.ts';

/** A text. */
export function text(description?: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'string', ...(description !== undefined && { description }), ...more };
}

/** A text with an end. */
export function shortText(description: string, maxLength = 200): JsonSchema {
  return text(description, { minLength: 1, maxLength });
}

/** A moment, as ISO 8601 in UTC. */
export function time(description?: string): JsonSchema {
  return text(description, { format: 'date-time' });
}

/** One word of a few. */
export function choice(words: readonly string[], description?: string): JsonSchema {
  return text(description, { enum: words });
}

/** A whole number of at least `minimum`. */
export function whole(description?: string, minimum = 0, maximum?: number): JsonSchema {
  const limits = { minimum, ...(maximum !== undefined && { maximum }) };
  return { type: 'integer', ...limits, ...(description !== undefined && { description }) };
}

/** Any number. */
export function number(description?: string): JsonSchema {
  return { type: 'number', ...(description !== undefined && { description }) };
}

/** True or false. */
export function flag(description?: string): JsonSchema {
  return { type: 'boolean', ...(description !== undefined && { description }) };
}

/** A list. */
export function list(items: JsonSchema, description?: string): JsonSchema {
  return { type: 'array', items, ...(description !== undefined && { description }) };
}

/** Any JSON object. */
export function anyObject(description?: string): JsonSchema {
  return { type: 'object', ...(description !== undefined && { description }) };
}

/** Any JSON. */
export function anything(description: string): JsonSchema {
  return { description };
}

/** An object of these members and no others; a key that ends in `?` may be absent. */
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

/** How a source can be doing. */
export const SOURCE_STATES = [
  'ready',
  'down',
  'failed',
  'starting',
  'stale',
] as const satisfies readonly SourceStatus['state'][];

const LISTED = {
  name: text(),
  'title?': text(),
  description: text(),
  'kind?': text('How it runs; for operators.'),
  source: text('Where it comes from.'),
  status: choice(SOURCE_STATES, 'How that is doing.'),
  'category?': text(),
  tags: list(text()),
  bundles: list(text()),
  effects: anyObject('What it does to the world; what is absent is unknown.'),
};

/** The shape of a tool in a list. */
export const LISTED_TOOL = object(LISTED);

/** The shape of one tool. */
export const SHOWN_TOOL = object({
  ...LISTED,
  'version?': text(),
  'instructions?': text(),
  'requires?': list(text()),
  'examples?': list(anything('A request in words and the arguments that answer it.')),
  active: flag('Whether it is listed at first.'),
  inputSchema: anyObject(),
  'outputSchema?': anyObject(),
  tokens: object(Object.fromEntries(TOKEN_FORMATS.map((format) => [format, whole()])), 'What its definition costs.'),
  'origin?': text('Its name at its source; for operators.'),
  'policy?': anyObject('What calls are held to; for operators.'),
  'flags?': anyObject('The booleans of its meta and effects; for operators.'),
  'meta?': anyObject('What else is said about it; for operators.'),
  'fixedArguments?': list(text()),
  'hiddenArguments?': list(text()),
});

/** Makes what is listed of a tool: nothing of how it runs, to operators its kind. */
export function createToolLister({ crib, asker }: RouteRequest, chest: Chest): (spec: ToolSpec) => object {
  const states = new Map(crib.sources().map(({ name, state }) => [name, state]));
  const seen = new Set(chest.available());
  return (spec) => {
    const { name, title, description, source, category, tags, effects } = spec;
    return {
      name,
      ...(title !== undefined && { title }),
      description,
      ...(asker.operator && { kind: kindOf(spec) }),
      source,
      status: states.get(source) ?? 'ready',
      ...(category !== undefined && { category }),
      tags,
      bundles: crib.bundles
        .of(name)
        .map((bundle) => bundle.name)
        .filter((bundle) => seen.has(bundle)),
      effects,
    };
  };
}

/** Everything that somebody may know about one tool. */
export async function showTool(asked: RouteRequest, chest: Chest, spec: ToolSpec): Promise<object> {
  return {
    ...createToolLister(asked, chest)(spec),
    ...defined({ version: spec.version, instructions: spec.instructions }),
    ...(spec.requires !== undefined && { requires: spec.requires.filter((name) => chest.get(name) !== undefined) }),
    ...(spec.examples !== undefined && { examples: spec.examples }),
    active: chest.listActive().some(({ name }) => name === spec.name),
    inputSchema: spec.input,
    ...(spec.output !== undefined && { outputSchema: spec.output }),
    tokens: await tokensByFormat([spec]),
    ...(asked.asker.operator && ofOperators(spec)),
  };
}

function ofOperators(spec: ToolSpec) {
  const withheld = withheldNames(spec);
  return {
    origin: spec.origin,
    policy: spec.policy,
    flags: Object.fromEntries(flagsOf(spec)),
    ...defined({ meta: spec.meta }),
    ...(withheld !== undefined && { fixedArguments: withheld.fixed, hiddenArguments: withheld.hidden }),
  };
}
