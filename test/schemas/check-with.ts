import { isPromise, type JsonSchema } from '../../src/core/json.ts';
import type { Schemas } from '../../src/core/ports/crib-context.ts';
import type { Issue } from '../../src/core/tool-error.ts';
import { createRun, type Parsed, RUN, type Run, type ToolSpec } from '../../src/core/tool-spec.ts';

/** A tool with these schemas that does nothing. */
export function specOf(input: JsonSchema, more: { output?: JsonSchema; run?: Partial<Run> } = {}): ToolSpec {
  return {
    name: 'tool',
    description: '',
    input,
    ...(more.output !== undefined && { output: more.output }),
    effects: {},
    policy: {},
    tags: [],
    source: 'test',
    origin: 'tool',
    [RUN]: createRun({ kind: 'function', ...more.run }),
  };
}

/** What the check of arguments says. */
export function checkInput(schemas: Schemas, schema: JsonSchema, value: unknown): Parsed {
  return settled(schemas.input(specOf(schema))(value));
}

/** What the check of an answer says. */
export function checkOutput(schemas: Schemas, schema: JsonSchema, value: unknown): Parsed {
  return settled(schemas.output(specOf({}, { output: schema }))(value));
}

/** The issues alone; none where the value is valid. */
export function issuesOf(parsed: Parsed): readonly Issue[] {
  return parsed.ok ? [] : parsed.issues;
}

function settled(parsed: ReturnType<ReturnType<Schemas['input']>>): Parsed {
  if (isPromise(parsed)) throw new Error('a JSON Schema is checked at once');
  return parsed;
}
