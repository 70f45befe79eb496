import type { JsonSchema } from '../../core/json.ts';
import type { Stop } from '../../core/ports/stored-stops.ts';
import { defined } from '../../core/read-options.ts';
import { flagsOf } from '../../core/selector.ts';
import type { SourceStatus } from '../../core/source.ts';
import { kindOf, type ToolSpec } from '../../core/tool-spec.ts';
import { withheldNames } from '../../crib/catalog/explain.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import { TOKEN_FORMATS, tokensByFormat } from '../../formats/token-cost.ts';
import type { RouteRequest } from './route.ts';

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

/** The schema of an error. */
const ERROR = object({
  code: text('The error code.'),
  message: text('What happened, and what to do.'),
  retryable: flag('True if the same request may succeed later.'),
  'retryAfterMs?': number('Milliseconds to wait before a retry.'),
  'issues?': list(object({ path: text('A JSON pointer; empty for the whole value.'), message: text() })),
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

const LISTED = {
  name: text(),
  'title?': text(),
  description: text(),
  'kind?': text('How it runs. Only for operators.'),
  source: text('The source of the tool.'),
  status: choice(SOURCE_STATES, 'The state of the source.'),
  'category?': text(),
  tags: list(text()),
  bundles: list(text()),
  effects: anyObject('What the tool does to the world. An absent effect means unknown.'),
};

/** The schema of a tool in a list. */
export const LISTED_TOOL = object(LISTED);

/** The schema of one tool. */
export const SHOWN_TOOL = object({
  ...LISTED,
  'version?': text(),
  'instructions?': text(),
  'requires?': list(text()),
  'examples?': list(anything('An example: a request in words and matching arguments.')),
  active: flag('True if a bundle of the tool is active.'),
  inputSchema: anyObject(),
  'outputSchema?': anyObject(),
  tokens: object(Object.fromEntries(TOKEN_FORMATS.map((format) => [format, whole()])), 'Token cost of its definition.'),
  'origin?': text('Its name at its source. Only for operators.'),
  'policy?': anyObject('The limits of its calls. Only for operators.'),
  'flags?': anyObject('The booleans of its meta and effects. Only for operators.'),
  'meta?': anyObject('Further metadata of the tool. Only for operators.'),
  'fixedArguments?': list(text()),
  'hiddenArguments?': list(text()),
  'stops?': list(text(), 'The emergency stops that refuse its calls. Only for operators.'),
});

/** Creates a function that describes a tool for a list. Never includes how a tool runs; only operators see its kind. */
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

/** Describes one tool with everything that the caller may see. */
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
    ...(asked.asker.operator && { ...ofOperators(spec), ...(await stopsOf(asked, spec)) }),
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

/** Reads the emergency stops. If the store fails, the last known ones are shown. */
export async function readStops(crib: Crib): Promise<readonly Stop[]> {
  return crib.stops.list().catch(() => []);
}

/** The stops that refuse calls of the tool under the profile of the request. */
async function stopsOf({ crib, asker, query }: RouteRequest, { name }: ToolSpec) {
  const { profile } = query as { readonly profile?: string }; // as its schema demands
  await readStops(crib);
  return defined({ stops: crib.explain(asker.caller, profile, name).stops });
}
